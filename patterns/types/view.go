package types

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// ViewError is an error that a view caused, or that concerns only the rows of one view.
type ViewError struct {
	View string // its name
	Err  error
}

func (e *ViewError) Error() string { return fmt.Sprintf("view %q: %v", e.View, e.Err) }
func (e *ViewError) Unwrap() error { return e.Err }

// DuplicateError means that the row which a view implies belongs to another owner: to
// another primary that implies it too, or to no view at all. It matches patterns.ErrExists. An
// operation that returns it has changed nothing.
type DuplicateError struct {
	View string

	// Key of the row. Only the verb %+v prints it, and not through an error that wraps this
	// one, as those of a Store do: find this one with errors.As.
	Key keys.Key
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("view %q: %v: the row belongs to another entity", e.View, azerr.ErrExists)
}

// Format adds the row's key for %+v only.
func (e *DuplicateError) Format(f fmt.State, verb rune) {
	io.WriteString(f, e.Error())
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, ": %q/%q", e.Key.Partition, e.Key.Row)
	}
}

// LogValue omits from logs what only %+v prints.
func (e *DuplicateError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *DuplicateError) Unwrap() error { return azerr.ErrExists }

// ViewMismatchError means that the entity was written by a program with another set of
// views: it may have rows of a view that the Store does not have, or has with another
// definition. See Views of patterns.StoreOptions. It matches patterns.ErrBadView. An operation that
// returns it has changed nothing.
type ViewMismatchError struct {
	View    string // its name
	Missing bool   // the Store does not have the view; otherwise its definition differs
}

func (e *ViewMismatchError) Error() string {
	reason := "the rows of the entity were derived by another definition: a changed definition needs a new name"
	if e.Missing {
		reason = "the entity may have rows of this view, which the store does not have: add it, or name it in StoreOptions.Retired"
	}
	return fmt.Sprintf("view %q: %s", e.View, reason)
}

func (e *ViewMismatchError) Unwrap() error { return azerr.ErrBadView }
