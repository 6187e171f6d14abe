package journal

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// From is where a feed begins.
type From int

// Where a feed begins.
const (
	Now      From = iota + 1 // with the next change
	Snapshot                 // with the entities that are stored, whose Event is [Present], and the changes after that
)

// Start sets the position of a feed in each partition of the table, or of Partitions of opts: for a feed of a table that has entities, or
// one that starts again, after [ErrSwept], or because its handler has changed. Call it when all programs that write declare the feed. A
// feed that is not started begins, in each partition, with the oldest change that is stored for feeds; if a sweep has deleted some since
// the feed was declared, it gets ErrSwept.
//
// Snapshot delivers each entity that [Options.Only] selects, and the changes of an entity after it. It skips changes that were not delivered
// before, also deletions: begin with an empty view, or remove from it what has a lower version than the entities that are [Present]. Now
// skips all changes made before the call.
//
// Start may run while programs write and workers deliver; what these have read last may be delivered again. It may be called again after an error, and continues
// from the Cursor of the report. The report's Found and Done are partitions. It reads the keys of all rows of the table, one request for each
// 1,000, for Now only those of the journals' roots; in each partition it makes 5 requests, and for a snapshot one more. A partition that
// only has rows of views counts too, and one that a Deadline interrupts begins again.
func (c *Changes[T]) Start(ctx context.Context, f *Feed, from From, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	err := c.checkFeed(f, "p")
	if err == nil && from != Now && from != Snapshot {
		err = azerr.Errorf("%w: from: not one of the constants", patterns.ErrBadOption)
	}
	if err != nil {
		return patterns.SweepReport{}, fmt.Errorf("start: %w", err)
	}
	engine := c.store.Engine()
	ctx, span := engine.Begin(ctx, "journal")
	defer span.End()
	r, err := engine.Journal.Start(ctx, f.name, from == Snapshot, opts)
	span.Fail(err)
	return r, err
}
