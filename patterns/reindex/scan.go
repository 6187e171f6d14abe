package reindex

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/query"
)

func (r *run) scanOptions() *fetch.Options {
	return &fetch.Options{Parallel: r.Parallel, Allow: query.TableScan}
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
func (r *run) first() bool { return r.Kind == scanning && r.Class == "" }

// addRows adds what rows imply to the sketch, and subtracts what they contain. What is added does not
// depend on other rows, so the sum of the sketches of all parts is that of the tables.
func (r *run) addRows(_ context.Context, rows []fetch.Entry) error {
	for i := range rows {
		if err := r.addRow(&rows[i]); err != nil {
			r.Report.fail(rows[i].Key, err)
		}
	}
	return nil
}

func (r *run) addRow(e *fetch.Entry) error {
	stored, err := r.store.Views.StoredParts(e.Key, e.Properties, func(v *view.View) bool {
		return r.views[v.Name] != nil && r.tableOf(v) == r.Part.Table
	})
	r.addParts(stored, -1)
	if err != nil || r.Part.Table > 0 {
		return err
	}
	primary, err := r.store.PrimaryOf(e)
	if err != nil || primary == nil {
		return err
	}
	if r.first() {
		r.Report.Primaries++
	}
	implied, err := r.store.Implied(primary)
	for i := range implied {
		if err == nil && r.views[implied[i].View.Name] != nil {
			var parts []view.Part
			parts, err = view.ImpliedParts(&implied[i], e.Key)
			r.addParts(parts, 1)
		}
	}
	return err
}

func (r *run) addParts(parts []view.Part, sign int64) {
	for i := range parts {
		if r.verifies(parts[i].Primary) {
			r.Sketch.add(parts[i].Bytes(), sign)
		}
	}
}
