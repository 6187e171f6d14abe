package azerr

// The sentinels of the library that more than one package returns. Package patterns
// exports those that callers match.
var (
	ErrNotFound       = Sentinel("not found")
	ErrTableNotFound  = Sentinel("table not found")
	ErrExists         = Sentinel("already exists")
	ErrConflict       = Sentinel("changed since it was read")
	ErrThrottled      = Sentinel("throttled by the service")
	ErrOutcomeUnknown = Sentinel("outcome unknown")
	ErrTooLarge       = Sentinel("over a size limit of the service")
	ErrUnordered      = Sentinel("results of this service have no order")
	ErrBadReply       = Sentinel("reply of the service cannot be read")

	// ErrBadETag is a condition that must not be sent: see [CheckETag].
	ErrBadETag = Sentinel("ETag is empty or malformed")

	// ErrNeedsAccelerate is a write that aztables cannot send correctly.
	ErrNeedsAccelerate = Sentinel("aztables cannot send this write correctly: build the client with patterns.Accelerate")

	// ErrContainerNotFound is a blob container that does not exist or is being deleted.
	ErrContainerNotFound = Sentinel("container not found")

	// ErrQueueNotFound is a queue that does not exist or is being deleted.
	ErrQueueNotFound = Sentinel("queue not found")

	// ErrMessageLost is a queue message that does not exist, or whose pop receipt is no
	// longer valid because another client received it.
	ErrMessageLost = Sentinel("message lease lost")

	// ErrBadMessage is a queue message that no program of this library can have written.
	ErrBadMessage = Sentinel("bad message")

	// ErrNil is a value, function, sequence, table or client that is nil.
	ErrNil = Sentinel("nil where a value is needed")

	// ErrBadKey is a key that the service does not accept. Package keys exports it.
	ErrBadKey = Sentinel("bad key")

	// ErrBadOption is an option that is out of range, missing, or without effect.
	ErrBadOption = Sentinel("bad option")

	// ErrBadCursor is a cursor that is damaged, or of another table or query.
	ErrBadCursor = Sentinel("cursor does not belong to this query")

	// ErrNoKey is an encrypted property whose key the program does not have.
	ErrNoKey = Sentinel("the key of an encrypted property is missing")

	// ErrSealed is a stored value that is not the encrypted value of its property.
	ErrSealed = Sentinel("not the encrypted value of this property in this row")

	// ErrProjected is a part of an entity that was to replace the whole row.
	ErrProjected = Sentinel("a part of an entity must not replace the row")

	// ErrMixedPartitions is a transaction with more than one partition key, or a write outside
	// the partition that it is restricted to.
	ErrMixedPartitions = Sentinel("more than one partition")

	// ErrDuplicateRow is a transaction with two operations on one row.
	ErrDuplicateRow = Sentinel("row named twice in one transaction")

	// ErrCommitted is a transaction that was applied already.
	ErrCommitted = Sentinel("transaction applied already")

	// ErrKeyChanged is a value whose key is not the key that it was read under.
	ErrKeyChanged = Sentinel("key differs from the one it was read under")

	// ErrBadView is a view that breaks its contract or does not fit its store.
	ErrBadView = Sentinel("view breaks its contract")
)
