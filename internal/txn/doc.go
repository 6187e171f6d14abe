// Package txn changes rows: it checks and encodes operations, sends them alone or as
// an entity group transaction, and finds out what became of a write whose response was
// lost. It knows nothing of Go types beyond their codec.
//
// The path of a write is [Table.Prepare], which makes a [Change] of an [Op]; [Send],
// [Batch.Commit] or [Bulk]; and [Resolve] if the outcome is unknown.
package txn
