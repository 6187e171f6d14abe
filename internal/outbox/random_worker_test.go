package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// repeat calls do from time to time until stop is closed.
func (r *storeRun) repeat(stop <-chan struct{}, number int, pause time.Duration, do func(*process, *rand.Rand) error) {
	p, chance := r.process(number)
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Second + time.Duration(chance.Int64N(int64(pause))).Truncate(time.Second)):
		}
		err := do(p, chance)
		number++
		pause += pause / 4 // a writer may be paused for hours
		if p.Dead() {
			p, chance = r.process(number)
		} else if !r.expected(err) || errors.As(err, new(*patterns.DuplicateError)) {
			r.Failf("process %d: %w", number, err)
		}
	}
}

// work handles one message, in some cases before its time, or while another worker does too.
func (r *storeRun) work(ctx context.Context, p *process, chance *rand.Rand) error {
	if chance.IntN(6) == 0 {
		r.queue.ShowFirst()
	}
	hide := workerHides
	if chance.IntN(6) == 0 {
		hide = 1
	}
	_, err := r.queue.WorkOne(ctx, p, hide)
	return err
}

// maintain sweeps, repairs an entity, or deletes the row of a counter, which operations may
// then create again while the repair of all entities is due.
func (r *storeRun) maintain(ctx context.Context, p *process, chance *rand.Rand) error {
	switch chance.IntN(5) {
	case 0:
		r.uncounted.Store(true)
		_, err := r.own.DeleteEntity(ctx, "company", "all", nil)
		var refused *azcore.ResponseError
		if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
			return nil
		}
		return err
	case 1, 2:
		report, err := p.Sweep(ctx, nil)
		for _, failure := range report.Failures {
			if !r.refuses() || !errors.Is(failure.Err, patterns.ErrBadView) {
				err = errors.Join(err, failure.Err)
			}
		}
		return err
	}
	h := drawHire(chance)
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	if chance.IntN(2) == 0 {
		rows, err := r.rowsOf(p, h, chance)
		if err == nil {
			err = p.Repair(ctx, h.key(), rows...)
		}
		r.Log("%s%s: repair of %v: %v", h.Dept, h.ID, rows, err)
		r.Add(h.Dept+h.ID, began, harness.Action{Kind: harness.TouchRow}, harness.Result{Outcome: harness.Unknown}, int(unanswered.Load())) // it may be that no row was wrong
		return err
	}
	err := p.Repair(ctx, h.key())
	r.record(p, h, began, harness.Action{Kind: harness.TouchRow}, "", err, int(unanswered.Load()))
	return err
}

// rowsOf returns some rows that h implies, which [patterns.Store.Repair] may be asked to repair.
func (r *storeRun) rowsOf(p *process, h *hire, chance *rand.Rand) (refs []patterns.RowRef, err error) {
	for _, v := range p.Views() {
		if v.Name() == "department" || v.Name() == r.added || chance.IntN(3) == 0 {
			continue // it is merged within the partition, or unknown to another version
		}
		engine, err := v.Engine()
		if err != nil {
			return nil, err
		}
		rows, err := engine.Rows(h)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			refs = append(refs, patterns.RowRef{View: v.Name(), Partition: row.Key.Partition, Row: row.Key.Row})
		}
	}
	return refs, nil
}

// repairAll repairs every entity: it adds up a counter whose row was deleted, and stores the
// rows of a view that an old version of the program did not have.
func (r *storeRun) repairAll(ctx context.Context) error {
	p, err := r.start(&process{})
	if err != nil {
		return err
	}
	for _, key := range every {
		began := time.Now()
		rerr := p.Repair(ctx, key.key())
		r.record(p, key, began, harness.Action{Kind: harness.TouchRow}, "", rerr, 0)
		if !errors.Is(rerr, patterns.ErrNotFound) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// expected reports whether an operation of a schedule may return err.
func (r *storeRun) expected(err error) bool {
	var duplicate *patterns.DuplicateError
	switch {
	case r.refuses() && errors.Is(err, patterns.ErrBadView):
		return true
	case !r.refuses() && errors.As(err, &duplicate) && duplicate.View == r.added:
		return false // no two entities have such a row in common
	}
	for _, e := range []error{
		patterns.ErrExists, patterns.ErrNotFound, patterns.ErrConflict, patterns.ErrOutcomeUnknown, patterns.ErrThrottled, harness.ErrLost, harness.ErrDead, errRefused,
		context.DeadlineExceeded, // of an operation that was suspended
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var status *patterns.Error
	return err == nil || errors.As(err, &status) && status.Status >= 500
}

// watch checks the invariants, after every transaction.
func (r *storeRun) watch(ctx context.Context) {
	rows, err := readTable(ctx, r.own)
	if err := errors.Join(err, inPartition(ctx, r.cluster), r.checkLookups(ctx, false), r.checkBadges(ctx), r.wholes.check(rows)); err != nil {
		r.Failf("after a transaction: %w", err)
	}
}

// checkBadges checks that no two primaries have the same badge, whose index is remote.
func (c *cluster) checkBadges(ctx context.Context) error {
	if !slices.Contains(c.views, "byBadge") {
		return nil
	}
	rows, err := readTable(ctx, c.own)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for key, p := range rows {
		if !strings.Contains(key, "|id_") {
			continue
		}
		badge := hireOf(key, p).Badge
		if other, twice := seen[badge]; twice && badge != "" {
			return fmt.Errorf("%s and %s have the badge %s", other, key, badge)
		}
		seen[badge] = key
	}
	return nil
}

// consistent checks all rows but reservations, and that every operation that was applied is
// complete. A process that was paused may have left a reservation or a fence to the sweep.
func (c *cluster) consistent(ctx context.Context) error {
	rows, err := readTable(ctx, c.own)
	if err != nil {
		return err
	}
	for key, p := range rows {
		if p["azp_state"] == "pending" {
			return fmt.Errorf("%s is pending", key)
		}
	}
	return verify(ctx, c.own, c.other, c.views, func(table, key string) bool {
		return table == "own" && (rows[key]["azp_op"] != nil || strings.Contains(key, "~azp_outbox_"))
	})
}

// sweep sweeps once, without failures.
func (c *cluster) sweep(ctx context.Context) error { return c.sweepAs(ctx, version{}) }

func (c *cluster) sweepAs(ctx context.Context, v version) error {
	p, err := c.start(&process{version: v})
	if err != nil {
		return err
	}
	report, err := p.Sweep(ctx, nil)
	for _, failure := range report.Failures {
		err = errors.Join(err, failure.Err)
	}
	return err
}
