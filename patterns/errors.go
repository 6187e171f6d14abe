package patterns

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// The outcomes that a caller acts on. Match them with [errors.Is]; the SDK's
// *azcore.ResponseError stays reachable with [errors.As].
var (
	// ErrNotFound: the row does not exist.
	ErrNotFound = azerr.ErrNotFound

	// ErrTableNotFound: the table does not exist, or is being deleted.
	ErrTableNotFound = azerr.ErrTableNotFound

	// ErrExists: the row that was to be inserted is there already.
	ErrExists = azerr.ErrExists

	// ErrConflict: the row was changed since it was read. Read it again, decide
	// again, write again; [Table.Update] does just that.
	ErrConflict = azerr.ErrConflict

	// ErrThrottled: the service refused for load, and the SDK's retries ran out.
	ErrThrottled = azerr.ErrThrottled

	// ErrOutcomeUnknown: a write may or may not have been carried out. No definite
	// answer came, and the rows do not tell. Where the write may be repeated,
	// repeat it; else set [TableOptions.StampWrites], with which rows do tell.
	ErrOutcomeUnknown = azerr.ErrOutcomeUnknown

	// ErrTooLarge: a value, a row or a transaction is over a limit of the service.
	// Found before the request wherever the limit is documented. A key that is too
	// long is an ErrBadKey.
	ErrTooLarge = azerr.ErrTooLarge

	// ErrBadKey: a key holds what the service does not take. [keys.Error] says what.
	ErrBadKey = keys.ErrBadKey

	// ErrUnordered: the operation relies on the order of results, and the service
	// behind the table (Cosmos DB for Table) gives none.
	ErrUnordered = azerr.ErrUnordered

	// ErrBadReply: the reply is not what the service sends.
	ErrBadReply = azerr.ErrBadReply

	// ErrBadCursor: a cursor is damaged, or of another table or query.
	ErrBadCursor = errors.New("cursor does not belong to this query")

	// ErrProjected: an item that was read in part was to replace the whole row,
	// which would delete the properties that were not read. Merge it instead.
	ErrProjected = errors.New("item was read in part and must not replace the row")

	// ErrBadETag: the ETag of a conditional write is empty, or not one that the
	// service gives.
	ErrBadETag = azerr.ErrBadETag

	// ErrNeedsAccelerate: aztables cannot address the row of this write. Build the
	// client with the options of [Accelerate]. Refused before the request; while it
	// is not known yet whether the client is accelerated, one read finds out.
	ErrNeedsAccelerate = azerr.ErrNeedsAccelerate

	// ErrNil: a value, function, sequence, table or client is nil.
	ErrNil = errors.New("nil where a value is needed")

	// ErrMixedPartitions: a transaction names more than one partition key.
	ErrMixedPartitions = errors.New("transaction spans partitions")

	// ErrDuplicateRow: a transaction names a row twice.
	ErrDuplicateRow = errors.New("row named twice in one transaction")

	// ErrCommitted: the transaction has been applied already.
	ErrCommitted = errors.New("transaction applied already")

	// ErrKeyChanged: a value's key is not the key it was read under. A key cannot
	// be changed; insert the value under its new key and delete the old row.
	ErrKeyChanged = errors.New("key differs from the one it was read under")
)

// PropertyError names the property that cannot be stored, or read, and why.
type PropertyError = edm.PropertyError

// Error is a request that the service refused, or that got no answer: operation,
// HTTP status and the service's error code. Messages hold no keys and no
// values; the verb %+v prints the SDK's full text, which holds both.
type Error = azerr.Error

// BatchError is a transaction that was not carried out, and the operation that
// was the reason. Nothing of the transaction was applied.
type BatchError struct {
	// Index of the operation, in the order they were added; -1 where the service
	// did not name one.
	Index int

	Op  string   // what the operation was to do: "insert", "replace", …
	Key keys.Key // its row

	Code   string // error code of the service, "" when refused before sending
	Status int    // HTTP status of the operation, 0 when refused before sending

	err error
}

func (e *BatchError) Error() string {
	cause := strings.TrimPrefix(fmt.Sprint(e.err), "batch: ") // said already
	if e.Index < 0 {
		return "batch: " + cause
	}
	return fmt.Sprintf("batch: operation %d (%s): %s", e.Index, e.Op, cause)
}

// Format adds the row's key and the SDK's full text for %+v only.
func (e *BatchError) Format(f fmt.State, verb rune) {
	switch plus := verb == 'v' && f.Flag('+'); {
	case plus && e.Index < 0:
		fmt.Fprintf(f, "batch: %+v", e.err)
	case plus:
		fmt.Fprintf(f, "batch: operation %d (%s) on %q/%q: %+v", e.Index, e.Op, e.Key.Partition, e.Key.Row, e.err)
	default:
		io.WriteString(f, e.Error())
	}
}

// LogValue keeps from a log what only %+v tells.
func (e *BatchError) LogValue() slog.Value { return azerr.LogValue(e) }

func (e *BatchError) Unwrap() error { return e.err }
