package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
)

// directoryRow is the row key of the directory. The partition key is the name of the table.
const directoryRow = "directory"

// entry is the row of the directory.
type entry struct {
	PartitionKey, RowKey string
	Directory            layout `table:",json"`
}

// layout is the content of the directory.
type layout struct {
	Version int64         // of the directory; every change adds 1
	Epoch   int64         // the number of moves that have begun
	Lease   time.Duration // how long a process may use this version
	Idle    time.Duration // the lease when nothing moves
	Wait    time.Duration // the longest lease of the earlier versions that may still be in use
	Config  config        // before the move, if there is one
	Closed  time.Duration `json:",omitempty"` // not zero: the step cannot be read; a reader that has waited so long opens it
	Run     string        `json:",omitempty"` // the run that made this version
	Move    *move         `json:",omitempty"` // nil: nothing moves
}

// move is a change of the config. It proceeds in the order of the partition keys. Those up to
// Open have moved, and those up to Clean have no rows in their old account. Those after Open, up
// to Frozen, are the step: they cannot be written. They can be read at their old account, by a
// process that reads the directory again afterwards. If the directory is closed they cannot be
// read. The others have not moved.
//
// A move back proceeds in the opposite order: the step are those up to Open, after Frozen, and those
// after Clean have no rows in the account that they have left.
type move struct {
	To                  config
	Only                *string // the partition that moves; nil: any
	Clean, Open, Frozen bound
	Back                bool `json:",omitempty"`
}

// moves reports whether the partition has another owner after the move.
func (d *layout) moves(partition string) bool {
	return d.Move.To.owner(partition) != d.Config.owner(partition)
}

// undone returns d without its step, whose partitions can be written where they could be read. It is
// the version of no run.
func (d *layout) undone() layout {
	u, m := *d, *d.Move
	m.Frozen = m.Open
	u.Move, u.Run, u.Closed = &m, "", 0
	u.Lease, u.Wait = d.Idle, max(d.Wait, d.Lease)
	return u
}

// bound is a position between partitions: after Key, before all if Key is nil, after all if
// All is set.
type bound struct {
	Key *string `json:",omitempty"`
	All bool    `json:",omitempty"`
}

func after(partition string) bound { return bound{Key: &partition} }

// passed reports whether the bound is after the partition.
func (b bound) passed(partition string) bool {
	return b.All || b.Key != nil && keys.Compare(partition, *b.Key) <= 0
}

// compare orders bounds.
func (b bound) compare(c bound) int {
	rank := func(b bound) (int, string) {
		switch {
		case b.All:
			return 2, ""
		case b.Key == nil:
			return 0, ""
		}
		return 1, *b.Key
	}
	m, p := rank(b)
	n, q := rank(c)
	return cmp.Or(cmp.Compare(m, n), keys.Compare(p, q))
}

// reader returns the account at which the partition is read.
func (d *layout) reader(partition string) string {
	if d.Move != nil && d.Move.Open.passed(partition) {
		return d.Move.To.owner(partition)
	}
	return d.Config.owner(partition)
}

// writer returns the account at which the partition is written. open is false if it cannot be
// written now.
func (d *layout) writer(partition string) (name string, open bool) {
	return d.reader(partition), d.Move == nil || d.Move.Open.passed(partition) == d.Move.Frozen.passed(partition) || !d.moves(partition)
}

// frozen reports whether the partition belongs to the step.
func (d *layout) frozen(partition string) bool {
	_, open := d.writer(partition)
	return !open
}

// members returns all accounts that may have rows.
func (d *layout) members() []member {
	all := slices.Clone(d.Config.Accounts)
	if d.Move != nil {
		for _, m := range d.Move.To.Accounts {
			if !d.Config.has(m.Name) {
				all = append(all, m)
			}
		}
	}
	return all
}

// has reports whether the account is one of the config.
func (c *config) has(account string) bool {
	return slices.ContainsFunc(c.Accounts, func(m member) bool { return m.Name == account })
}

// seen is a version of the directory.
type seen struct {
	layout
	item  patterns.Item[entry]
	asked time.Time // before the request that read or wrote it
	nth   int64     // of the requests that read the directory
	away  error     // why a copy was read; there is no item then
}

