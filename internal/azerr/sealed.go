package azerr

import (
	"fmt"
	"io"
	"log/slog"
)

// Seal returns an error for err, which code outside this module made, whose text is
// [Describe] of it. The result matches what err matches, and %+v prints err in full. Seal
// returns nil if err is nil, and err itself if its text is that description.
func Seal(err error) error {
	if err == nil {
		return nil
	}
	text := Printable(Describe(err))
	if _, formats := err.(fmt.Formatter); text == err.Error() && (!formats || isKnown(err)) {
		return err
	}
	return &sealed{err, text}
}

// SealAs is Seal with another text, which it makes printable.
func SealAs(err error, text string) error { return &sealed{err, Printable(text)} }

type sealed struct {
	err  error
	text string
}

func (s *sealed) Error() string { return s.text }
func (s *sealed) Unwrap() error { return s.err }

// Format prints the original error in full for %+v only.
func (s *sealed) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "%+v", s.err)
		return
	}
	io.WriteString(f, s.text)
}

// LogValue omits from logs what only %+v prints.
func (s *sealed) LogValue() slog.Value { return LogValue(s) }

// Sentinel returns a new error with that text, for a package variable. [Describe] keeps the
// text, because the type shows that it is constant.
func Sentinel(text string) error { return &sentinel{text} }

type sentinel struct{ text string }

func (s *sentinel) Error() string { return s.text }

// Errorf is [fmt.Errorf] for a text that contains neither keys nor values: [Describe] keeps
// it. Errors of other code are sealed before they are passed to it.
func Errorf(format string, args ...any) error { return &worded{fmt.Errorf(format, args...)} }

type worded struct{ error }

func (w *worded) Unwrap() error { return w.error }
