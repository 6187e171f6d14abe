package search_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/internal/search"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
)

// fed is the view of a journal with a feed, whose messages are on the queue of the run.
type fed struct{ patterns.View[thing] }

const (
	feedName  = "feed"
	wakes     = "feed:"     // before the epoch, in the id of a message
	delivered = "delivered" // the partition of what the feed has delivered
	missed    = "missed"    // the partition of what the feed has reported as swept
)

func init() { views["fed"] = fed{recorded} }

type actorKey struct{}

// within returns the context of what a does.
func (a *actor) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// Engine is for the Store.
func (f fed) Engine() (*view.View, error) {
	v, err := f.View.Engine()
	v.Journal.Feeds = []view.Feed{{Name: feedName, Delay: time.Hour, Wake: func(ctx context.Context, _, partition string, epoch int64, _ time.Duration) error {
		_, err := ctx.Value(actorKey{}).(*actor).Outbox().Put(ctx, patterns.OutboxMessage{Partition: partition, ID: fmt.Sprint(wakes, epoch)}, 0)
		return err
	}}}
	return v, err
}

// handle handles a message of the outbox, or of the feed.
func (a *actor) handle(ctx context.Context, m patterns.OutboxMessage) (time.Duration, error) {
	text, ok := strings.CutPrefix(m.ID, wakes)
	if !ok {
		return a.store.Handle(ctx, m)
	}
	epoch, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, err
	}
	return 0, a.deliver(ctx, epoch)
}

// deliver does what a worker does that has the lease, or wrongly assumes it.
func (a *actor) deliver(ctx context.Context, epoch int64) error {
	j := a.store.Engine().Journal
	p, err := j.Position(ctx, home, feedName)
	if err != nil || p.Epoch > epoch {
		return err
	}
	if epoch, err = j.Close(ctx, home, epoch); err != nil {
		return err
	}
	if p.Epoch == 0 {
		if p, err = j.First(ctx, home); err != nil {
			return err
		}
		if p.Epoch > 1 {
			if err = j.Save(ctx, home, feedName, &p); err != nil {
				return err
			}
		}
	}
	table, err := patterns.NewTable[record](a.store.Table().Client(), nil)
	for err == nil && p.Epoch <= epoch {
		changes, next, failed := j.Read(ctx, home, p)
		if errors.Is(failed, journal.ErrSwept) { // reported: go on with what is left
			if next, failed = j.First(ctx, home); failed == nil {
				p.Epoch, p.After = next.Epoch, ""
				_, failed = table.Upsert(ctx, &record{missed, strconv.FormatInt(p.Epoch, 10)}, patterns.Replace)
			}
			next = p
		}
		if failed != nil {
			return failed
		}
		for _, c := range changes {
			if _, err := table.Upsert(ctx, &record{delivered, c.Entity.Row + " " + c.Version.String()}, patterns.Replace); err != nil {
				return err
			}
		}
		p, err = next, j.Save(ctx, home, feedName, &next)
	}
	return err
}

// sweepFeed deletes the changes of epochs that were closed long ago, whether the feed has read them or not.
func sweepFeed(ctx context.Context, a *actor) error {
	a.Begin()
	report, err := a.store.Engine().Journal.Sweep(ctx, "history", 0, expiry, nil)
	a.End(fmt.Sprint(report.Done, report.Failed, err))
	return err
}

// closeEpoch closes the first epoch.
func closeEpoch(ctx context.Context, a *actor) error {
	_, err := a.store.Engine().Journal.Close(ctx, home, 1)
	return err
}

// record is a change that was delivered, or the epoch before which some were missed.
type record struct{ PartitionKey, RowKey string }

var errFeed = errors.New("a change was not delivered, or before an earlier one")

// checkOrder checks that no change was delivered before an earlier one of its entity, and, at the end, that all were. It does not count
// those that the feed has reported as swept.
func (c *contents) checkOrder(all bool) error {
	for change := range c.changes {
		entity, version, _ := strings.Cut(change, " ")
		if version, ok := journal.ParseVersion(version); c.delivered[change] || ok && version.Epoch < c.missed {
			continue
		}
		if all {
			return fmt.Errorf("%w: %s", errFeed, change)
		}
		for other := range c.delivered {
			if later, _ := strings.CutPrefix(other, entity+" "); later != other && later > version {
				return fmt.Errorf("%w: %s without %s", errFeed, other, change)
			}
		}
	}
	for change := range c.delivered {
		if !c.changes[change] {
			return fmt.Errorf("%w: %s was delivered, and not made", errFeed, change)
		}
	}
	return nil
}

// note adds what a row shows of a feed, and reports whether it shows nothing else.
func (c *contents) note(r search.Row) bool {
	partition, row := r.Text("PartitionKey"), r.Text("RowKey")
	if strings.HasPrefix(row, "~azp_hist_") {
		c.changes[r.Text("azp_rk")+" "+r.Text("azp_journal")] = true
	}
	switch partition {
	case delivered:
		c.delivered[row] = true
	case missed:
		epoch, _ := strconv.ParseInt(row, 10, 64)
		c.missed = max(c.missed, epoch)
	default:
		return false
	}
	return true
}

// onAny handles a message.
func onAny(ctx context.Context, a *actor) error { return a.Receive(ctx, a.handle) }
