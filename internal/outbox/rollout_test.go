package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// without is the version of the program without the view.
func (r *storeRun) without() version {
	return version{views: slices.DeleteFunc(slices.Clone(r.views), func(view string) bool { return view == r.added })}
}

// refuses reports whether one of the versions refuses entities that the other has changed.
func (r *storeRun) refuses() bool { return r.added != "" && r.phase == 0 }

// rollOut adds a view to a table and removes it again, by the documented steps. In each step
// programs of two versions write, and no operation fails because of the other version. The
// caller runs the last step, in which programs that remove the view meet programs without it.
func (r *storeRun) rollOut(ctx context.Context) {
	all := r.views
	old, building := r.without(), version{views: all, building: []string{r.added}}
	full, retired := version{views: all}, version{views: all, retired: []string{r.added}}
	step := func(a, b version) {
		r.phase++
		r.versions = []version{a, b}
		if r.IntN(2) == 0 {
			r.versions = []version{b, a}
		}
		r.compete(ctx)
	}

	step(old, building)
	r.unlisted(ctx)
	step(building, full)
	r.WaitLate()
	r.changeAll(ctx, full)
	r.check("the view is added", r.consistent(ctx))

	if r.IntN(2) == 0 {
		step(full, building)
		step(building, retired)
	} else { // entities have no row in common, so uniqueness does not matter
		step(full, retired)
	}
	r.WaitLate()
	r.changeAll(ctx, retired)
	r.views = old.views
	r.check("the view is removed", r.consistent(ctx))
	r.unlisted(ctx)
	r.phase++
	r.versions = []version{retired, old}
}

// changeAll changes every entity as a program of the given version does, which adds its views
// and removes those that are retired, and completes all operations.
func (r *storeRun) changeAll(ctx context.Context, v version) {
	p, err := r.start(&process{version: v})
	r.check("start", err)
	first, last := patterns.ViewBuilding, patterns.ViewReady
	if v.retired != nil {
		first, last = patterns.ViewRetiring, ""
	}
	r.check("first state", p.SetViewState(ctx, r.added, first))
	for _, h := range every {
		began := time.Now()
		if r.IntN(2) == 0 || r.uncounted.Load() { // a repair adds up a deleted counter
			err = p.Repair(ctx, h.key())
		} else {
			_, err = p.Update(ctx, h.key(), func(*hire) error { return nil })
		}
		r.record(p, h, began, harness.Action{Kind: harness.TouchRow}, "", err, 0)
		if !errors.Is(err, patterns.ErrNotFound) {
			r.check("change", err)
		}
	}
	r.check("recovery of the change", r.recoverAs(ctx, v))
	r.check("last state", p.SetViewState(ctx, r.added, last))
}

// unlisted checks that no entity lists the view, and that no row of it exists. A sum row stays.
func (r *storeRun) unlisted(ctx context.Context) {
	own, err1 := readTable(ctx, r.own)
	other, err2 := readTable(ctx, r.other)
	r.check("read", errors.Join(err1, err2))
	for _, rows := range []map[string]map[string]any{own, other} {
		for key, p := range rows {
			listing, _ := p["azp_views"].(string)
			merged, _ := p["azp_merged"].(string)
			of := p["azp_view"] == r.added && !strings.Contains(key, "|~azp_sum_") || strings.Contains(merged, r.added)
			if of || strings.Contains(listing, r.added+":") && !strings.Contains(key, "|~azp_outbox_") {
				r.Failf("version %d: %w", r.phase, fmt.Errorf("%s: %v", key, p))
			}
		}
	}
}
