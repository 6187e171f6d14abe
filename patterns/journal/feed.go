package journal

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// ErrSwept means that changes were deleted before a feed has read them: see [Options.FeedKeep]. The message of the partition goes to the
// poison queue. [Changes.Start] begins the feed again.
var ErrSwept = journal.ErrSwept

// Feed is a consumer of changes, such as a search index, a cache, or another service. It is declared in [Options.Feeds] of each program
// that writes, and handled by workers: see [Changes.Handle]. It is immutable and safe for concurrent use.
type Feed struct {
	name  string
	queue *azqueue.QueueClient
	opts  FeedOptions
}

// FeedOptions are the options of a [Feed]. nil and the zero value mean the defaults.
type FeedOptions struct {
	// Delay is how long after the first change of a partition its changes are delivered, together with those made meanwhile. A shorter
	// one delivers earlier, and costs more requests, because each delivery closes an epoch. Zero means one second; it is rounded up to seconds, and at most an hour.
	Delay time.Duration

	// Lease is how long a worker owns a partition if it dies: see [eventual.LeaseOptions]. Zero means 30 seconds.
	Lease time.Duration

	// SigningKeys sign the messages: see [eventual.Options.SigningKeys]. nil means no signature.
	SigningKeys [][]byte
}

// NewFeed returns a feed whose messages are put on a queue, which it shares with other feeds or with none. name is stored with the position
// of the feed in each partition, and in messages; it has 1 to 64 letters, digits, '-' and '.'. It must differ from those of all other feeds
// on the queue, also of other tables: a worker moves a message of another table to the poison queue. NewFeed makes no request.
func NewFeed(queue *azqueue.QueueClient, name string, opts *FeedOptions) (*Feed, error) {
	f := &Feed{name: name, queue: queue, opts: *cmp.Or(opts, &FeedOptions{})}
	if queue == nil {
		return nil, azerr.Errorf("new feed: queue: %w", patterns.ErrNil)
	}
	if err := cmp.Or(naming.CheckName(name), azerr.Default(&f.opts.Delay, time.Second, "Delay")); err != nil {
		return nil, fmt.Errorf("new feed: %w", err)
	}
	if f.opts.Delay > time.Hour {
		return nil, azerr.Errorf("new feed: %w: Delay: more than an hour", patterns.ErrBadOption)
	}
	if err := azerr.Default(&f.opts.Lease, 30*time.Second, "Lease"); err != nil {
		return nil, fmt.Errorf("new feed: %w", err)
	}
	if f.opts.Lease < 5*time.Second || f.opts.Lease > time.Hour {
		return nil, azerr.Errorf("new feed: %w: Lease: 5 seconds to an hour", patterns.ErrBadOption)
	}
	return f, nil
}

// message is what a worker receives: the changes of a partition up to the end of an epoch are to be delivered.
type message struct {
	Table     string `json:"t"`
	Partition string `json:"p"`
	Epoch     int64  `json:"n"`
}

func (f *Feed) kind() string { return "journal.feed:" + f.name }

func (f *Feed) wake(ctx context.Context, table, partition string, epoch int64, delay time.Duration) error {
	return eventual.Enqueue(ctx, f.queue, f.kind(), message{table, partition, epoch}, &eventual.EnqueueOptions{Delay: delay, SigningKeys: f.opts.SigningKeys})
}

// feedsOf returns the feeds for the Store.
func feedsOf(feeds []*Feed) (all []view.Feed, err error) {
	seen := map[string]bool{}
	for i, f := range feeds {
		if f == nil || f.queue == nil {
			return nil, azerr.Errorf("%w: Feeds: %d: %w", patterns.ErrBadOption, i, patterns.ErrNil)
		}
		if seen[f.name] {
			return nil, azerr.Errorf("%w: Feeds: two have the same name", patterns.ErrBadOption)
		}
		seen[f.name] = true
		all = append(all, view.Feed{Name: f.name, Wake: f.wake, Delay: f.opts.Delay})
	}
	return all, nil
}

// lease returns the lease of a partition, a row in the table of the entities.
func (f *Feed) lease(client *aztables.Client, partition string) (*eventual.Lease, error) {
	key := keys.Key{Partition: partition, Row: journal.LeaseRow(f.name)}
	return eventual.NewLease(client, key, &eventual.LeaseOptions{Duration: f.opts.Lease})
}

// Lag is how far a feed is behind in a partition.
type Lag struct {
	Changes  int           // that were not delivered
	Age      time.Duration // of the oldest of them, by the clock of the service
	Snapshot bool          // the entities that are stored are delivered first
}

// Lag returns how far a feed is behind in a partition. It does not count changes that were swept before the feed has read them: see
// [ErrSwept]. Changes that are being delivered count until the position is stored. One request, one or two if the feed has no position
// there, and one for each 1,000 changes.
func (c *Changes[T]) Lag(ctx context.Context, f *Feed, partition string) (Lag, error) {
	lag, err := c.lag(ctx, f, partition)
	if err != nil {
		err = fmt.Errorf("lag: %w", azerr.Seal(err))
	}
	return lag, err
}

func (c *Changes[T]) lag(ctx context.Context, f *Feed, partition string) (lag Lag, err error) {
	if err := c.checkFeed(f, partition); err != nil {
		return lag, err
	}
	engine := c.store.Engine().Journal
	p, err := engine.Position(ctx, partition, f.name)
	if err == nil && p.Epoch == 0 {
		p, err = engine.First(ctx, partition)
	}
	if err != nil {
		return lag, err
	}
	l, err := engine.LagOf(ctx, partition, p)
	lag.Snapshot = p.Snapshot
	if lag.Changes = l.Changes; err == nil && l.Changes > 0 {
		now, _ := c.store.Table().ServiceTime()
		lag.Age = max(0, now.Sub(l.Since))
	}
	return lag, err
}

// checkFeed fails if the feed is not one of the journal.
func (c *Changes[T]) checkFeed(f *Feed, partition string) error {
	if err := c.check(keys.Key{Partition: partition, Row: "r"}); err != nil {
		return err
	}
	for _, known := range c.journal.opts.Feeds {
		if known == f && f != nil {
			return nil
		}
	}
	return azerr.Errorf("%w: feed: it is not one of Options.Feeds of the journal", patterns.ErrBadOption)
}