// younger reports whether less than d has passed since the version was asked for.
func (v *seen) younger(d time.Duration) bool { return calls.Elapsed(v.asked) < d }

// current returns a version of the directory whose lease has not ended. When half of it has
// passed, one call at a time reads the directory; if that fails, reads and writes continue to the
// end of the lease. At most one request.
func (s *Shards) current(ctx context.Context) (*seen, error) {
	v := s.seen.Load()
	switch {
	case v == nil || !v.younger(v.Lease):
		return s.fresh(ctx)
	case v.younger(v.Lease/2) || len(s.reading) > 0:
		return v, nil
	}
	try, cancel := context.WithTimeout(policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1}), v.Lease/8)
	defer cancel()
	if now, err := s.fresh(try); err == nil {
		return now, nil
	}
	return v, ctx.Err()
}

// confirm returns the version of the directory that decides whether the result of a call that
// began with version v counts: v if its lease has not ended, unless the call reads the step, and
// otherwise one that was asked for now. At most one request.
func (s *Shards) confirm(ctx context.Context, v *seen, step bool) (*seen, error) {
	for _, known := range []*seen{v, s.seen.Load()} {
		if !step && known != nil && known.Version == v.Version && known.younger(v.Lease) {
			return known, nil
		}
	}
	return s.fresh(ctx)
}

// fresh returns a version of the directory that was asked for after the call. At most one
// request; concurrent callers share it.
func (s *Shards) fresh(ctx context.Context) (*seen, error) {
	begun := s.begun.Load()
	select {
	case s.reading <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.reading }()
	if v := s.seen.Load(); v != nil && v.nth > begun {
		return v, nil
	}
	nth := s.begun.Add(1)
	asked := time.Now()
	ctx = regions.Strict(ctx)
	try, cancel := s.brief(ctx)
	item, err := s.home.Get(try, keys.Key{Partition: s.table, Row: directoryRow})
	cancel()
	if err != nil && !isMissing(err) {
		if v := s.readCopies(ctx, err); v != nil {
			v.nth = nth
			s.seen.Store(v)
			return v, nil
		}
		asked = time.Now()
		item, err = s.home.Get(ctx, keys.Key{Partition: s.table, Row: directoryRow})
	}
	v := &seen{layout: item.Value.Directory, item: item, asked: asked, nth: nth}
	switch {
	case isMissing(err):
		return nil, fmt.Errorf("%w: %w", ErrNoDirectory, err)
	case err != nil:
		return nil, fmt.Errorf("directory: %w", err)
	case !v.valid():
		return nil, fmt.Errorf("directory: %w", patterns.ErrBadReply)
	}
	s.seen.Store(v)
	return v, nil
}

func isMissing(err error) bool {
	return errors.Is(err, patterns.ErrNotFound) || errors.Is(err, patterns.ErrTableNotFound)
}

// createDirectory inserts the directory if there is none. If the outcome is not known, createCopies finds it.
func (s *Shards) createDirectory(ctx context.Context, d layout) error {
	_, err := s.home.Insert(ctx, &entry{s.table, directoryRow, d})
	if errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrOutcomeUnknown) {
		return nil
	}
	return err
}

// The errors of this package. Match them with errors.Is.
var (
	// ErrNoDirectory: there is no directory. Call [Shards.Create].
	ErrNoDirectory = azerr.Sentinel("shards: no directory")

	// ErrUnknownAccount: the directory names an account that this process was not given, or the
	// account to pin to is not in the directory.
	ErrUnknownAccount = azerr.Sentinel("shards: unknown account")

	// ErrMoving: the partition cannot be written or read while it moves, and before it had moved
	// the context ended, or the directory could not be read. A write was not sent.
	ErrMoving = azerr.Sentinel("shards: the partition is moving")

	// ErrBusy: another run, for example of [Shards.Add], has taken over the move, and finishes
	// it. Or a reader or writer that had waited too long has undone the step: begin again.
	ErrBusy = azerr.Sentinel("shards: another run has taken over the move")

	// ErrRemoteRows: a Store in several accounts cannot have rows outside the partition of the
	// entity.
	ErrRemoteRows = azerr.Sentinel("shards: a Store must not have an Outbox, nor lookup rows")

	errMoved = azerr.Sentinel("shards: the partition was moved during the write")
)
