package reindex

import (
	"context"
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

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
// fails, each in its own. It adds the requests to a count, and the errors to failed. A dry run
// only computes what that would take.
func (r *run) together(ctx context.Context, ins []*outbox.Intent, requests *int, failed map[*outbox.Intent]error) error {
	if len(ins) == 0 {
		return nil
	}
	n, err := r.store.Requests(ctx, ins)
	if err == nil && !r.DryRun {
		_, err = r.store.RunAll(ctx, ins)
	}
	switch {
	case err == nil:
		*requests += n
	case interrupts(ctx, err):
		return err
	case len(ins) == 1:
		failed[ins[0]] = err
	default:
		for i := range ins {
			if err := r.together(ctx, ins[i:i+1], requests, failed); err != nil {
				return err
			}
		}
	}
	return nil
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
	var all []*outbox.Intent
	for i := range rows {
		primary, err := r.store.PrimaryOf(&rows[i])
		if err != nil || primary == nil {
			continue // the scan that follows reports the error
		}
		listing := view.ListingOf(primary.Origin)
		if r.store.Views.Adds(r.Fill, listing) || listing.Has(r.Fill) && r.store.Views.IsRetired(r.Fill) {
			in := intent("backfill", primary.Key, primary)
			in.Fill = true
			all = append(all, in)
		}
	}
	lists := consecutive(all, func(a, b *outbox.Intent) bool { return a.Key.Partition == b.Key.Partition })
	_, err := r.each(ctx, len(lists), func(ctx context.Context, i int, res *result) error {
		for some := range slices.Chunk(lists[i], maxFilled) {
			failed := map[*outbox.Intent]error{}
			if err := r.together(ctx, some, &res.Requests.Fill, failed); err != nil {
				return err
			}
			res.Filled += len(some) - len(failed)
			for in, err := range failed {
				res.fail(in.Key, err)
			}
		}
		return nil
	})
	return err
}

// repair repairs rows of one partition, which are findings, or computes what that would take.
func (r *run) repair(ctx context.Context, rows []suspect, res *result) error {
	type target struct {
		primary keys.Key
		whole   bool // all rows of the primary
	}
	all, ins := map[target]*outbox.Intent{}, map[bool][]*outbox.Intent{}
	of, failed := make([]*outbox.Intent, len(rows)), map[*outbox.Intent]error{}
	for i := range rows {
		s := &rows[i]
		if s.kind == Duplicate {
			of[i] = new(outbox.Intent)
			failed[of[i]] = &view.DuplicateError{View: s.Ref.View, Key: s.Ref.Key()}
			continue
		}
		at := target{s.Primary, s.claim.Wanted && (s.merged() && !s.remote() || r.store.Views.Adds(s.Ref.View, view.ListingOf(s.primary.Origin)))}
		in := all[at]
		if in == nil {
			in = intent("repair", s.Primary, s.primary)
			in.Repair, all[at] = true, in
			ins[at.whole] = append(ins[at.whole], in)
		}
		if !at.whole {
			if in.Found == nil {
				in.Found = map[view.RowRef]view.Found{}
			}
			in.Rows, in.Found[s.Ref] = append(in.Rows, s.Ref), s.found
		}
		if of[i] = in; s.other != nil {
			res.Requests.Repair++ // to read the primary that the row belonged to
		}
	}
	for _, whole := range []bool{false, true} {
		if err := r.together(ctx, ins[whole], &res.Requests.Repair, failed); err != nil {
			return err
		}
	}
	for i, in := range of {
		if err := failed[in]; err != nil {
			res.fail(rows[i].Primary, err)
		}
	}
	return nil
}
