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
	other   *view.OwnedByOther // the row belongs to another
	kind    Kind
}

func (s *suspect) merged() bool { return s.claim.View.Shape.Kind == view.Merges }

func (s *suspect) remote() bool {
	return s.claim.View.Foreign() || s.Ref.Partition != s.Primary.Partition
}

// confirmAll confirms the suspects of a job and, if asked to, repairs them.
func (r *run) confirmAll(ctx context.Context, groups [][]suspect) error {
	confirmed, err := r.each(ctx, len(groups), func(ctx context.Context, i int, res *result) error {
		return divided(ctx, groups[i], func(rows []suspect) error {
			sure, err := r.confirm(ctx, slices.Clone(rows), res)
			res.sure = append(res.sure, sure...)
			return err
		}, func(s suspect, err error) { res.fail(s.Primary, err) })
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

// confirm returns those of some rows that differ from what their primaries imply, and what is
// wrong with them. It reads the primary, the row, and the primary again. If both versions are the
// same, it was the current one while the row was read.
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
func (r *run) confirm(ctx context.Context, rows []suspect, res *result) (sure []suspect, err error) {
	for round := 0; len(rows) > 0; round++ {
		if round > 2*r.store.Tries {
			res.Undecided += len(rows)
			break
		}
		if round > 1 {
			if err := parallel.Pause(ctx, round/2); err != nil {
				return nil, err
			}
		}
		read, snapshot, err := r.readLocal(ctx, rows, res)
		if err != nil {
			return nil, err
		}
		var changed []suspect // or read for the first time
		for _, s := range rows {
			if same, err := r.claim(&s, read[place{}][s.Primary.Row]); err != nil {
				return nil, err
			} else if same {
				sure = append(sure, s)
			} else {
				changed = append(changed, s)
			}
		}
		pending, err := r.readRemote(ctx, changed, read, res)
		if err != nil {
			return nil, err
		}
		rows = nil
		for _, s := range changed {
			if pending[s.Primary.Row][s.Ref] {
				res.Undecided++
				continue
			}
			e, was := read[r.placeOf(&s)][s.Ref.Row], s.found
			agrees, err := r.agrees(ctx, &s, e, res)
			gone := s.primary == nil && was.Row.ETag == s.found.Row.ETag && was.Mark.ETag == s.found.Mark.ETag
			switch {
			case err != nil:
				return nil, &view.Error{View: s.Ref.View, Err: err}
			case agrees:
			case s.primary != nil && r.isYoung(s.primary.Timestamp), e != nil && r.isYoung(e.Timestamp):
				res.Undecided++
			case gone, snapshot && !s.remote() && !s.merged():
				sure = append(sure, s)
			default:
				rows = append(rows, s)
			}
		}
	}
	for i := range sure {
		if err := r.classify(ctx, &sure[i], res); err != nil {
			return nil, err
		}
	}
	return sure, nil
}

// place is a partition of a table. The zero place is the partition of the primaries.
type place struct {
	table     *view.Table
	partition string
}

func (r *run) placeOf(s *suspect) place {
	if !s.remote() {
		return place{}
	}
	t, _ := r.store.TableOf(s.claim.View)
	return place{t, s.Ref.Partition}
}

// readLocal reads the primaries and their local rows. snapshot means that one request returned
// all of them.
func (r *run) readLocal(ctx context.Context, rows []suspect, res *result) (read map[place]map[string]*fetch.Entry, snapshot bool, err error) {
	var primaries, local []string
	for i := range rows {
		s := &rows[i]
		if s.claim.View = r.views[s.Ref.View]; s.claim.View == nil {
			return nil, false, errState
		}
		primaries = append(primaries, s.Primary.Row)
		if !s.remote() && !s.merged() {
			local = append(local, s.Ref.Row)
		}
	}
	entries, n, err := r.store.ReadRows(ctx, r.tables[0], rows[0].Primary.Partition, append(primaries, local...))
	res.Requests.Confirm += n
	return map[place]map[string]*fetch.Entry{{}: entries}, n == 1, err
}

// readRemote adds the remote rows to read, except those that operations in progress may be about
// to write. It returns these.
func (r *run) readRemote(ctx context.Context, rows []suspect, read map[place]map[string]*fetch.Entry, res *result) (pending map[string]map[view.RowRef]bool, err error) {
	names := map[place][]string{}
	for i := range rows {
		s := &rows[i]
		if s.remote() && pending == nil {
			res.Requests.Confirm++
			if pending, err = r.store.Pending(ctx, s.Primary.Partition); err != nil {
				return nil, err
			}
		}
		if at := r.placeOf(s); s.remote() && !s.merged() && !pending[s.Primary.Row][s.Ref] {
			names[at] = append(names[at], s.Ref.Row)
		}
	}
	for at, some := range names {
		entries, n, err := r.store.ReadRows(ctx, at.table, at.partition, some)
		if res.Requests.Confirm += n; err != nil {
			return nil, err
		}
		read[at] = entries
	}
	return pending, nil
}

// claim fills in what the primary, which was read as e, implies for the row. It reports whether the
// primary was the same the last time.
func (r *run) claim(s *suspect, e *fetch.Entry) (same bool, err error) {
	was := s.primary
	if s.primary, err = r.store.PrimaryOf(e); err != nil {
		return false, err
	}
	if was != nil && s.primary != nil && was.ETag == s.primary.ETag {
		return true, nil
	}
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

// agrees reports whether a row, which was read as e, agrees with the primary. It reads the row if
// properties are merged into it.
func (r *run) agrees(ctx context.Context, s *suspect, e *fetch.Entry, res *result) (agrees bool, err error) {
	if s.merged() {
		t, _ := r.store.TableOf(s.claim.View)
		s.found, err = t.Read(ctx, &s.claim)
		if res.Requests.Confirm += 2; s.found.Row.Absent() && !s.found.Mark.Absent() {
			res.Requests.Confirm += 2
		}
	} else {
		s.found.Row, err = outbox.RowOf(e)
	}
	if err == nil {
		agrees, s.other, err = s.claim.Agrees(s.found)
	}
	return agrees, err
}

// isYoung reports whether a row was changed less than Grace ago.
func (r *run) isYoung(changed time.Time) bool {
	return r.Grace > 0 && r.tables[0].Client.Age(changed) < r.Grace
}

// classify fills in the kind of a finding.
func (r *run) classify(ctx context.Context, s *suspect, res *result) error {
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
	return nil
}
