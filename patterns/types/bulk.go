package types

import "github.com/azpatterns/azpatterns/keys"

// BulkReport is the result of Bulk of a patterns.Table, whose operations O are of type patterns.Op, or
// of a patterns.Store, whose operations are of type patterns.StoreOp. Its size grows with the number of
// failures, not with the number of operations.
type BulkReport[O any] struct {
	Progress
	Failures []BulkFailure[O] // in no order
}

// BulkFailure is an operation that was not applied. Err matches patterns.ErrOutcomeUnknown if it
// may have been applied.
type BulkFailure[O any] struct {
	Index int      // of the operation in the input, from 0
	Key   keys.Key // zero if the operation has no valid key
	Op    O        // as it was in the input: it refers to the same value
	Err   error
}
