package view

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
)

// Error is an error that a view causes, or that concerns only the rows of a view.
type Error struct {
	View string // its name
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("view %q: %v", e.View, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// As lets [errors.As] find the public form of the error.
func (e *Error) As(target any) bool { return azerr.Public(e, target) }

// BadView returns an [*Error] that matches [azerr.ErrBadView].
func BadView(view, format string, args ...any) error {
	return &Error{view, fmt.Errorf("%w: %w", azerr.ErrBadView, fmt.Errorf(format, args...))}
}

// NoOutbox is the error of a view with rows outside the primary's partition if there is
// no outbox.
func NoOutbox(view string) error {
	return BadView(view, "it leaves the primary's partition: StoreOptions.Outbox is needed")
}

// DuplicateError is a row that a view asks for and that belongs to another primary, or is
// not a row of the view at all. It matches [azerr.ErrExists].
type DuplicateError struct {
	View string

	// Key of the row. Only the verb %+v prints it.
	Key keys.Key
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("view %q: %v: the row belongs to another entity", e.View, azerr.ErrExists)
}

// Format also prints the row's key for %+v.
func (e *DuplicateError) Format(f fmt.State, verb rune) {
	io.WriteString(f, e.Error())
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, ": %q/%q", e.Key.Partition, e.Key.Row)
	}
}

// LogValue keeps the key out of logs.
func (e *DuplicateError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *DuplicateError) Unwrap() error { return azerr.ErrExists }

// As lets [errors.As] find the public form of the error.
func (e *DuplicateError) As(target any) bool { return azerr.Public(e, target) }

// MismatchError means that a program with another set of views wrote a primary: with a
// view that the [Set] does not have, or has with another definition. It matches
// [azerr.ErrBadView].
type MismatchError struct {
	View    string
	Missing bool // the Set does not have the view
}

func (e *MismatchError) Error() string {
	reason := "the rows of the entity were derived by another definition: a changed definition needs a new name"
	if e.Missing {
		reason = "the entity may have rows of this view, which the store does not have: add it, or name it in StoreOptions.Retired"
	}
	return fmt.Sprintf("view %q: %s", e.View, reason)
}

func (e *MismatchError) Unwrap() error { return azerr.ErrBadView }

// As lets [errors.As] find the public form of the error.
func (e *MismatchError) As(target any) bool { return azerr.Public(e, target) }

// OwnedByOther means that a row which a primary wants belongs to another primary, or is
// held by another operation. The caller finds out whether that owner still
// implies the row, and then tries again or returns [*DuplicateError].
type OwnedByOther struct {
	View  string    // the view that wants the row
	Owner keys.Key  // the other primary
	Known bool      // the row names its Owner; otherwise it is not a row of a view of this kind
	As    string    // the view of which it is a row of Owner
	Op    string    // the operation that holds the row, "" for none
	At    time.Time // when the row was last written
}

func (*OwnedByOther) Error() string { return "the row belongs to another entity" }
