package tablectl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"syscall"

	"github.com/azpatterns/azpatterns/patterns"
)

// inTable names the table of an error, which may be nil.
func inTable(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table %s: %w", name, err)
}

// advised is an error with what to do next.
type advised struct {
	error
	advice string
}

func (e *advised) Error() string { return e.error.Error() + "\n" + e.advice }

func (e *advised) Unwrap() error { return e.error }

// describe returns the text of the error that ends the program.
func (c *cli) describe(err error) string {
	var e *patterns.Error
	switch {
	case errors.Is(err, context.Canceled):
		if next := (*advised)(nil); errors.As(err, &next) {
			return "interrupted\n" + next.advice
		}
		return "interrupted"
	case errors.Is(err, syscall.EPIPE):
		return "the program that reads the output has ended"
	case errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden):
		text := err.Error()
		for _, a := range slices.Compact([]*Account{c.from, c.to}) {
			if a.credential != "" {
				text += fmt.Sprintf("\nthe credential of %s is from %s", a.account.Name, a.credential)
			}
		}
		return text
	}
	return err.Error()
}
