package reindex

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
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
	var local []outbox.LocalRow // that nothing prevents from being written as they were read
	var localRefs, refs []view.RowRef
	whole := false
	for i := range findings {
		f, s := &findings[i], &c.rows[i]
		if f.Kind == Duplicate {
			f.Err = &view.DuplicateError{View: f.View, Key: f.Row}
			continue
		}
		merged := s.claim.View.Shape.Kind == view.Merges
		isLocal := !c.remote(*s)
		if primary != nil && f.Kind != Orphan && (merged && isLocal || r.store.Views.Adds(f.View, view.ListingOf(primary.Origin))) {
			whole = true
		}
		if blocker := c.blockers[i]; blocker != nil {
			requests += r.cost(*blocker, s.ref)
			if r.Repair {
				if err := r.store.Repair(ctx, *blocker, s.ref); err != nil && interrupts(ctx, err) {
					return requests, err
				}
			}
		} else if isLocal && !merged && len(local) < wire.MaxBatchOps-1 {
			local = append(local, outbox.LocalRow{View: s.claim.View, Key: f.Row, Found: s.found.Row})
			localRefs = append(localRefs, s.ref)
			continue
		}
		refs = append(refs, s.ref)
	}
	switch {
	case whole:
		plan, err := r.store.Explain(&outbox.Question{Op: "repair", Was: primary.Value, Now: primary.Value, Read: true, Assume: true})
		if err != nil {
			return requests, err
		}
		requests += plan.Requests
		local, refs = nil, nil
	case len(local) > 0:
		requests += 1 + r.cost(c.primary, refs...)
	case len(refs) > 0:
		requests += r.cost(c.primary, refs...)
	default:
		return requests, nil
	}
	if !r.Repair {
		return requests, nil
	}
	if len(local) > 0 {
		if err = r.store.RepairLocal(ctx, c.primary, primary, local...); errors.Is(err, view.ErrRaced) {
			refs, err = append(refs, localRefs...), nil
		}
	}
	if err == nil && (whole || len(refs) > 0) {
		err = r.store.Repair(ctx, c.primary, refs...)
	}
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
