package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/query"
)

// MoveOptions are the options of [Shards.Add], Pin, Move and Abort. nil and the zero value select
// the defaults.
type MoveOptions struct {
	// Parallel is the number of partitions that are copied concurrently. Zero means 8.
	Parallel int

	// Rows is about the number of rows that move in one step. The partitions of a step cannot
	// be written while what has changed since they were copied is copied again, and their keys are
	// read three times: at least 1.125 seconds. They cannot be read during two of the three. A
	// partition moves as a whole, and the run keeps the ETags of its rows in memory, about 200 bytes
	// for each. Zero means 1000.
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

	// maxStep is how long a reader or writer waits for a step. Then it undoes the step.
	maxStep = 20 * time.Second
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
// one to create the table. Add also fails with ErrBusy if reads or writes have waited too long: see
// the package documentation. It fails before anything has moved if an account cannot be reached.
//
// Requests have the context of [govern.Background]. Three for each account change its copy of the
// directory. Each step takes three to change the directory, about one to read it, and five
// queries of the keys of the rows in the step's key range, in every account.
// Each partition that moves takes four requests, and for every 99 of its rows one to insert and
// for every 100 one to delete.
func (s *Shards) Add(ctx context.Context, account Account, opts *MoveOptions) error {
	return during("add account", s.bring(ctx, account, opts, (*config).set))
}

// bring changes the config to one with an account that may be new.
func (s *Shards) bring(ctx context.Context, a Account, opts *MoveOptions, edit func(*config, Account) error) error {
	a, err := s.complete(a)
	if err == nil {
		s.accounts.LoadOrStore(a.Name, a)
		err = s.change(ctx, opts, nil, a.Name, func(c *config) error { return edit(c, a) })
	}
	return err
}

// Move moves all partitions of the account from to another one, which takes its place and its
// weight: so a table moves to another account while programs read and write. No other partition
// moves. The directory remains in the first account that was passed to [New], even if this has no
// partitions any more. Otherwise like [Shards.Add].
func (s *Shards) Move(ctx context.Context, from string, to Account, opts *MoveOptions) error {
	return during("move account", s.bring(ctx, to, opts, func(c *config, a Account) error { return c.replace(from, a) }))
}

// Abort ends the move in progress, whatever began it, and moves back the partitions that have moved. A
// run of it that is still active fails with [ErrBusy]. If Abort fails, or its process ends, repeat it.
// If nothing moves, Abort makes one request. Otherwise like [Shards.Add].
func (s *Shards) Abort(ctx context.Context, opts *MoveOptions) error {
	return during("abort the move", s.change(ctx, opts, nil, "", nil))
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
	return during("pin partition", s.change(ctx, opts, &partition, "", func(c *config) error {
		if account != "" && !c.has(account) {
			return ErrUnknownAccount
		}
		c.pin(partition, account)
		return nil
	}))
}

// during returns err as that of an operation.
func during(operation string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", operation, err)
	}
	return err
}

// run is one run of a move.
type run struct {
	*Shards
	opts MoveOptions
	id   string

	requests calls.Requests
	mu       sync.Mutex
	done     patterns.Progress
	copied   versions                     // of the partitions of the step, in their old account
	known    map[string]map[string]copied // their rows in the new account
	way      []bound                      // of a move back, the bounds between its steps, the last one first
}

// change finishes the move in progress, if there is one, and then moves to the config that edit
// makes, which may name a new account. If only is not nil, no other partition moves. If edit is nil, the
// move in progress is moved back.
func (s *Shards) change(ctx context.Context, opts *MoveOptions, only *string, account string, edit func(*config) error) error {
	m := &run{Shards: s, id: uuid.NewString(), opts: *cmp.Or(opts, &MoveOptions{})}
	if err := cmp.Or(azerr.Default(&m.opts.Parallel, defaultParallel, "Parallel"), azerr.Default(&m.opts.Rows, defaultRows, "Rows")); err != nil {
		return err
	}
	ctx = m.requests.Context(regions.Strict(govern.Background(ctx)))
	if account != "" {
		if err := s.createTable(ctx, account); err != nil {
			return err
		}
	}
	for {
		d, err := s.fresh(ctx)
		if err != nil {
			return err
		}
		if d.away != nil {
			return fmt.Errorf("directory: %w", d.away)
		}
		to := d.Config
		if edit != nil {
			if err := edit(&to); err != nil {
				return err
			}
		}
		next, last := d.layout, true
		switch {
		case d.Move == nil:
			if to.equal(&d.Config) {
				return nil
			}
			next.Epoch++
			next.Move = &move{To: to, Only: only}
		case edit == nil:
			if next = d.undone(); !next.Move.Back {
				next.Epoch++ // the owner of a partition changes once in a move
				next.Move.Back, next.Move.Clean = true, bound{All: true}
			}
		default:
			next = d.undone()
			last = !d.Move.Back && to.equal(&d.Move.To)
		}
		next.Lease, next.Wait = min(d.Idle, movingLease), max(d.Wait, d.Lease)
		for _, a := range next.members() { // a run that could not finish must not take over
			if _, err := m.account(a.Name); err != nil {
				return err
			}
		}
		marked, err := m.mark(ctx, next)
		if err == nil {
			d, err = m.do(ctx, d, next)
		}
		if err != nil {
			return err
		}
		if m.unmark(ctx, d.layout, marked); last {
			return nil
		}
	}
}

