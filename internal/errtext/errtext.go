// Package errtext keeps keys and values out of logs.
package errtext

import (
	"fmt"
	"io"
	"log/slog"
)

// Value is err for a log: what an error whose %+v tells keys and values answers to
// [slog.LogValuer]. [slog.TextHandler] prints with that verb, asked or not. The error
// stays reachable, with errors.As.
func Value(err error) slog.Value { return slog.AnyValue(short{err}) }

type short struct{ error }

func (s short) Unwrap() error              { return s.error }
func (s short) Format(f fmt.State, _ rune) { io.WriteString(f, s.Error()) }
