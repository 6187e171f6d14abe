package reindex

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
)

// What a repair of rows takes if no other client interferes: see [outbox.Store.Repair].
const (
	perLocalRow  = 3 // read the row, read the primary, write
	perOperation = 6 // message, outbox row, read the primary twice, delete the outbox row and the message
	perRemoteRow = 2 // read the row, write it
)

// repair repairs the findings of one primary, or computes what that would take. It returns
// the number of requests.
func (r *run) repair(ctx context.Context, c *confirmation, primary *txn.Record, findings []Finding) (requests int, err error) {
	var refs []view.RowRef
	whole := false
	for i := range findings {
		f := &findings[i]
		ref := view.RowRef{View: f.View, Partition: f.Row.Partition, Row: f.Row.Row}
		if f.Kind == Duplicate {
			f.Err = &view.DuplicateError{View: f.View, Key: f.Row}
			continue
		}
		if blocker := c.blockers[i]; blocker != nil {
			requests += r.cost(*blocker, ref)
			if r.Repair {
				if err := r.store.Repair(ctx, *blocker, ref); err != nil && interrupts(ctx, err) {
					return requests, err
				}
			}
		}
		refs = append(refs, ref)
		v := r.views[f.View]
		localMerge := v.Shape.Kind == view.Merges && !v.Foreign() && f.Row.Partition == f.Primary.Partition
		if primary != nil && f.Kind != Orphan && (localMerge || r.store.Views.Adds(f.View, view.ListingOf(primary.Origin))) {
			whole = true
		}
	}
	if len(refs) == 0 {
		return requests, nil
	}
	if whole {
		plan, err := r.store.Explain(&outbox.Question{Op: "repair", Was: primary.Value, Now: primary.Value, Read: true, Assume: true})
		if err != nil {
			return requests, err
		}
		requests += plan.Requests
		refs = nil
	} else {
		requests += r.cost(c.primary, refs...)
	}
	if !r.Repair {
		return requests, nil
	}
	err = r.store.Repair(ctx, c.primary, refs...)
	if err != nil && interrupts(ctx, err) {
		return requests, err
	}
	for i := range findings {
		if f := &findings[i]; f.Kind != Duplicate {
			f.Repaired, f.Err = err == nil, err
		}
	}
	return requests, nil
}

// cost returns the requests of a repair of rows of a primary.
func (r *run) cost(primary keys.Key, refs ...view.RowRef) (requests int) {
	remote := 0
	for _, ref := range refs {
		v := r.views[ref.View]
		switch {
		case !v.Foreign() && ref.Partition == primary.Partition:
			requests += perLocalRow
		case v.Shape.Kind == view.Merges:
			remote += perRemoteRow + 1 // the mark
		default:
			remote += perRemoteRow
		}
	}
	if remote > 0 {
		requests += perOperation + remote
	}
	return requests
}
