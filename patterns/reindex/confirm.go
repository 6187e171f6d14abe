package reindex

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// suspect is a row in which a primary has other parts than it implies, according to a scan.
type suspect struct {
	Primary keys.Key
	Ref     view.RowRef
	Stored  bool // the scan found a part of the primary in it

	// What a confirmation has read.
	primary *txn.Record
	claim   view.Claim
	found   view.Found
	at      time.Time          // of the row
	other   *view.OwnedByOther // the row belongs to another
}

func (s *suspect) merged() bool { return s.claim.View.Shape.Kind == view.Merges }

func (s *suspect) remote() bool {
	return s.claim.View.Foreign() || s.Ref.Partition != s.Primary.Partition
}

// maxRows is how many rows of a partition are confirmed and repaired together. In the transaction
// each may take three rows: itself, its primary and the outbox row.
const maxRows = 33

// confirmAll confirms the suspects of a job and, if asked to, repairs them.
func (r *run) confirmAll(ctx context.Context) error {
	var all [][]suspect // that are confirmed together
	done := 0
	for _, s := range r.Inputs[r.Job] {
		n := len(all)
		if n == 0 || len(all[n-1]) == maxRows || all[n-1][0].Primary.Partition != s.Primary.Partition {
			all = append(all, nil)
			n++
		}
		all[n-1] = append(all[n-1], s)
	}
	return r.each(ctx, len(all), func(ctx context.Context, i int) (res result, err error) {
		err = r.confirm(ctx, slices.Clone(all[i]), &res)
		return res, err
	}, func(res *result) error {
		r.Inputs[r.Job] = r.Inputs[r.Job][len(all[done]):]
		done++
		for _, f := range res.findings {
			if r.yield != nil && !r.yield(f) {
				return errStopped
			}
		}
		return r.step(ctx)
	})
}

// confirm confirms suspects of one partition, and repairs them. If it cannot, it tries each
// primary alone.
func (r *run) confirm(ctx context.Context, rows []suspect, res *result) error {
	c := &confirmation{run: r, result: res}
	sure, err := c.resolve(ctx, rows)
	var findings []Finding
	if err == nil {
		findings, err = c.classify(ctx, sure)
	}
	if err != nil && !interrupts(ctx, err) {
		if rows[0].Primary == rows[len(rows)-1].Primary {
			res.fail(rows[0].Primary, err)
			return nil
		}
		for len(rows) > 0 {
			n := slices.IndexFunc(rows, func(s suspect) bool { return s.Primary != rows[0].Primary })
			if n < 0 {
				n = len(rows)
			}
			if err := r.confirm(ctx, rows[:n:n], res); err != nil {
				return err
			}
			rows = rows[n:]
		}
		return nil
	}
	if err == nil && r.found != nil && len(findings) > 0 {
		err = r.found(ctx, findings)
	}
	if err != nil {
		return err
	}
	for _, f := range findings {
		*res.ofKind(f.Kind)++
	}
	res.findings = append(res.findings, findings...)
	return r.repair(ctx, sure, findings, res)
}

// confirmation distinguishes the differences that last from those of the moment.
type confirmation struct {
	*run
	*result
}

// resolve returns the rows that differ from what their primaries imply. It reads the primary,
// the row, and the primary again. If both versions are the same, it was the current one while
// the row was read.
//
//   - So a local row that differs is wrong: its transaction also changes the primary. If one
//     request returned both, which is a snapshot of the partition, that is certain without the
//     second read.
//   - A remote row may be about to be written, but then its operation has an outbox row, which
//     is deleted only after the row was written. So the outbox rows are read after the primary
//     and before the row. If the operation is not among them, and the row differs, it is wrong.
//   - If there is no primary, it may have been inserted and deleted between its reads. Then the
//     outbox rows and the row are read again at the end: a row that has not changed exists without
//     a primary.
func (c *confirmation) resolve(ctx context.Context, rows []suspect) (sure []suspect, err error) {
	for try := 1; len(rows) > 0 && err == nil; try++ {
		if try > c.store.Tries {
			c.Undecided += len(rows)
			break
		}
		if try > 1 {
			if err := parallel.Pause(ctx, try-1); err != nil {
				return nil, err
			}
		}
		var some []suspect
		some, rows, err = c.try(ctx, rows)
		sure = append(sure, some...)
	}
	return sure, err
}

