package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/query"
)

// MoveOptions are the options of [Shards.Add] and [Shards.Pin]. nil and the zero value select
// the defaults.
type MoveOptions struct {
	// Parallel is the number of partitions that are copied concurrently. Zero means 8.
	Parallel int

	// Rows is about the number of rows that move in one step. The partitions of a step cannot
	// be written while it lasts: at least 1.125 seconds, and the time to copy its rows and to
	// delete those of the step before. They cannot be read while their keys are read twice. A partition
	// moves as a whole. Zero means 1000.
	Rows int

	// Progress, if set, is called after each version of the directory, each partition that was
	// copied, and each deletion of moved rows. Found are rows copied to their new account, Done those
	// deleted from their old one; a run that continues another may begin with those that the other has
	// copied. There is no Cursor: repeat the call to continue. Calls do not overlap.
	Progress func(patterns.Progress)
}

const (
	defaultParallel = 8
	defaultRows     = 1000
	movingLease     = time.Second
	copyTries       = 10
	minClosed       = 10 * time.Second
)

// Add adds an account, or changes the weight of one that the directory has, and moves the
// partitions whose owner this changes: those for which the account now has the largest score,
// its share of the weights. No other partition moves. It creates the table in the account.
// Readers and writers may continue; the package documentation describes what they notice.
//
// If Add fails, or its process ends, repeat it: it continues where the earlier run was. Add and
// Pin first finish any move that is in progress, also that of a process which is still running:
// that run then fails with [ErrBusy]. A process that lacks an account of the directory fails with
// [ErrUnknownAccount] and does not disturb that run. If the change was made already, Add makes one request, and
// one to create the table. Add also fails with ErrBusy if reads have waited too long: see the
// package documentation.
//
// Requests have the context of [govern.Background]. Each step takes two requests to change the
// directory, about one to read it, and five queries of the keys of the rows in the step's key range, in every account.
// Each partition that moves takes four requests, and for every 99 of its rows one to insert and
// for every 100 one to delete.
func (s *Shards) Add(ctx context.Context, account Account, opts *MoveOptions) error {
	a, err := s.complete(account)
	if err != nil {
		return fmt.Errorf("add account: %w", err)
	}
	s.accounts.LoadOrStore(a.Name, a)
	if err := s.createTable(ctx, a.Name); err != nil {
		return fmt.Errorf("add account: %w", err)
	}
	if err := s.change(ctx, opts, nil, func(c *config) error { c.set(a); return nil }); err != nil {
		return fmt.Errorf("add account: %w", err)
	}
	return nil
}

// Pin moves a partition to the account with this name, and leaves it there whatever accounts
// are added: for a partition that needs an account of its own. An empty name removes the pin
// and moves the partition to the account of its hash. Pins are part of the directory, so there
// is room for a few hundred of them; more fail with [patterns.ErrTooLarge]. Otherwise like
// [Shards.Add], except that its queries read the keys of this partition only.
func (s *Shards) Pin(ctx context.Context, partition, account string, opts *MoveOptions) error {
	if err := (keys.Key{Partition: partition}).Validate(); err != nil {
		return fmt.Errorf("pin partition: %w", err)
	}
	err := s.change(ctx, opts, &partition, func(c *config) error {
		if account != "" && !slices.ContainsFunc(c.Accounts, func(m member) bool { return m.Name == account }) {
			return ErrUnknownAccount
		}
		c.pin(partition, account)
		return nil
	})
	if err != nil {
		return fmt.Errorf("pin partition: %w", err)
	}
	return nil
}

// run is one run of a move.
type run struct {
	*Shards
	opts MoveOptions
	id   string

	requests calls.Requests
	mu       sync.Mutex
	done     patterns.Progress
}

// change finishes the move in progress, if there is one, and then moves to the config that edit
// makes. If only is not nil, no other partition moves.
func (s *Shards) change(ctx context.Context, opts *MoveOptions, only *string, edit func(*config) error) error {
	m := &run{Shards: s, id: uuid.NewString(), opts: *cmp.Or(opts, &MoveOptions{})}
	if err := cmp.Or(azerr.Default(&m.opts.Parallel, defaultParallel, "Parallel"), azerr.Default(&m.opts.Rows, defaultRows, "Rows")); err != nil {
		return err
	}
	ctx = m.requests.Context(regions.Strict(govern.Background(ctx)))
	for {
		d, err := s.fresh(ctx)
		if err != nil {
			return err
		}
		to := d.Config
		if err := edit(&to); err != nil {
			return err
		}
		next := d.layout
		next.Closed = 0
		last := d.Move == nil || to.equal(&d.Move.To)
		if d.Move == nil {
			if to.equal(&d.Config) {
				return nil
			}
			next.Epoch++
			next.Move = &move{To: to, Only: only}
			next.Lease, next.Wait = min(d.Lease, movingLease), d.Lease
		}
		for _, a := range next.members() { // a run that could not finish must not take over
			if _, err := m.account(a.Name); err != nil {
				return err
			}
		}
		if err := m.do(ctx, d, next); err != nil || last {
			return err
		}
	}
}

