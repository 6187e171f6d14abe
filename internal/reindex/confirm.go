package reindex

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
)

// group is the differences of one primary.
type group struct {
	primary keys.Key
	rows    []suspect
}

// suspect is a row in which a primary has other parts than it implies, according to a scan.
type suspect struct {
	ref    view.RowRef
	stored bool // the scan found a part of the primary in it
	claim  view.Claim
	found  view.Found
	other  *view.OwnedByOther // the row belongs to another
}

// groups groups differences by primary and row.
func groups(all []Difference) ([]group, error) {
	type part struct {
		view.Part
		stored bool
	}
	parts := make([]part, len(all))
	for i, d := range all {
		p, err := view.ParsePart(d.Element)
		if err != nil {
			return nil, err
		}
		parts[i] = part{p, d.Sign < 0}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(a.Primary.Compare(b.Primary), cmp.Compare(a.View, b.View), a.Key.Compare(b.Key))
	})
	var gs []group
	for _, p := range parts {
		if n := len(gs); n == 0 || gs[n-1].primary != p.Primary {
			gs = append(gs, group{primary: p.Primary})
		}
		g := &gs[len(gs)-1]
		ref := view.RowRef{View: p.View, Partition: p.Key.Partition, Row: p.Key.Row}
		if n := len(g.rows); n == 0 || g.rows[n-1].ref != ref {
			g.rows = append(g.rows, suspect{ref: ref})
		}
		last := &g.rows[len(g.rows)-1]
		last.stored = last.stored || p.stored
	}
	return gs, nil
}

// result is what became of a group.
type result struct {
	findings  []Finding
	undecided int
	requests  Requests
	failure   error // why the primary could not be checked
}

