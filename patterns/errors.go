package patterns

import (
	"fmt"
	"log/slog"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
)

// The outcomes that a caller acts on. Match them with [errors.Is]; the SDK's
// *azcore.ResponseError stays reachable with [errors.As].
var (
	// ErrNotFound: the row does not exist.
	ErrNotFound = azerr.ErrNotFound

	// ErrTableNotFound: the table does not exist, or is being deleted.
	ErrTableNotFound = azerr.ErrTableNotFound

	// ErrExists: the row that was to be inserted exists already.
	ErrExists = azerr.ErrExists

	// ErrConflict: the row was changed since it was read. Read it again, decide again,
	// write again; [Table.Update] does that.
	ErrConflict = azerr.ErrConflict

	// ErrThrottled: the service refused the request because of load, and the SDK's
	// retries were exhausted.
	ErrThrottled = azerr.ErrThrottled

	// ErrOutcomeUnknown: a write may or may not have been applied. No definite response
	// arrived, and the rows do not show it, or an attempt may still arrive. If the write may
	// be applied twice, repeat it; otherwise read the row and decide again. With
	// [TableOptions.StampWrites] rows show the outcome of most writes. The package
	// documentation has a table of all writes.
	ErrOutcomeUnknown = azerr.ErrOutcomeUnknown

	// ErrTooLarge: a value, a row or a transaction exceeds a limit of the service. It is
	// found before the request if the limit is documented. A key that is too long is an
	// ErrBadKey.
	ErrTooLarge = azerr.ErrTooLarge

	// ErrBadKey: a key contains what the service does not accept. [keys.Error] has the
	// details.
	ErrBadKey = keys.ErrBadKey

	// ErrUnordered: the operation relies on the order of results, and the service behind
	// the table (Cosmos DB for Table) returns them in no order.
	ErrUnordered = azerr.ErrUnordered

	// ErrBadReply: the response is not one that the service sends, for example the error
	// page of a gateway, a malformed ETag, or continuation tokens that go in a circle.
	ErrBadReply = azerr.ErrBadReply

	// ErrBadOption: an option is out of range, for example a negative Limit, or is missing,
	// or would have no effect. No request was made. An option that exceeds a limit of the
	// service is an ErrTooLarge.
	ErrBadOption = azerr.ErrBadOption

	// ErrBadCursor: a cursor is damaged, or belongs to another table or query.
	ErrBadCursor = azerr.ErrBadCursor

	// ErrProjected: a part of an entity, an item that was read in part or an operation with
	// [Op.Only], was to replace the whole row, which would delete its other properties. Merge
	// it instead.
	ErrProjected = azerr.ErrProjected

	// ErrBadETag: the ETag of a conditional write is neither "*" nor of the form "…" or
	// W/"…", with the quotes, as the service returns it. No request was made.
	ErrBadETag = azerr.ErrBadETag

	// ErrNeedsAccelerate: aztables cannot address the row of this write. Build the client
	// with the options of [Accelerate]. The write is refused before the request; while it
	// is not known yet whether the client is accelerated, one read finds out.
	ErrNeedsAccelerate = azerr.ErrNeedsAccelerate

	// ErrNil: a value, function, sequence, table or client is nil.
	ErrNil = azerr.ErrNil

	// ErrMixedPartitions: a transaction has more than one partition key, or an operation another
	// one than that of [Table.Within] or [Store.Within].
	ErrMixedPartitions = azerr.ErrMixedPartitions

	// ErrDuplicateRow: a transaction has two operations on one row.
	ErrDuplicateRow = azerr.ErrDuplicateRow

	// ErrCommitted: the transaction was applied already.
	ErrCommitted = azerr.ErrCommitted

	// ErrKeyChanged: a value's key is not the key that it was read under. A key cannot be
	// changed; insert the value under its new key and delete the old row.
	ErrKeyChanged = azerr.ErrKeyChanged

	// ErrBadView: a view breaks its contract, or does not fit the store. [ViewError] names
	// it.
	ErrBadView = azerr.ErrBadView
)

// Error is a request to a table, queue or blob that the service refused, or that got no
// response. It matches Kind with [errors.Is], and the SDK's *azcore.ResponseError with
// [errors.As]. The message contains neither keys nor values; the verb %+v prints the
// SDK's full text, which contains both.
type Error struct {
	Op     string // "insert", "query", "put message", …
	Status int    // HTTP status, 0 if no response came
	Code   string // error code of the service, "" if no response came

	// Unsure means that the request may have been applied all the same: no definite
	// response came, or an earlier attempt of the same call got none.
	Unsure bool

	// Unanswered means that an attempt of an Unsure request may have got no response at
	// all. It may still be applied, later than anything that is read now.
	Unanswered bool

	Kind error // the sentinel that status and code mean, or nil
	Err  error // what the SDK returned, or nil
}

