package reindex

import (
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns"
)

// confirmAll confirms the differences of a job and, if asked to, repairs them.
func (r *run) confirmAll(ctx context.Context, groups [][]outbox.Checked) error {
	var partitions [][]outbox.Checked // the rows of all groups of each
	for _, group := range groups {
		n := len(partitions)
		if n == 0 || partitions[n-1][0].Primary.Partition != group[0].Primary.Partition {
			partitions, n = append(partitions, nil), n+1
		}
		partitions[n-1] = append(partitions[n-1], group...)
	}
	confirmed, err := r.each(ctx, len(partitions), func(ctx context.Context, i int, res *result) error {
		return r.confirm(ctx, partitions[i], res)
	})
	if err != nil {
		return err
	}
	var findings []Finding
	for i := range confirmed {
		for _, c := range confirmed[i].sure {
			findings = append(findings, Finding{kindOf(&c), c.Ref.View, c.Ref.Key(), c.Primary, c.Owner()})
		}
	}
	if findings, err = r.record(ctx, findings); err != nil {
		return err
	}
	counts := map[Kind]*int{Missing: &r.Report.Missing, Wrong: &r.Report.Wrong, Orphan: &r.Report.Orphan, Duplicate: &r.Report.Duplicate, Superfluous: &r.Report.Superfluous}
	for _, f := range findings {
		*counts[f.Kind]++
	}
	failed := r.Report.Failed
	_, err = r.each(ctx, len(confirmed), func(ctx context.Context, i int, res *result) error {
		for some := range slices.Chunk(confirmed[i].sure, maxRows) {
			if err := r.repair(ctx, some, res); err != nil {
				return err
			}
		}
		return nil
	})
	if !r.DryRun {
		r.Report.Repaired += len(findings) - (r.Report.Failed - failed)
	}
	return err
}

// confirm adds the rows of a group that differ, and those that cannot be checked, to res.
func (r *run) confirm(ctx context.Context, group []outbox.Checked, res *result) error {
	rows, undecided, requests, err := r.store.Check(ctx, slices.Clone(group), r.Began, r.Grace)
	if res.Requests.Confirm += requests; err != nil {
		rows, undecided = slices.Clone(group), 0
		for i := range rows {
			rows[i].Err = err
		}
	}
	res.Undecided += undecided
	for _, c := range rows {
		switch {
		case c.Err == nil:
			res.sure = append(res.sure, c)
		case interrupts(ctx, c.Err):
			return c.Err
		default:
			res.fail(c.Primary, c.Err)
			res.unread++
		}
	}
	return nil
}

func kindOf(c *outbox.Checked) Kind {
	switch {
	case c.Superfluous():
		return Superfluous
	case !c.Wanted:
		return Orphan
	case c.Held:
		return Duplicate
	case c.Own && c.Stored:
		return Wrong
	}
	return Missing
}

// repair repairs rows of one partition, which are findings, or computes what that would take.
func (r *run) repair(ctx context.Context, rows []outbox.Checked, res *result) error {
	var superfluous []outbox.LookupRow
	for _, c := range rows {
		if c.Held {
			res.fail(c.Primary, &patterns.DuplicateError{View: c.Ref.View, Key: c.Ref.Key()})
		}
		if row, ok := c.Lookup(); ok {
			superfluous = append(superfluous, row)
		}
	}
	if err := r.remove(ctx, superfluous, res); err != nil {
		return err
	}
	all, requests := r.store.Corrections(rows)
	res.Requests.Repair += requests
	for _, ins := range all {
		if err := r.together(ctx, ins, &res.Requests.Repair, res); err != nil {
			return err
		}
	}
	return nil
}

// remove removes superfluous lookup rows of primaries in one partition, which it reads once more.
func (r *run) remove(ctx context.Context, rows []outbox.LookupRow, res *result) (err error) {
	if res.Requests.Repair += len(rows); r.DryRun {
		return nil
	}
	res.Requests.Repair += r.store.RemoveSuperfluous(ctx, rows, false, func(row outbox.LookupRow, e error) {
		switch {
		case e == nil:
		case interrupts(ctx, e):
			err = e
		default:
			res.fail(row.Primary, e)
		}
	})
	return err
}