// try returns the rows that certainly differ, and those that are to be tried again.
func (c *confirmation) try(ctx context.Context, rows []suspect) (sure, again []suspect, err error) {
	var primaries, local []string
	for i := range rows {
		s := &rows[i]
		if s.claim.View = c.views[s.Ref.View]; s.claim.View == nil {
			return nil, nil, errState
		}
		primaries = append(primaries, s.Primary.Row)
		if !s.remote() && !s.merged() {
			local = append(local, s.Ref.Row)
		}
	}
	sent := c.Requests.Confirm
	entries, err := c.read(ctx, c.tables[0], rows[0].Primary.Partition, append(primaries, local...))
	snapshot := c.Requests.Confirm == sent+1
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		if err := c.claim(&rows[i], entries); err != nil {
			return nil, nil, err
		}
	}
	if rows, err = c.notPending(ctx, rows); err == nil {
		rows, err = c.differing(ctx, rows, entries)
	}
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	var rest []suspect
	primaries = nil
	for _, s := range rows {
		if snapshot && !s.remote() && !s.merged() {
			sure = append(sure, s)
			continue
		}
		rest, primaries = append(rest, s), append(primaries, s.Primary.Row)
	}
	if rows = rest; len(rows) == 0 {
		return c.old(sure), nil, nil
	}
	if entries, err = c.read(ctx, c.tables[0], rows[0].Primary.Partition, primaries); err != nil {
		return nil, nil, err
	}
	var gone []suspect
	for _, s := range rows {
		is, err := c.store.PrimaryOf(entries[s.Primary.Row])
		switch {
		case err != nil:
			return nil, nil, err
		case s.primary == nil && is == nil:
			gone = append(gone, s)
		case s.primary != nil && is != nil && s.primary.ETag == is.ETag:
			sure = append(sure, s)
		default:
			again = append(again, s)
		}
	}
	before := map[keys.Key]view.Found{}
	for _, s := range gone {
		before[s.Ref.Key()] = s.found
	}
	if gone, err = c.notPending(ctx, gone); err == nil {
		gone, err = c.differing(ctx, gone, nil)
	}
	for _, s := range gone {
		if was := before[s.Ref.Key()]; was.Row.ETag == s.found.Row.ETag && was.Mark.ETag == s.found.Mark.ETag {
			sure = append(sure, s)
		} else {
			again = append(again, s)
		}
	}
	return c.old(sure), again, err
}

// read reads rows of a partition.
func (c *confirmation) read(ctx context.Context, t *view.Table, partition string, rows []string) (map[string]*fetch.Entry, error) {
	entries, requests, err := c.store.ReadRows(ctx, t, partition, rows)
	c.Requests.Confirm += requests
	return entries, err
}

// claim fills in what the primary implies for the row.
func (c *confirmation) claim(s *suspect, entries map[string]*fetch.Entry) (err error) {
	if s.primary, err = c.store.PrimaryOf(entries[s.Primary.Row]); err != nil {
		return err
	}
	implied, err := c.store.Implied(s.primary)
	s.claim = view.Claim{View: s.claim.View, Key: s.Ref.Key(), Owner: s.Primary}
	for i := range implied {
		if d := &implied[i]; d.View == s.claim.View && d.Key == s.claim.Key {
			s.claim.Wanted, s.claim.Body, s.claim.Merge = true, d.Body, d.Merge
		}
	}
	if !s.remote() {
		s.claim.Merge.Add = nil // nothing shows what was counted
	}
	return err
}

