package reindex

import (
	"context"
	"errors"
	"slices"

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
	gone    bool               // there was no primary, twice
	other   *view.OwnedByOther // the row belongs to another
	kind    Kind
}

func (s suspect) samePrimary(o suspect) bool   { return s.Primary == o.Primary }
func (s suspect) samePartition(o suspect) bool { return s.Primary.Partition == o.Primary.Partition }

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
	for _, some := range consecutive(r.Inputs[r.Job], suspect.samePartition) {
		all = slices.AppendSeq(all, slices.Chunk(some, maxRows))
	}
	confirmed, err := r.each(ctx, len(all), func(ctx context.Context, i int, res *result) error {
		return r.confirm(ctx, all[i], res)
	})
	if err != nil {
		return err
	}
	var findings []Finding
	for i := range confirmed {
		for _, s := range confirmed[i].sure {
			findings = append(findings, Finding{s.kind, s.Ref.View, s.Ref.Key(), s.Primary})
		}
	}
	if findings, err = r.record(ctx, findings); err != nil {
		return err
	}
	for _, f := range findings {
		*r.Report.ofKind(f.Kind)++
	}
	failed := r.Report.Failed
	_, err = r.each(ctx, len(confirmed), func(ctx context.Context, i int, res *result) error {
		return r.repair(ctx, confirmed[i].sure, res)
	})
	if !r.DryRun {
		r.Report.Repaired += len(findings) - (r.Report.Failed - failed)
	}
	return err
}

