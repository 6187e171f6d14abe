package wideentity

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/widerow"
	"github.com/azpatterns/azpatterns/keys"
)

// SweepOptions are the options of [Table.Sweep]. nil and the zero value select the
// defaults.
type SweepOptions struct {
	// Partitions and Entities restrict the sweep to entities in these partitions, and to
	// entities with these keys. If both are nil, the whole table is swept.
	Partitions []string
	Entities   []keys.Key

	// OlderThan is how long a staged write may take. A sweep leaves the rows of younger
	// writes, by the clock of the service and the Timestamp of the marker. If a write takes
	// longer, it fails with [patterns.ErrConflict] and the entity is unchanged. Zero or
	// less means an hour.
	OlderThan time.Duration
}

// SweepReport is what a sweep found and did.
type SweepReport struct {
	Young   int // rows that were left to a write that may be in progress
	Deleted int // rows that were deleted
}

// Sweep deletes the rows that staged writes left behind when their process crashed.
// Readers never see such rows, but they take up space. Run it from time to time. It may
// run concurrently with writers, readers and other sweeps. If it fails, the report counts
// what was done before.
//
// One request for each 1,000 rows of the table, or of each partition or entity in opts; it
// reads keys only. For each entity with rows to delete: one request for the head, one for
// each abandoned write, and one for each 100 rows. Cosmos DB for Table returns rows in no
// order, on which Sweep relies: [patterns.ErrUnordered].
func (t *Table[T]) Sweep(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	var o SweepOptions
	if opts != nil {
		o = *opts
	}
	r, err := t.engine.Sweep(ctx, widerow.SweepOptions(o))
	return SweepReport(r), failed("sweep", err)
}