// notPending drops the remote rows that an operation in progress may be about to write.
func (c *confirmation) notPending(ctx context.Context, rows []suspect) ([]suspect, error) {
	if !slices.ContainsFunc(rows, func(s suspect) bool { return s.remote() }) {
		return rows, nil
	}
	c.Requests.Confirm++
	pending, err := c.store.Pending(ctx, rows[0].Primary.Partition)
	n := len(rows)
	rows = slices.DeleteFunc(rows, func(s suspect) bool { return pending[s.Primary.Row][s.Ref] })
	c.Undecided += n - len(rows)
	return rows, err
}

// differing reads rows, except those in the partition of their primaries if these have been
// read, and drops those that agree with the primary.
func (c *confirmation) differing(ctx context.Context, rows []suspect, local map[string]*fetch.Entry) ([]suspect, error) {
	type place struct {
		table     *view.Table
		partition string
	}
	wanted, read := map[place][]string{}, map[place]map[string]*fetch.Entry{}
	placeOf := func(s *suspect) place {
		t, _ := c.store.TableOf(s.claim.View)
		return place{t, s.Ref.Partition}
	}
	for i := range rows {
		if s := &rows[i]; local != nil && !s.remote() {
			read[placeOf(s)] = local
		} else if !s.merged() {
			wanted[placeOf(s)] = append(wanted[placeOf(s)], s.Ref.Row)
		}
	}
	for at, names := range wanted {
		entries, err := c.read(ctx, at.table, at.partition, names)
		if err != nil {
			return nil, err
		}
		read[at] = entries
	}
	var differ []suspect
	for _, s := range rows {
		at := placeOf(&s)
		e := read[at][s.Ref.Row]
		var err error
		if s.merged() {
			s.found, err = c.readMerged(ctx, at.table, &s.claim)
		} else {
			s.found.Row, err = outbox.RowOf(e)
		}
		if e != nil {
			s.at = e.Timestamp
		}
		if err != nil {
			return nil, err
		}
		agrees, other, err := s.claim.Agrees(s.found)
		if err != nil {
			return nil, &view.Error{View: s.Ref.View, Err: err}
		}
		if s.other = other; !agrees {
			differ = append(differ, s)
		}
	}
	return differ, nil
}

// readMerged reads a row that a view merges into, and the mark of the primary.
func (c *confirmation) readMerged(ctx context.Context, t *view.Table, claim *view.Claim) (view.Found, error) {
	found, err := t.Read(ctx, claim)
	c.Requests.Confirm += 2
	if found.Row.Absent() && !found.Mark.Absent() {
		c.Requests.Confirm += 2
	}
	return found, err
}

// old drops the rows that changed less than Grace ago, or whose primary did.
func (c *confirmation) old(rows []suspect) []suspect {
	n := len(rows)
	rows = slices.DeleteFunc(rows, func(s suspect) bool {
		t, _ := c.store.TableOf(s.claim.View)
		return c.Grace > 0 && (s.primary != nil && c.store.Table.Client.Age(s.primary.Timestamp) < c.Grace || !s.at.IsZero() && t.Client.Age(s.at) < c.Grace)
	})
	c.Undecided += n - len(rows)
	return rows
}

// classify returns the finding that each row is.
func (c *confirmation) classify(ctx context.Context, rows []suspect) ([]Finding, error) {
	var findings []Finding
	for i := range rows {
		s := &rows[i]
		f := Finding{View: s.Ref.View, Row: s.Ref.Key(), Primary: s.Primary}
		switch {
		case !s.claim.Wanted:
			f.Kind = Orphan
		case s.other != nil:
			if s.other.Known {
				c.Requests.Confirm++
			}
			held, err := c.store.Holds(ctx, s.claim.View, s.claim.Key, s.other)
			if err != nil && !errors.Is(err, patterns.ErrBadKey) && !errors.Is(err, patterns.ErrKeyChanged) { // a row of another kind
				return nil, err
			}
			if held {
				f.Kind = Duplicate
			}
		case s.Stored && !s.found.Row.Absent():
			f.Kind = Wrong
		}
		findings = append(findings, f)
	}
	return findings, nil
}
