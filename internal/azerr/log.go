package azerr

import (
	"fmt"
	"io"
	"log/slog"
)

// LogValue returns the value with which an error whose %+v text contains keys and
// values implements [slog.LogValuer]: handlers then print its short text only.
// ([slog.TextHandler] formats errors with %+v.) The error stays reachable with errors.As.
func LogValue(err error) slog.Value { return slog.AnyValue(short{err}) }

type short struct{ error }

func (s short) Unwrap() error              { return s.error }
func (s short) Format(f fmt.State, _ rune) { io.WriteString(f, s.Error()) }