// do publishes next in place of d, and then moves everything, step by step. It returns the last version.
func (m *run) do(ctx context.Context, d *seen, next layout) (*seen, error) {
	for {
		var err error
		if d, err = m.publish(ctx, d, next); err != nil || d.Move == nil {
			return d, err
		}
		if d.Move.Open.compare(d.Move.Frozen) == 0 {
			next, err = m.prepare(ctx, d)
		} else {
			d, next, err = m.step(ctx, d)
		}
		if err != nil {
			return nil, err
		}
	}
}

// prepare deletes what the last step has left, copies the partitions of the next one while they can
// be written, and returns the version in which they cannot, or if there are none, the last one.
func (m *run) prepare(ctx context.Context, d *seen) (next layout, err error) {
	goal, err := m.goal(ctx, d)
	if err != nil {
		return next, err
	}
	partitions, err := m.clean(ctx, d, goal)
	if err != nil {
		return next, fmt.Errorf("delete moved rows: %w", err)
	}
	next = d.layout
	if goal.compare(d.Move.Open) == 0 {
		if !d.Move.Back {
			next.Config = d.Move.To
		}
		next.Move, next.Lease = nil, d.Idle
		return next, nil
	}
	m.copied, m.known = versions{}, map[string]map[string]copied{}
	next.Wait, next.Move = d.Lease, &move{d.Move.To, d.Move.Only, d.Move.Open, d.Move.Open, goal, d.Move.Back}
	return next, m.copy(ctx, d, partitions)
}

// step moves the partitions of the step: it copies what has changed since they were copied, and closes
// the directory while it makes sure that nothing has changed again.
func (m *run) step(ctx context.Context, d *seen) (_ *seen, next layout, err error) {
	began := time.Now()
	stored, err := m.stored(ctx, d)
	if err != nil {
		return nil, next, err
	}
	all := maps.Clone(stored)
	for partition := range m.copied {
		all[partition] = stored[partition]
	}
	changed := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(p string) bool { return m.copied[p] == stored[p] })
	if err := m.copy(ctx, d, changed); err != nil {
		return nil, next, err
	}
	next = d.layout
	next.Closed = minClosed + 4*calls.Elapsed(began)
	if d, err = m.publish(ctx, d, next); err != nil {
		return nil, next, err
	}
	next = d.layout
	next.Wait, next.Closed = d.Lease, 0
	for range 2 {
		stored, err := m.stored(ctx, d)
		if err != nil || !maps.Equal(m.copied, stored) {
			return d, next, err // a late write has arrived since: copy again
		}
	}
	next.Move = &move{d.Move.To, d.Move.Only, d.Move.Clean, d.Move.Frozen, d.Move.Frozen, d.Move.Back}
	return d, next, nil
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

// goal returns up to where the partitions of the next step reach.
func (m *run) goal(ctx context.Context, d *seen) (bound, error) {
	if !d.Move.Back {
		return m.frontier(ctx, d, d.Move.Open, bound{All: true})
	}
	for at := (bound{}); m.way == nil || at.compare(d.Move.Open) < 0; {
		m.way = slices.Insert(m.way, 0, at)
		var err error
		if at, err = m.frontier(ctx, d, at, d.Move.Open); err != nil {
			return at, err
		}
	}
	for _, at := range m.way {
		if at.compare(d.Move.Open) < 0 {
			return at, nil
		}
	}
	return bound{}, nil
}

// frontier returns up to where a step reaches that begins at from: about opts.Rows rows that move,
// and no further than to.
func (m *run) frontier(ctx context.Context, d *seen, from, to bound) (bound, error) {
	end, rows, last := to, map[string]int{}, map[string]string{}
	quota := max(m.opts.Rows/len(d.members()), 1)
	err := m.keys(ctx, d, from, to, func(account string, row patterns.Item[patterns.Row]) bool {
		p := row.Key.Partition
		if rows[account] >= quota && p != last[account] {
			end = slices.MinFunc([]bound{end, after(last[account])}, bound.compare)
			return false
		}
		if last[account] = p; d.reader(p) == account && d.moves(p) {
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
	switch c := from.compare(to); {
	case c == 0:
		return nil
	case c > 0:
		from, to = to, from
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
