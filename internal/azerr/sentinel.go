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

	// ErrBadETag is a condition that cannot be sent: empty, or with characters that
	// would end the header.
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
)
