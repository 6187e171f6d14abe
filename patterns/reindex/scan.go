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
func (r *run) read(ctx context.Context, use func([]fetch.Entry) error) (err error) {
	p, report := &r.Part, &r.report
	fetch.ScanProperties(ctx, r.tables[p.Table].Client, query.Filter{}, r.scanOptions(), r.Kind == filling, p.Cursor, func(rows []fetch.Entry, page fetch.ScanPage, failed error) bool {
		if err = failed; err == nil {
			err = use(rows)
		}
		if err != nil {
			return false
		}
		r.count(&report.Requests.Scan, page.Progress.Requests-p.Progress.Requests)
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

// class is the class that is being verified.
func (r *run) class() class { return r.Classes[len(r.Classes)-1] }

// first reports whether rows are read for the first time; later passes do not count them.
func (r *run) first() bool { return r.Kind == scanning && r.class().Depth == 0 }

// addRows adds what rows imply to the sketch, and subtracts what they contain. What is added does not
// depend on other rows, so the sum of the sketches of all parts is that of the tables.
func (r *run) addRows(rows []fetch.Entry) {
	for i := range rows {
		if err := r.addRow(&rows[i]); err != nil {
			r.report.fail(rows[i].Key, err)
		}
	}
}

func (r *run) addRow(e *fetch.Entry) error {
	stored, err := r.store.Views.StoredParts(e.Key, e.Properties, func(v *view.View) bool { return r.inTable[r.Part.Table][v.Name] })
	r.add(stored, -1)
	if err != nil || r.Part.Table > 0 {
		return err
	}
	primary, err := r.store.PrimaryOf(e)
	if err != nil || primary == nil {
		return err
	}
	if r.first() {
		r.report.Primaries++
	}
	implied, err := r.store.Implied(primary)
	for i := range implied {
		if err == nil && r.views[implied[i].View.Name] != nil {
			var parts []view.Part
			parts, err = view.ImpliedParts(&implied[i], e.Key)
			r.add(parts, 1)
		}
	}
	return err
}

func (r *run) add(parts []view.Part, sign int64) {
	for i := range parts {
		if r.class().has(parts[i].Primary) {
			r.sketch.add(parts[i].Bytes(), sign)
		}
	}
}
