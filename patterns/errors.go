package patterns

import (
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
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

	// ErrNoKey: the program does not have the key of an encrypted property. Load the keys again: another
	// program may have begun to use a new one.
	ErrNoKey = azerr.ErrNoKey

	// ErrSealed: the value of an encrypted property was encrypted for another row, property or table, was
	// changed, or is not encrypted.
	ErrSealed = azerr.ErrSealed

	// ErrProjected: a part of an entity, an item that was read in part or an operation with
	// [Op.Only], was to replace the whole row, which would delete its other properties. Merge
	// it instead.
	ErrProjected = azerr.ErrProjected

	// ErrBadETag: the ETag of a conditional write is neither "*" nor of the form "…" or
	// W/"…", with the quotes, as the service returns it. No request was made.
	ErrBadETag = azerr.ErrBadETag

	// ErrNeedsAccelerate: aztables cannot address the row of this write. Build the client
	// with options that [Accelerate] has changed. The write is refused before the request; while it
	// is not known yet whether the client is accelerated, one read finds out.
	ErrNeedsAccelerate = azerr.ErrNeedsAccelerate

	// ErrNil: a value, function, sequence, table or client is nil.
	ErrNil = azerr.ErrNil

	// ErrMixedPartitions: a transaction has more than one partition key, or rows of another table, or an operation another
	// partition key than that of [Table.Within] or [Store.Within].
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

// The errors with details, for [errors.As] or a type switch. Package types documents their fields.
type (
	// Error is a request that the service refused, or that got no response.
	Error = types.Error

	// PropertyError is a property that cannot be stored, or cannot be read into its field.
	PropertyError = types.PropertyError

	// BatchError is a transaction that was not carried out, and the operation that was the reason.
	BatchError = types.BatchError

	// ViewError is an error that a view caused, or that concerns only the rows of one view.
	ViewError = types.ViewError

	// DuplicateError means that the row which a view implies belongs to another owner.
	DuplicateError = types.DuplicateError

	// ViewMismatchError means that the entity was written by a program with another set of views.
	ViewMismatchError = types.ViewMismatchError
)
