package view

import (
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// BadView returns an [*types.ViewError] that matches [azerr.ErrBadView].
func BadView(view, format string, args ...any) error {
	return &types.ViewError{View: view, Err: fmt.Errorf("%w: %w", azerr.ErrBadView, fmt.Errorf(format, args...))}
}

// NoOutbox is the error of a view with rows outside the primary's partition if there is
// no outbox.
func NoOutbox(view string) error {
	return BadView(view, "it leaves the primary's partition: StoreOptions.Outbox is needed")
}

// OwnedByOther means that a row which a primary wants belongs to another primary, or is
// held by another operation. The caller finds out whether that owner still
// implies the row, and then tries again or returns [*types.DuplicateError].
type OwnedByOther struct {
	View  string    // the view that wants the row
	Owner keys.Key  // the other primary
	Known bool      // the row names its Owner; otherwise it is not a row of a view of this kind
	As    string    // the view of which it is a row of Owner
	Op    string    // the operation that holds the row, "" for none
	At    time.Time // when the row was last written
}

func (*OwnedByOther) Error() string { return "the row belongs to another entity" }
