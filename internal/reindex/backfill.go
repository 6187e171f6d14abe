package reindex

import (
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
)

// maxIntents is how many primaries a transaction fills. Each takes a row of it, and another
// one for each local row of the view.
const maxIntents = 49

// perState is how many requests a change of the state of a view takes.
const perState = 2

// Backfill stores the rows of a view for all primaries that do not list it, or removes those of
// a retired view, and then repairs the rows of the view. It records the state of the view.
func Backfill(ctx context.Context, s *outbox.Store, name string, o Options) (Report, error) {
	o.Views, o.Repair = []string{name}, true
	r, err := newRun(s, o, func(Finding) bool { return true })
	if err != nil {
		return Report{}, err
	}
	if len(r.Cursor) == 0 {
		if err := r.begin(ctx, name); err != nil {
			return Report{}, err
		}
	}
	if !r.state.Filled {
		if err := r.fill(ctx, name); err != nil {
			return r.finish(err)
		}
		r.state.Filled = true
		r.restart()
		r.state.Report.Rows, r.state.Report.Primaries = 0, 0 // counted again
	}
	if err = r.verify(ctx); err == nil && r.state.Report.Failed == 0 {
		err = r.end(ctx, name)
	}
	return r.finish(err)
}

// begin records that a view is being backfilled.
func (r *run) begin(ctx context.Context, name string) error {
	if r.store.Views.IsRetired(name) {
		return r.record(ctx, name, outbox.ViewRetiring)
	}
	return r.record(ctx, name, outbox.ViewBuilding)
}

// end records that a view is complete, or that a retired one has no rows.
func (r *run) end(ctx context.Context, name string) error {
	if r.store.Views.IsRetired(name) {
		return r.record(ctx, name, "")
	}
	return r.record(ctx, name, outbox.ViewReady)
}

// record records the state of the view.
func (r *run) record(ctx context.Context, name, state string) error {
	r.state.Report.Requests.Fill += perState
	r.sent += perState
	return r.store.SetViewState(ctx, name, state)
}

// fill reads all primaries, and changes those that do not list the view.
func (r *run) fill(ctx context.Context, name string) error {
	if r.state.Parts == nil {
		r.state.Parts = []Part{{}}
	}
	for st := &r.state; len(st.Parts) > 0; st.Parts = st.Parts[1:] {
		if err := r.fillPart(ctx, name, &st.Parts[0]); err != nil {
			return err
		}
	}
	return nil
}

// fillPart reads what is left of one part of the primaries.
func (r *run) fillPart(ctx context.Context, name string, p *Part) error {
	return r.read(ctx, r.store.Table.Client, p, class{}, func(rows []fetch.Entry) error { return r.fillRows(ctx, name, rows) })
}

// fillRows changes the primaries of a page that do not list the view, in transactions of
// several primaries of one partition, one after the other for each partition: the service
// carries them out one after the other, and lists often have members of one partition.
func (r *run) fillRows(ctx context.Context, name string, rows []fetch.Entry) error {
	var all [][]*outbox.Intent
	for i := range rows {
		primary, _ := primaryOf(r.store, &rows[i]) // the scan that follows reports the error
		if primary == nil || !r.changes(name, view.ListingOf(primary.Origin)) {
			continue
		}
		in := &outbox.Intent{Op: "backfill", Key: primary.Key, Was: primary, Known: true, Reread: true, Repeatable: true, Fill: true, Next: unchanged}
		n := len(all)
		if n == 0 || all[n-1][0].Key.Partition != in.Key.Partition {
			all = append(all, nil)
			n++
		}
		all[n-1] = append(all[n-1], in)
	}
	window := parallel.Window{Start: r.Parallel, Max: r.Parallel}
	for res, err := range parallel.Ordered(ctx, len(all), window, func(ctx context.Context, i int) (filled, error) {
		return r.fillPartition(ctx, all[i])
	}) {
		st := &r.state.Report
		st.Filled += res.done
		st.Requests.Fill += res.requests
		for _, f := range res.failures {
			st.fail(f.Primary, f.Err)
		}
		r.sent += res.requests
		if err != nil {
			return err
		}
	}
	return nil
}

// fillPartition changes primaries of one partition.
func (r *run) fillPartition(ctx context.Context, ins []*outbox.Intent) (all filled, err error) {
	for some := range slices.Chunk(ins, maxIntents) {
		one, err := r.fillTogether(ctx, some)
		all.add(one)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// changes reports whether a change of a primary with that listing adds the rows of the view,
// or removes those of a retired view.
func (r *run) changes(name string, listing view.Listing) bool {
	return r.store.Views.Adds(name, listing) || listing.Has(name) && r.store.Views.IsRetired(name)
}

// filled is what became of some primaries.
type filled struct {
	done, requests int
	failures       []Failure
}

func (f *filled) add(o filled) {
	f.done += o.done
	f.requests += o.requests
	f.failures = append(f.failures, o.failures...)
}

// fillTogether changes primaries in one transaction or, if it fails, each in its own.
func (r *run) fillTogether(ctx context.Context, ins []*outbox.Intent) (res filled, err error) {
	requests, err := r.store.Requests(ctx, ins)
	if err == nil {
		_, err = r.store.RunAll(ctx, ins)
	}
	switch {
	case err == nil:
		res.done, res.requests = len(ins), requests
		return res, nil
	case interrupts(ctx, err):
		return res, err
	case len(ins) == 1:
		res.failures = []Failure{{ins[0].Key, err}}
		return res, nil
	}
	for _, in := range ins {
		one, err := r.fillTogether(ctx, []*outbox.Intent{in})
		res.add(one)
		if err != nil {
			return res, err
		}
	}
	return res, nil
}

// unchanged is the [outbox.Intent.Next] of a primary that only gets its derived rows, unless
// it was deleted.
func unchanged(was *txn.Record) (any, error) {
	if was == nil {
		return nil, nil
	}
	return was.Value, nil
}
