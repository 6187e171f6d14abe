package reindex

import (
	"context"
	"errors"
	"slices"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns"
)

// together carries out intents on primaries of one partition, in one transaction or, if that
// fails, each in its own. It adds the requests to a count, and the rows that were not corrected to
// those that failed. A dry run only computes what that would take.
func (r *run) together(ctx context.Context, ins []*outbox.Intent, requests *int, res *result) error {
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
		for range max(1, ins[0].Corrects) {
			res.fail(ins[0].Key, err)
		}
	default:
		for i := range ins {
			if err := r.together(ctx, ins[i:i+1], requests, res); err != nil {
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
	var e *patterns.Error
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
	var lists [][]*outbox.Intent // by partition
	for i := range rows {
		in := r.store.Filling(&rows[i], r.Fill) // the scan that follows reports what cannot be read
		if in == nil {
			continue
		}
		n := len(lists)
		if n == 0 || lists[n-1][0].Key.Partition != in.Key.Partition {
			lists, n = append(lists, nil), n+1
		}
		lists[n-1] = append(lists[n-1], in)
	}
	_, err := r.each(ctx, len(lists), func(ctx context.Context, i int, res *result) error {
		for some := range slices.Chunk(lists[i], maxFilled) {
			failed := res.Failed
			if err := r.together(ctx, some, &res.Requests.Fill, res); err != nil {
				return err
			}
			res.Filled += len(some) - (res.Failed - failed)
		}
		return nil
	})
	return err
}
