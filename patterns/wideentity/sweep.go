package wideentity

import (
	"context"

	"github.com/azpatterns/azpatterns/patterns"
)

// Sweep deletes the rows that staged writes left behind when their process crashed.
// Readers never see such rows, but they take up space. Run it from time to time. It may
// run concurrently with writers, readers and other sweeps. If it fails, the report counts
// what was done before.
//
// OlderThan is how long a staged write may take, by the Timestamp of its marker. If a write
// takes longer, it fails with [patterns.ErrConflict] and the entity is unchanged. Zero means an
// hour. The report's Found are rows that are not part of an entity, Done those that were
// deleted, and Skipped those that were left to a write that may be in progress.
//
// One request for each 1,000 rows of the table, or of each of the Partitions; it
// reads keys only. For each entity with rows to delete: one request for the head, one for
// each abandoned write, and one for each 100 rows. A sweep that continues makes one more. A step
// is what is done for an entity, or to read a page. Cosmos DB for Table returns rows in no
// order, on which Sweep relies: [patterns.ErrUnordered].
func (t *Table[T]) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	r, err := t.engine.Sweep(ctx, opts)
	return r, failed("sweep", err)
}

// Reencrypt is [patterns.Table.Reencrypt] of entities: the report's Found are entities with an encrypted property of another key than
// the current one, which are written again as by [Table.Replace], under the ETag that was read. Rows that [Table.Sweep] would delete
// count too, so call that before. For each entity that it changes it makes the requests of a Get and a Replace.
func (t *Table[T]) Reencrypt(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	return t.engine.Reencrypt(ctx, opts)
}
