package journal

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Sweep deletes the changes that are older than OlderThan, by default [Options.Keep], by the clock of the service. It keeps the newest of
// these of each entity, so that [Changes.AsOf] finds the state at any later time; that of a deletion goes in the next sweep, when nothing
// older is left. Any number of sweeps may run concurrently with each other and with programs that write.
//
// With feeds it also deletes the changes that were recorded for them, see [Options.FeedKeep], and puts the messages of partitions that a feed has not
// read completely. Without an OlderThan and [Options.Keep] it does only that.
//
// The report's Found are the changes that are so old, Done those that were deleted, Skipped those that were kept; with feeds Found and Done also
// count the epochs that were deleted, and the partitions whose messages were put. A step is a page of up to 1,000 rows, or 100 with a Deadline.
//
// One request for each 1,000 changes that are found, and, for each partition on a page with changes to delete, one to three, and one
// for up to 100 deletes. The service reads all rows of the table, or of Partitions, for it.
func (c *Changes[T]) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	if err := c.check(keys.Key{Partition: "p", Row: "r"}); err != nil {
		return patterns.SweepReport{}, fmt.Errorf("sweep: %w", err)
	}
	engine := c.store.Engine()
	ctx, span := engine.Begin(ctx, "journal")
	defer span.End()
	r, err := engine.Journal.Sweep(ctx, c.journal.name, c.journal.opts.Keep, c.journal.opts.FeedKeep, opts)
	span.Fail(err)
	return r, err
}
