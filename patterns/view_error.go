package patterns

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// ErrBadView: a view breaks its contract, or does not fit the store. [ViewError]
// names it.
var ErrBadView = errors.New("view breaks its contract")

// ViewError is an error for which a view is the reason, or that concerns its rows
// alone.
type ViewError struct {
	View string // its name
	err  error
}

func (e *ViewError) Error() string { return fmt.Sprintf("view %q: %v", e.View, e.err) }

func (e *ViewError) Unwrap() error { return e.err }

// badView is a ViewError that matches ErrBadView.
func badView(view, format string, args ...any) error {
	return &ViewError{view, fmt.Errorf("%w: %w", ErrBadView, fmt.Errorf(format, args...))}
}

// DuplicateError says that the row which a view asks for is another's: of another
// primary that asks for it too, or no row of the view at all. It matches
// [ErrExists]. An operation that returns it has changed nothing.
type DuplicateError struct {
	View string

	// Key of the row. Only the verb %+v prints it, and not through an error that wraps
	// this one, as those of a Store do: find this one with errors.As.
	Key keys.Key
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("view %q: %v: the row belongs to another", e.View, ErrExists)
}

// Format adds the row's key for %+v only.
func (e *DuplicateError) Format(f fmt.State, verb rune) {
	io.WriteString(f, e.Error())
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, ": %q/%q", e.Key.Partition, e.Key.Row)
	}
}

// LogValue keeps from a log what only %+v tells.
func (e *DuplicateError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *DuplicateError) Unwrap() error { return ErrExists }