// confirm confirms suspects of one partition. If it cannot, it tries each primary alone.
func (r *run) confirm(ctx context.Context, rows []suspect, res *result) error {
	sure, err := r.resolve(ctx, slices.Clone(rows), res)
	if err == nil {
		err = r.classify(ctx, sure, res)
	}
	switch {
	case err == nil:
		res.sure = append(res.sure, sure...)
	case interrupts(ctx, err):
		return err
	case rows[0].samePrimary(rows[len(rows)-1]):
		res.fail(rows[0].Primary, err)
	default:
		for _, some := range consecutive(rows, suspect.samePrimary) {
			if err := r.confirm(ctx, some, res); err != nil {
				return err
			}
		}
	}
	return nil
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
func (r *run) resolve(ctx context.Context, rows []suspect, res *result) (sure []suspect, err error) {
	for try := 0; len(rows) > 0; try++ {
		if try > 2*r.store.Tries {
			res.Undecided += len(rows)
			break
		}
		if try > 1 {
			if err := parallel.Pause(ctx, try/2); err != nil {
				return nil, err
			}
		}
		var primaries, local []string
		for i := range rows {
			s := &rows[i]
			if s.claim.View = r.views[s.Ref.View]; s.claim.View == nil {
				return nil, errState
			}
			primaries = append(primaries, s.Primary.Row)
			if !s.remote() && !s.merged() {
				local = append(local, s.Ref.Row)
			}
		}
		before := res.Requests.Confirm
		entries, err := r.readRows(ctx, r.tables[0], rows[0].Primary.Partition, append(primaries, local...), res)
		snapshot := res.Requests.Confirm == before+1
		if err != nil {
			return nil, err
		}
		var rest []suspect
		for _, s := range rows {
			if same, err := r.claim(&s, entries[s.Primary.Row], try > 0); err != nil {
				return nil, err
			} else if same {
				sure = append(sure, s)
			} else {
				rest = append(rest, s)
			}
		}
		if rest, err = r.notPending(ctx, rest, res); err == nil {
			rest, err = r.differing(ctx, rest, entries, res)
		}
		if err != nil {
			return nil, err
		}
		rows = nil
		for _, s := range rest {
			if s.gone || snapshot && !s.remote() && !s.merged() {
				sure = append(sure, s)
			} else {
				rows = append(rows, s)
			}
		}
	}
	return sure, nil
}

// readRows reads rows of a partition.
func (r *run) readRows(ctx context.Context, t *view.Table, partition string, rows []string, res *result) (map[string]*fetch.Entry, error) {
	entries, requests, err := r.store.ReadRows(ctx, t, partition, rows)
	res.Requests.Confirm += requests
	return entries, err
}

// claim fills in what the primary, which was read as e, implies for the row. It reports whether the
// primary was the same the last time.
func (r *run) claim(s *suspect, e *fetch.Entry, again bool) (same bool, err error) {
	was := s.primary
	if s.primary, err = r.store.PrimaryOf(e); err != nil {
		return false, err
	}
	if was != nil && s.primary != nil && was.ETag == s.primary.ETag {
		return true, nil
	}
	s.gone = again && was == nil && s.primary == nil
	implied, err := r.store.Implied(s.primary)
	s.claim = view.Claim{View: s.claim.View, Key: s.Ref.Key(), Owner: s.Primary}
	for i := range implied {
		if d := &implied[i]; d.View == s.claim.View && d.Key == s.claim.Key {
			s.claim.Wanted, s.claim.Body, s.claim.Merge = true, d.Body, d.Merge
		}
	}
	if !s.remote() {
		s.claim.Merge.Add = nil // nothing shows what was counted
	}
	return false, err
}

// notPending drops the remote rows that an operation in progress may be about to write.
func (r *run) notPending(ctx context.Context, rows []suspect, res *result) ([]suspect, error) {
	if !slices.ContainsFunc(rows, func(s suspect) bool { return s.remote() }) {
		return rows, nil
	}
	res.Requests.Confirm++
	pending, err := r.store.Pending(ctx, rows[0].Primary.Partition)
	n := len(rows)
	rows = slices.DeleteFunc(rows, func(s suspect) bool { return pending[s.Primary.Row][s.Ref] })
	res.Undecided += n - len(rows)
	return rows, err
}

// differing reads the rows, except those among local, and drops those that agree with the primary,
// and those that changed less than Grace ago, or whose primary did.
func (r *run) differing(ctx context.Context, rows []suspect, local map[string]*fetch.Entry, res *result) (differ []suspect, err error) {
	type place struct {
		table     *view.Table
		partition string
	}
	names, read := map[place][]string{}, map[place]map[string]*fetch.Entry{}
	placeOf := func(s *suspect) place { return place{r.tables[r.tableOf(s.claim.View)], s.Ref.Partition} }
	for i := range rows {
		if s := &rows[i]; s.remote() && !s.merged() {
			names[placeOf(s)] = append(names[placeOf(s)], s.Ref.Row)
		}
	}
	for at, some := range names {
		if read[at], err = r.readRows(ctx, at.table, at.partition, some, res); err != nil {
			return nil, err
		}
	}
	for _, s := range rows {
		at, before := placeOf(&s), s.found
		e := read[at][s.Ref.Row]
		if !s.remote() {
			e = local[s.Ref.Row]
		}
		if s.merged() {
			s.found, err = at.table.Read(ctx, &s.claim)
			if res.Requests.Confirm += 2; s.found.Row.Absent() && !s.found.Mark.Absent() {
				res.Requests.Confirm += 2
			}
		} else {
			s.found.Row, err = outbox.RowOf(e)
		}
		if err != nil {
			return nil, err
		}
		agrees, other, err := s.claim.Agrees(s.found)
		s.other = other
		s.gone = s.gone && before.Row.ETag == s.found.Row.ETag && before.Mark.ETag == s.found.Mark.ETag
		young := r.Grace > 0 && (s.primary != nil && r.tables[0].Client.Age(s.primary.Timestamp) < r.Grace || e != nil && at.table.Client.Age(e.Timestamp) < r.Grace)
		switch {
		case err != nil:
			return nil, &view.Error{View: s.Ref.View, Err: err}
		case young && !agrees:
			res.Undecided++
		case !agrees:
			differ = append(differ, s)
		}
	}
	return differ, nil
}

// classify fills in the kind of each finding.
func (r *run) classify(ctx context.Context, rows []suspect, res *result) error {
	for i := range rows {
		s := &rows[i]
		s.kind = Missing
		switch {
		case !s.claim.Wanted:
			s.kind = Orphan
		case s.other == nil && s.Stored && !s.found.Row.Absent():
			s.kind = Wrong
		case s.other != nil:
			if s.other.Known {
				res.Requests.Confirm++
			}
			held, err := r.store.Holds(ctx, s.claim.View, s.claim.Key, s.other)
			if err != nil && !errors.Is(err, patterns.ErrBadKey) && !errors.Is(err, patterns.ErrKeyChanged) { // a row of another kind
				return err
			}
			if held {
				s.kind = Duplicate
			}
		}
	}
	return nil
}
