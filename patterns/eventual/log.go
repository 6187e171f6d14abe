package eventual

import (
	"fmt"
	"io"
	"log/slog"
)

// errorAttr is err for a log. [slog.TextHandler] prints values with the verb %+v, with
// which errors of this library tell keys and values.
func errorAttr(err error) slog.Attr { return slog.Any("error", logged{err}) }

type logged struct{ error }

func (l logged) Unwrap() error              { return l.error }
func (l logged) Format(f fmt.State, _ rune) { io.WriteString(f, l.Error()) }