func (e *Error) Error() string { return (*azerr.Error)(e).Error() }

// Format prints the SDK's full text, keys included, for %+v only.
func (e *Error) Format(f fmt.State, verb rune) { (*azerr.Error)(e).Format(f, verb) }

// LogValue omits from logs what only %+v prints.
func (e *Error) LogValue() slog.Value { return (*azerr.Error)(e).LogValue() }

// Unwrap returns the sentinel and the SDK's error.
func (e *Error) Unwrap() []error { return (*azerr.Error)(e).Unwrap() }

// PropertyError is a property that cannot be stored, or cannot be read into its field. It
// names the property and the types or limits, never the value.
type PropertyError struct {
	Property string // name of the property
	Want     string // what the field or the service requires
	Got      string // what was found
	Err      error  // ErrTooLarge at a size limit, or the error of a text or JSON method; not part of the message
}

func (e *PropertyError) Error() string { return (*edm.PropertyError)(e).Error() }
func (e *PropertyError) Unwrap() error { return e.Err }

// BatchError is a transaction that was not carried out, and the operation that was the
// reason. Nothing of the transaction was applied, unless Err matches
// [ErrOutcomeUnknown].
type BatchError struct {
	// Index of the operation, in the order in which they were added; -1 if the service did
	// not name one.
	Index int

	Op  string   // the kind of the operation: "insert", "replace", …
	Key keys.Key // its row

	Code   string // error code of the service, "" if refused before sending
	Status int    // HTTP status of the operation, 0 if refused before sending

	Err error // the reason
}

func (e *BatchError) Error() string { return (*txn.BatchError)(e).Error() }

// Format adds the row's key and the SDK's full text for %+v only.
func (e *BatchError) Format(f fmt.State, verb rune) { (*txn.BatchError)(e).Format(f, verb) }

// LogValue omits from logs what only %+v prints.
func (e *BatchError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *BatchError) Unwrap() error { return e.Err }

// ViewError is an error that a view caused, or that concerns only the rows of one view.
type ViewError struct {
	View string // its name
	Err  error
}

func (e *ViewError) Error() string { return (*view.Error)(e).Error() }
func (e *ViewError) Unwrap() error { return e.Err }

// DuplicateError means that the row which a view implies belongs to another owner: to
// another primary that implies it too, or to no view at all. It matches [ErrExists]. An
// operation that returns it has changed nothing.
type DuplicateError struct {
	View string

	// Key of the row. Only the verb %+v prints it, and not through an error that wraps this
	// one, as those of a Store do: find this one with errors.As.
	Key keys.Key
}

func (e *DuplicateError) Error() string { return (*view.DuplicateError)(e).Error() }

// Format adds the row's key for %+v only.
func (e *DuplicateError) Format(f fmt.State, verb rune) { (*view.DuplicateError)(e).Format(f, verb) }

// LogValue omits from logs what only %+v prints.
func (e *DuplicateError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *DuplicateError) Unwrap() error { return ErrExists }

// ViewMismatchError means that the entity was written by a program with another set of
// views: it may have rows of a view that the Store does not have, or has with another
// definition. See [StoreOptions.Views]. It matches [ErrBadView]. An operation that returns
// it has changed nothing.
type ViewMismatchError struct {
	View    string // its name
	Missing bool   // the Store does not have the view; otherwise its definition differs
}

func (e *ViewMismatchError) Error() string { return (*view.MismatchError)(e).Error() }
func (e *ViewMismatchError) Unwrap() error { return ErrBadView }

// The packages below this one have error types of their own, with the same fields.
// errors.As finds them under the public types by this conversion.
func init() {
	azerr.Convert = func(err error, target any) bool {
		switch target := target.(type) {
		case **Error:
			e, ok := err.(*azerr.Error)
			return convert(target, (*Error)(e), ok)
		case **PropertyError:
			e, ok := err.(*edm.PropertyError)
			return convert(target, (*PropertyError)(e), ok)
		case **BatchError:
			e, ok := err.(*txn.BatchError)
			return convert(target, (*BatchError)(e), ok)
		case **ViewError:
			e, ok := err.(*view.Error)
			return convert(target, (*ViewError)(e), ok)
		case **DuplicateError:
			e, ok := err.(*view.DuplicateError)
			return convert(target, (*DuplicateError)(e), ok)
		case **ViewMismatchError:
			e, ok := err.(*view.MismatchError)
			return convert(target, (*ViewMismatchError)(e), ok)
		}
		return false
	}
}

func convert[E any](target **E, e *E, ok bool) bool {
	if ok {
		*target = e
	}
	return ok
}
