package reindex

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func (r *run) scanOptions() *patterns.QueryOptions {
	return &patterns.QueryOptions{Parallel: r.Parallel, Allow: query.TableScan}
}

// read calls use for each page of what is left of a part, and counts and records it. If rows
// are changed meanwhile, that takes longer than the request for the next page, which would be
// repeated after a crash.
func (r *run) read(ctx context.Context, job int, use func(context.Context, []fetch.Entry) error) (err error) {
	p, report := &r.Part, &r.Report
	if p.Cursor == "" {
		*p = r.Parts[job]
	}
	fetch.ScanProperties(ctx, r.tables[p.Table].Client, query.Filter{}, r.scanOptions(), r.Kind == filling, p.Cursor, func(rows []fetch.Entry, page fetch.ScanPage, failed error) bool {
		if err = failed; err == nil {
			err = use(ctx, rows)
		}
		if err != nil {
			return false
		}
		if r.Kind == scanning && p.Table == 0 {
			r.hasBegun(p.Cursor != r.Parts[job].Cursor)
		}
		report.Requests.Scan += page.Progress.Requests - p.Progress.Requests
		if r.first() {
			report.Rows += page.Progress.Rows - p.Progress.Rows
		}
		p.Progress, p.Cursor = page.Progress, page.Cursor
		if page.Cursor != "" {
			err = r.step(ctx)
		}
		return err == nil
	})
	return err
}

// first reports whether rows are read for the first time; later passes do not count them.
func (r *run) first() bool { return r.Kind == scanning && r.Class == "" && r.Rows == nil }

// addRows adds what rows imply to the sketch, and subtracts what they contain. What is added does not
// depend on other rows, so the sum of the sketches of all parts is that of the tables.
func (r *run) addRows(_ context.Context, rows []fetch.Entry) error {
	verified := func(v *view.View) bool { return r.views[v.Name] != nil }
	here := func(v *view.View) bool { return r.tableOf(v) == r.Part.Table }
	for i := range rows {
		stored, wanted, primary, err := r.store.Parts(&rows[i], r.Part.Table == 0, verified, here)
		r.addParts(stored, -1)
		r.addParts(wanted, 1)
		if primary && r.first() {
			r.Report.Primaries++
		}
		if err != nil && r.first() {
			r.Report.fail(rows[i].Key, err)
			if r.Unread++; r.Cause == nil {
				errors.As(err, &r.Cause)
			}
		}
	}
	return nil
}

func (r *run) addParts(parts []view.Part, sign int64) {
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Loose && r.first():
			r.addLoose(p, sign)
		case p.Loose && sign < 0: // only the first pass finds what is the same
		case r.verifies(p):
			r.Sketch.add(p.Bytes(), sign)
		}
	}
}
