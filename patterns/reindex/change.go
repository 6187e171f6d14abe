package reindex

import (
	"context"
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// result is what became of some primaries.
type result struct {
	Report
	findings []Finding
}

// each calls do for 0 to n-1, concurrently, and use with each result in order.
func (r *run) each(ctx context.Context, n int, do func(ctx context.Context, i int) (result, error), use func(*result) error) error {
	window := parallel.Window{Start: r.Parallel, Max: r.Parallel}
	for res, err := range parallel.Ordered(ctx, n, window, do) {
		r.report.add(&res.Report)
		r.sent += res.Requests.Confirm + res.Requests.Fill
		if r.Repair {
			r.sent += res.Requests.Repair
		}
		if err == nil && use != nil {
			err = use(&res)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// intent returns the intent to correct rows of a primary, nil if there is none, without changing it.
func intent(op string, key keys.Key, primary *txn.Record) *outbox.Intent {
	return &outbox.Intent{Op: op, Key: key, Was: primary, Known: true, Reread: true, Repeatable: true, Next: func(was *txn.Record) (any, error) {
		if was == nil { // it was deleted
			return nil, nil
		}
		return was.Value, nil
	}}
}

// together carries out intents on primaries of one partition, in one transaction or, if that
// fails, each in its own. It returns the error of each, and adds the requests to a count. If the
// run only verifies, it computes what that would take.
func (r *run) together(ctx context.Context, ins []*outbox.Intent, requests *int) (errs []error, err error) {
	n, err := r.store.Requests(ctx, ins)
	if err == nil && r.Repair {
		_, err = r.store.RunAll(ctx, ins)
	}
	switch {
	case err == nil:
		*requests += n
		return make([]error, len(ins)), nil
	case interrupts(ctx, err):
		return nil, err
	case len(ins) == 1:
		return []error{err}, nil
	}
	for _, in := range ins {
		one, err := r.together(ctx, []*outbox.Intent{in}, requests)
		if err != nil {
			return nil, err
		}
		errs = append(errs, one...)
	}
	return errs, nil
}

// interrupts reports whether err, of a request, means that the run should be continued
// later, rather than with other primaries. A change that was refused before it was sent
// concerns its primary only.
func interrupts(ctx context.Context, err error) bool {
	var e *azerr.Error
	if ctx.Err() == nil && (errors.Is(err, patterns.ErrNeedsAccelerate) || errors.Is(err, patterns.ErrTooLarge)) {
		return false
	}
	return ctx.Err() != nil || errors.Is(err, patterns.ErrThrottled) || errors.As(err, &e) && (e.Status == 0 || e.Status >= 500 || e.Status == 403)
}

// maxFilled is how many primaries a transaction fills. Each takes a row of it, and another
// one for each local row of the view.
const maxFilled = 49

// fill changes the primaries of a page that do not list the view to be added, or list the one
// to be removed, in transactions of several primaries of one partition. Those of a partition
// are sent one after the other: the service carries them out so, and lists often have members of one
// partition.
func (r *run) fill(ctx context.Context, rows []fetch.Entry) error {
	var all [][]*outbox.Intent
	for i := range rows {
		primary, err := r.store.PrimaryOf(&rows[i])
		if err != nil || primary == nil {
			continue // the scan that follows reports the error
		}
		listing := view.ListingOf(primary.Origin)
		if !r.store.Views.Adds(r.Fill, listing) && !(listing.Has(r.Fill) && r.store.Views.IsRetired(r.Fill)) {
			continue
		}
		in := intent("backfill", primary.Key, primary)
		in.Fill = true
		n := len(all)
		if n == 0 || all[n-1][0].Key.Partition != in.Key.Partition {
			all = append(all, nil)
			n++
		}
		all[n-1] = append(all[n-1], in)
	}
	return r.each(ctx, len(all), func(ctx context.Context, i int) (res result, err error) {
		for some := range slices.Chunk(all[i], maxFilled) {
			errs, err := r.together(ctx, some, &res.Requests.Fill)
			for i, err := range errs {
				if err == nil {
					res.Filled++
				} else {
					res.fail(some[i].Key, err)
				}
			}
			if err != nil {
				return res, err
			}
		}
		return res, nil
	}, nil)
}

// repair repairs rows of one partition, which are findings, or computes what that would take.
func (r *run) repair(ctx context.Context, rows []suspect, findings []Finding, res *result) error {
	byPrimary := [2]map[keys.Key]*outbox.Intent{{}, {}} // that repair rows, or all rows of a primary
	var ins [2][]*outbox.Intent
	which := make([]int, len(rows))
	for i := range rows {
		s := &rows[i]
		if findings[i].Kind == Duplicate {
			res.fail(s.Primary, &view.DuplicateError{View: s.Ref.View, Key: s.Ref.Key()})
			continue
		}
		if s.claim.Wanted && (s.merged() && !s.remote() || r.store.Views.Adds(s.Ref.View, view.ListingOf(s.primary.Origin))) {
			which[i] = 1
		}
		in := byPrimary[which[i]][s.Primary]
		if in == nil {
			in = intent("repair", s.Primary, s.primary)
			in.Repair, byPrimary[which[i]][s.Primary] = true, in
			ins[which[i]] = append(ins[which[i]], in)
		}
		if which[i] == 0 {
			if in.Found == nil {
				in.Found = map[view.RowRef]view.Found{}
			}
			in.Rows, in.Found[s.Ref] = append(in.Rows, s.Ref), s.found
		}
		if s.other != nil {
			res.Requests.Repair++ // to read the primary that the row belonged to
		}
	}
	errs := map[*outbox.Intent]error{}
	for _, some := range ins {
		if len(some) == 0 {
			continue
		}
		each, err := r.together(ctx, some, &res.Requests.Repair)
		if err != nil {
			return err
		}
		for i, in := range some {
			errs[in] = each[i]
		}
	}
	for i := range rows {
		switch in := byPrimary[which[i]][rows[i].Primary]; {
		case findings[i].Kind == Duplicate || !r.Repair:
		case errs[in] == nil:
			res.Repaired++
		default:
			res.fail(rows[i].Primary, errs[in])
		}
	}
	return nil
}
