package azerr

import "errors"

// The sentinels of the library that more than one package returns. Package patterns
// exports those that callers match.
var (
	ErrNotFound       = errors.New("not found")
	ErrTableNotFound  = errors.New("table not found")
	ErrExists         = errors.New("already exists")
	ErrConflict       = errors.New("changed since it was read")
	ErrThrottled      = errors.New("throttled by the service")
	ErrOutcomeUnknown = errors.New("outcome unknown")
	ErrTooLarge       = errors.New("over a size limit of the service")
	ErrUnordered      = errors.New("results of this service have no order")
	ErrBadReply       = errors.New("reply of the service cannot be read")

	// ErrBadETag is a condition that must not be sent: see [CheckETag].
	ErrBadETag = errors.New("ETag is empty or malformed")

	// ErrNeedsAccelerate is a write that aztables cannot send correctly.
	ErrNeedsAccelerate = errors.New("aztables cannot send this write correctly: build the client with patterns.Accelerate")

	// ErrContainerNotFound is a blob container that does not exist or is being deleted.
	ErrContainerNotFound = errors.New("container not found")

	// ErrQueueNotFound is a queue that does not exist or is being deleted.
	ErrQueueNotFound = errors.New("queue not found")

	// ErrMessageLost is a queue message that does not exist, or whose pop receipt is no
	// longer valid because another client received it.
	ErrMessageLost = errors.New("message lease lost")

	// ErrNil is a value, function, sequence, table or client that is nil.
	ErrNil = errors.New("nil where a value is needed")

	// ErrBadCursor is a cursor that is damaged, or of another table or query.
	ErrBadCursor = errors.New("cursor does not belong to this query")

	// ErrProjected is an item that was read in part and was to replace the whole row.
	ErrProjected = errors.New("item was read in part and must not replace the row")

	// ErrMixedPartitions is a transaction with more than one partition key.
	ErrMixedPartitions = errors.New("transaction spans partitions")

	// ErrDuplicateRow is a transaction with two operations on one row.
	ErrDuplicateRow = errors.New("row named twice in one transaction")

	// ErrCommitted is a transaction that was applied already.
	ErrCommitted = errors.New("transaction applied already")

	// ErrKeyChanged is a value whose key is not the key that it was read under.
	ErrKeyChanged = errors.New("key differs from the one it was read under")

	// ErrBadView is a view that breaks its contract or does not fit its store.
	ErrBadView = errors.New("view breaks its contract")
)