// do publishes next in place of d, and then moves everything, step by step.
func (m *run) do(ctx context.Context, d *seen, next layout) error {
	for {
		var err error
		if d, err = m.publish(ctx, d, next); err != nil {
			return err
		}
		if d.Move == nil {
			return nil
		}
		began := time.Now()
		var frontier bound
		var copied versions
		g, gctx := errgroup.WithContext(ctx)
		g.Go(func() (err error) {
			copied, err = m.copy(gctx, d)
			return err
		})
		g.Go(func() (err error) {
			frontier, err = m.frontier(gctx, d)
			return err
		})
		if err := g.Wait(); err != nil {
			return err
		}
		if d.Move.Open.All { // and so everything is cleaned
			next = d.layout
			next.Config, next.Move, next.Lease = d.Move.To, nil, d.Idle
			continue
		}
		unchanged := true
		if d.Move.Open.compare(d.Move.Frozen) < 0 {
			next = d.layout
			next.Closed = minClosed + 4*calls.Elapsed(began)
			if d, err = m.publish(ctx, d, next); err != nil {
				return err
			}
			if unchanged, err = m.unchanged(ctx, d, copied); err != nil {
				return err
			}
		}
		next = d.layout
		next.Wait, next.Closed = d.Lease, 0
		if unchanged { // otherwise a late write has arrived since: copy again
			next.Move = &move{d.Move.To, d.Move.Only, d.Move.Open, d.Move.Frozen, frontier}
		}
	}
}

// publish replaces version d of the directory by next. Unless next is closed it waits until no
// process uses an earlier version any more.
func (m *run) publish(ctx context.Context, d *seen, next layout) (*seen, error) {
	next.Version++
	next.Run = m.id
	item := d.item
	item.Value.Directory = next
	v := &seen{layout: next, asked: time.Now()}
	var err error
	if v.item, err = m.home.Replace(ctx, item); err != nil {
		now, failed := m.fresh(ctx)
		if failed == nil && now.Run != m.id && now.Version != d.Version || errors.Is(err, patterns.ErrConflict) {
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		}
		if failed != nil || now.Run != m.id || now.Version != next.Version {
			return nil, err
		}
		v = now
	}
	m.report(0, 0)
	if next.Move == nil || next.Closed > 0 {
		return v, nil
	}
	return v, calls.Sleep(ctx, next.Wait*9/8) // clocks need not run at the same speed
}

// mine returns an error unless v is still the version of the directory, or was until after the
// requests before this call.
func (m *run) mine(ctx context.Context, v *seen) error {
	now, err := m.confirm(ctx, v, false)
	if err == nil && now.Version != v.Version {
		err = ErrBusy
	}
	return err
}

// report counts rows that were copied and rows that were deleted.
func (m *run) report(copied, deleted int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Done += deleted
	m.done.Found = max(m.done.Found+copied, m.done.Done)
	if m.done.Requests = m.requests.Count(); m.opts.Progress != nil {
		m.opts.Progress(m.done)
	}
}

// frontier returns up to where the partitions of the next step reach: about opts.Rows rows
// that move.
func (m *run) frontier(ctx context.Context, d *seen) (bound, error) {
	end, rows, last := bound{All: true}, map[string]int{}, map[string]string{}
	quota := max(m.opts.Rows/len(d.Config.Accounts), 1)
	err := m.keys(ctx, d, d.Move.Frozen, end, func(account string, row patterns.Item[patterns.Row]) bool {
		p := row.Key.Partition
		if rows[account] >= quota && p != last[account] {
			end = slices.MinFunc([]bound{end, after(last[account])}, bound.compare)
			return false
		}
		if last[account] = p; d.Config.owner(p) == account && d.Move.To.owner(p) != account {
			rows[account]++
		}
		return true
	})
	return end, err
}

// keys reads the keys and ETags of the rows between two bounds in all accounts concurrently, each
// in key order. It calls f with each row, one after the other, and stops to read an account if f
// returns false.
func (m *run) keys(ctx context.Context, d *seen, from, to bound, f func(account string, row patterns.Item[patterns.Row]) bool) error {
	if from.compare(to) >= 0 {
		return nil
	}
	var conditions []query.Filter
	if from.Key != nil {
		conditions = append(conditions, query.PartitionKey.Gt(*from.Key))
	}
	if to.Key != nil {
		conditions = append(conditions, query.PartitionKey.Le(*to.Key))
	}
	if d.Move.Only != nil {
		conditions = append(conditions, query.PartitionKey.Eq(*d.Move.Only))
	}
	var mu sync.Mutex
	next := func(account string, row patterns.Item[patterns.Row]) bool {
		mu.Lock()
		defer mu.Unlock()
		return f(account, row)
	}
	members := d.members()
	return calls.Each(ctx, len(members), len(members), func(ctx context.Context, i int) error {
		rows, err := m.rows.of(members[i].Name)
		if err != nil {
			return err
		}
		for row, err := range rows.Query(ctx, query.And(conditions...), keysOnly()) {
			if err != nil || !next(members[i].Name, row) {
				return err
			}
		}
		return nil
	})
}

func keysOnly() *patterns.QueryOptions {
	return &patterns.QueryOptions{Select: []string{}, Allow: query.TableScan}
}