// confirmAll confirms the differences and, if asked to, repairs them.
func (r *run) confirmAll(ctx context.Context, all []Difference) error {
	gs, err := groups(all)
	if err != nil || r.state.Confirmed > len(gs) {
		return cmp.Or(err, errState)
	}
	gs = gs[r.state.Confirmed:]
	window := parallel.Window{Start: r.Parallel, Max: r.Parallel}
	at := 0
	for res, err := range parallel.Ordered(ctx, len(gs), window, func(ctx context.Context, i int) (result, error) {
		return r.process(ctx, &gs[i])
	}) {
		if err != nil {
			return err
		}
		st := &r.state.Report
		st.Undecided += res.undecided
		st.Requests.Confirm += res.requests.Confirm
		st.Requests.Repair += res.requests.Repair
		if res.failure != nil {
			st.fail(gs[at].primary, res.failure)
		}
		at++
		for i := range res.findings {
			st.Count(&res.findings[i])
			if !r.yield(res.findings[i]) {
				return errStopped
			}
		}
		r.state.Confirmed++
		r.sent += res.requests.Confirm
		if r.Repair {
			r.sent += res.requests.Repair
		}
		if err := cmp.Or(r.checkpoint(), r.pace(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// process confirms one group and repairs it.
func (r *run) process(ctx context.Context, g *group) (res result, err error) {
	defer r.lock(g)()
	c := &confirmation{run: r, group: g}
	primary, err := c.confirm(ctx)
	if err == nil {
		err = c.classify(ctx)
	}
	if err == nil && r.found != nil && len(c.findings) > 0 {
		if err := r.found(ctx, c.findings); err != nil {
			return res, err
		}
	}
	res = result{findings: c.findings, undecided: c.undecided}
	res.requests.Confirm = c.requests
	if err != nil {
		if interrupts(ctx, err) {
			return res, err
		}
		res.failure = err
		return res, nil
	}
	res.requests.Repair, err = r.repair(ctx, c, primary, res.findings)
	return res, err
}

// lock prevents that two groups with a row in common make each other start over.
func (r *run) lock(g *group) (unlock func()) {
	var mine []int
	for _, s := range g.rows {
		h := fnv.New32a()
		_, _ = io.WriteString(h, s.ref.Partition+"\x00"+s.ref.Row)
		mine = append(mine, int(h.Sum32()%uint32(len(r.locks))))
	}
	slices.Sort(mine)
	mine = slices.Compact(mine)
	for _, i := range mine {
		r.locks[i] <- struct{}{}
	}
	return func() {
		for _, i := range mine {
			<-r.locks[i]
		}
	}
}

// interrupts reports whether err, of a request, means that the run should be continued
// later, rather than with the next group. A change that was refused before it was sent
// concerns its primary only.
func interrupts(ctx context.Context, err error) bool {
	var e *azerr.Error
	if ctx.Err() == nil && (errors.Is(err, azerr.ErrNeedsAccelerate) || errors.Is(err, azerr.ErrTooLarge)) {
		return false
	}
	return ctx.Err() != nil || errors.Is(err, azerr.ErrThrottled) || errors.As(err, &e) && (e.Status == 0 || e.Status >= 500 || e.Status == 403)
}

// confirmation distinguishes the differences that last from those of the moment.
type confirmation struct {
	*run
	*group
	requests  int
	undecided int // rows that changed in each try, or that an operation is about to change
	findings  []Finding
	blockers  []*keys.Key // by finding: a primary that no longer implies its row
}

// confirm leaves in c.rows the rows that differ from what the primary implies. It reads the
// primary, the rows, and the primary again. If both versions are the same, it was the current
// one while the rows were read.
//
//   - So a local row that differs is wrong: its transaction also changes the primary.
//   - A remote row may be about to be written, but then its operation has an outbox row, which
//     is deleted only after the row was written. So confirm reads the outbox rows, and then the
//     remote rows again. If the operation is not among them, and the row still differs, it is wrong.
//   - If there is no primary, it may have been inserted and deleted between its reads. Then the
//     rows are read again at the end: a row that has not changed exists without a primary.
func (c *confirmation) confirm(ctx context.Context) (*txn.Record, error) {
	for try := 1; ; try++ {
		was, err := c.readPrimary(ctx)
		if err != nil {
			return nil, err
		}
		if err := c.claim(was); err != nil {
			return nil, err
		}
		if _, err := c.readRows(ctx, nil); err != nil {
			return was, err
		}
		if slices.ContainsFunc(c.rows, c.remote) {
			if err := c.dropPending(ctx); err != nil {
				return was, err
			}
			if was != nil {
				if _, err := c.readRows(ctx, c.remote); err != nil {
					return was, err
				}
			}
		}
		if len(c.rows) == 0 {
			return was, nil
		}
		is, err := c.readPrimary(ctx)
		if err != nil {
			return nil, err
		}
		stable := was != nil && is != nil && was.ETag == is.ETag
		if was == nil && is == nil {
			changed, err := c.readRows(ctx, nil)
			if err != nil || len(c.rows) == 0 {
				return was, err
			}
			stable = !changed
		}
		if stable {
			return was, c.dropYoung(was)
		}
		if try == c.store.Tries {
			c.undecided += len(c.rows)
			c.rows = nil
			return was, nil
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return nil, err
		}
	}
}

// readPrimary reads the primary; a row that is not one is nil.
func (c *confirmation) readPrimary(ctx context.Context) (*txn.Record, error) {
	c.requests++
	return find(ctx, c.run, c.primary)
}

func find(ctx context.Context, r *run, key keys.Key) (*txn.Record, error) {
	p, err := r.store.Find(ctx, key)
	if errors.Is(err, keys.ErrBadKey) || errors.Is(err, azerr.ErrKeyChanged) {
		return nil, nil // a row of another kind
	}
	return p, err
}

// claim fills in what the primary implies for the rows.
func (c *confirmation) claim(primary *txn.Record) error {
	rows, err := implied(c.store, primary, c.primary)
	if err != nil {
		return err
	}
	for i := range c.rows {
		s := &c.rows[i]
		v := c.views[s.ref.View]
		if v == nil {
			return errState
		}
		s.claim = view.Claim{View: v, Key: s.ref.Key(), Owner: c.primary}
		for j := range rows {
			if d := &rows[j]; d.View == v && d.Key == s.claim.Key {
				s.claim.Wanted, s.claim.Body, s.claim.Merge = true, d.Body, d.Merge
			}
		}
		if !c.remote(*s) {
			s.claim.Merge.Add = nil // nothing shows what was counted
		}
	}
	return nil
}

func (c *confirmation) remote(s suspect) bool {
	return c.views[s.ref.View].Foreign() || s.ref.Partition != c.primary.Partition
}

// readRows reads the rows that which reports, nil for all, and drops those that agree with the
// primary. changed reports whether another one differs from what was read before.
func (c *confirmation) readRows(ctx context.Context, which func(suspect) bool) (changed bool, err error) {
	var differ []suspect
	for _, s := range c.rows {
		if which != nil && !which(s) {
			differ = append(differ, s)
			continue
		}
		t, _ := c.store.TableOf(c.views[s.ref.View])
		c.requests++
		if s.claim.View.Shape.Kind == view.Merges {
			c.requests++
		}
		found, err := t.Read(ctx, &s.claim)
		if err != nil {
			return false, err
		}
		if found.Row.Absent() && !found.Mark.Absent() {
			c.requests += 2
		}
		agrees, other, err := s.claim.Agrees(found)
		if err != nil {
			return false, &view.Error{View: s.ref.View, Err: err}
		}
		if !agrees {
			changed = changed || found.Row.ETag != s.found.Row.ETag || found.Mark.ETag != s.found.Mark.ETag
			s.found, s.other = found, other
			differ = append(differ, s)
		}
	}
	c.rows = differ
	return changed, nil
}

// dropPending drops the rows that an operation in progress may be about to write.
func (c *confirmation) dropPending(ctx context.Context) error {
	c.requests++
	pending, err := c.store.Pending(ctx, c.primary)
	if err != nil {
		return err
	}
	n := len(c.rows)
	c.rows = slices.DeleteFunc(c.rows, func(s suspect) bool { return pending[s.ref] })
	c.undecided += n - len(c.rows)
	return nil
}

// dropYoung drops the rows that changed less than Grace ago, or whose primary did.
func (c *confirmation) dropYoung(primary *txn.Record) error {
	if c.Grace <= 0 {
		return nil
	}
	n := len(c.rows)
	if primary != nil && c.store.Table.Client.Age(primary.Timestamp) < c.Grace {
		c.rows = nil
	}
	var kept []suspect
	for _, s := range c.rows {
		row, err := s.found.Row.Content()
		if err != nil {
			return err
		}
		t, _ := c.store.TableOf(s.claim.View)
		if s.found.Row.Absent() || t.Client.Age(row.At) >= c.Grace {
			kept = append(kept, s)
		}
	}
	c.rows = kept
	c.undecided += n - len(kept)
	return nil
}

// classify makes findings of the rows that are left.
func (c *confirmation) classify(ctx context.Context) error {
	for i := range c.rows {
		s := &c.rows[i]
		f := Finding{View: s.ref.View, Row: s.ref.Key(), Primary: c.primary}
		var blocker *keys.Key
		switch {
		case !s.claim.Wanted:
			f.Kind = Orphan
		case s.other != nil:
			taken, err := c.implies(ctx, s)
			if err != nil {
				return err
			}
			f.Kind = Duplicate
			if !taken {
				f.Kind, blocker = Missing, &s.other.Owner
			}
		case s.stored && !s.found.Row.Absent():
			f.Kind = Wrong
		}
		c.findings = append(c.findings, f)
		c.blockers = append(c.blockers, blocker)
	}
	return nil
}

// implies reports whether the primary to which a row belongs implies it, or whether the row
// belongs to no primary at all.
func (c *confirmation) implies(ctx context.Context, s *suspect) (bool, error) {
	if !s.other.Known {
		return true, nil
	}
	c.requests++
	owner, err := find(ctx, c.run, s.other.Owner)
	if err != nil {
		return false, err
	}
	rows, err := implied(c.store, owner, s.other.Owner)
	if err != nil {
		return false, err
	}
	v := c.views[s.ref.View]
	return slices.ContainsFunc(rows, func(d view.Derived) bool {
		return d.Key == s.claim.Key && d.View.TargetID() == v.TargetID() && d.Holds(v)
	}), nil
}
