package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
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
// and removes those that are retired, while other programs of this version write. Then it
// completes all operations.
func (r *storeRun) changeAll(ctx context.Context, v version) {
	p, err := r.start(&process{version: v, sending: func(string, string) { time.Sleep(5 * time.Second) }})
	r.check("start", err)
	first, last := patterns.ViewBuilding, patterns.ViewReady
	if v.retired != nil {
		first, last = patterns.ViewRetiring, ""
	}
	r.check("first state", p.SetViewState(ctx, r.added, first))
	r.phase++
	r.versions = []version{v, v}
	change := func(h *hire) error {
		_, err := p.Update(ctx, h.key(), func(*hire) error { return nil })
		return err
	}
	repair := func(h *hire) error { return p.Repair(ctx, h.key()) }
	each := func(do func(*hire) error) {
		for _, h := range every {
			began := time.Now()
			err := do(h)
			r.record(p, h, began, harness.Action{Kind: harness.TouchRow}, "", err, 0)
			if !errors.Is(err, patterns.ErrNotFound) {
				r.check("change", err)
			}
		}
	}
	do := change
	if r.IntN(2) == 0 {
		do = repair
	}
	var pass sync.WaitGroup
	pass.Go(func() { each(do) })
	r.compete(ctx)
	pass.Wait()
	r.WaitLate()
	r.check("recovery of the change", r.recoverAs(ctx, v))
	if r.uncounted.Load() {
		each(repair) // adds up a counter whose row was deleted
		r.check("recovery of the repair", r.recoverAs(ctx, v))
	}
	if v.retired != nil { // later programs can neither release a reservation of the view nor remove a lookup row that arrived late
		wait := 3 * testGrace
		if r.added == "byLookup" {
			wait = r.expiry + testGrace
		}
		time.Sleep(wait)
		r.check("sweep", r.sweepAs(ctx, v))
		r.check("recovery from the sweep", r.recoverAs(ctx, v))
	}
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

// A program for which a view is building runs next to one without the view, and later next to
// one that has it.
func TestABuildingViewIsKeptUpToDateAndNotAdded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		views := []patterns.View[hire]{emails("", asIs)}
		old := assert.Must(newHires(client, patterns.StoreOptions[hire]{}))(t)
		building := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: views, Building: []string{"emails"}}))(t)
		full := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: views}))(t)
		h := jones()
		email := func(to string) func(*hire) error {
			return func(h *hire) error { h.Email = to; return nil }
		}
		wantCopies := func(emails ...string) {
			t.Helper()
			rows := assert.Must(readTable(ctx, client))(t)
			for _, e := range emails {
				if rows["Sales|mail_"+e] == nil {
					t.Errorf("no copy for %s", e)
				}
			}
			assert.Equal(t, len(rows), 1+len(emails), rows)
		}
		assert.NoError(t, assert.ErrorOf(building.Insert(ctx, h)))
		b.ResetRequests()
		_, err1 := building.Update(ctx, h.key(), email("a"))
		b.WantRequestCount(t, 2)
		_, err2 := old.Update(ctx, h.key(), email("b"))
		err3 := building.Repair(ctx, h.key())
		err4 := building.Repair(ctx, h.key(), patterns.RowRef{View: "emails", Partition: h.Dept, Row: "mail_b"})
		assert.NoError(t, errors.Join(err1, err2, err3, err4))
		wantCopies()

		_, err1 = full.Update(ctx, h.key(), email("c"))
		wantCopies("c")
		b.ResetRequests()
		_, err2 = building.Update(ctx, h.key(), email("d"))
		b.WantRequestCount(t, 2)
		wantCopies("d")
		_, err3 = full.Update(ctx, h.key(), email("e"))
		wantCopies("e")
		err4 = building.Delete(ctx, h.key())
		assert.NoError(t, errors.Join(err1, err2, err3, err4))
		rows, err := readTable(ctx, client)
		if assert.NoError(t, err); len(rows) > 0 {
			t.Errorf("%v", rows)
		}
	})
}

func TestAChangeRemovesTheRowsOfARetiredViewThatTheStoreHas(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		views := []patterns.View[hire]{emails("", asIs), headOf()}
		full := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: views}))(t)
		retired := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: views, Retired: []string{"emails", "department"}}))(t)
		lacks := assert.Must(newHires(client, patterns.StoreOptions[hire]{}))(t)
		h, other := jones(), &hire{Dept: "Sales", ID: "1", Email: "other", Head: true}
		for _, h := range []*hire{h, other} {
			assert.NoError(t, assert.ErrorOf(full.Insert(ctx, h)))
		}
		change := func(h *hire) error { h.Age++; return nil }
		_, err1 := retired.Update(ctx, h.key(), change)
		_, err2 := full.Update(ctx, h.key(), change) // adds the rows again
		_, err3 := retired.Update(ctx, h.key(), change)
		_, err4 := retired.Update(ctx, other.key(), change)
		_, err5 := lacks.Update(ctx, h.key(), change)
		rows, err6 := readTable(ctx, client)
		assert.NoError(t, errors.Join(err1, err2, err3, err4, err5, err6))
		assert.Equal(assert.Now(t), len(rows), 3)
		assert.Equal(t, show(rows["Sales|department"]), `{"Count":0,"azp_state":"part"}`)
	})
}

// A program that no longer has the code of a view leaves rows behind, which one with the view
// reads before it writes.
func TestARowThatAProgramWithoutTheViewLeftBehindIsReadBeforeItIsReplaced(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		full := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{emails("", asIs)}}))(t)
		gone := assert.Must(newHires(client, patterns.StoreOptions[hire]{Retired: []string{"emails"}}))(t)
		email := func(to string) func(*hire) error {
			return func(h *hire) error { h.Email = to; return nil }
		}
		first, second := &hire{Dept: "Sales", ID: "1", Email: "a"}, &hire{Dept: "Sales", ID: "2", Email: "a"}
		_, err1 := full.Insert(ctx, first)
		_, err2 := gone.Update(ctx, first.key(), email("b")) // the copy mail_a stays
		_, err3 := full.Insert(ctx, second)                  // and is free
		assert.NoError(t, errors.Join(err1, err2, err3))
		if _, err := full.Update(ctx, first.key(), email("a")); !errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("the copy of another entity: %v", err)
		}
		_, err1 = full.Update(ctx, first.key(), email("c"))
		_, err2 = gone.Update(ctx, first.key(), func(*hire) error { return nil })
		_, err3 = full.Update(ctx, first.key(), func(h *hire) error { h.Age++; return nil })
		rows, err4 := readTable(ctx, client)
		assert.NoError(t, errors.Join(err1, err2, err3, err4))
		if rows["Sales|mail_a"]["azp_rk"] != "id_2" || rows["Sales|mail_c"]["azp_rk"] != "id_1" || rows["Sales|mail_c"]["Age"] != 1.0 || len(rows) != 4 {
			t.Errorf("%v", rows)
		}
	})
}

func TestABuildingViewIsOneOfTheViewsAndNotRetired(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, opts := range []patterns.StoreOptions[hire]{
			{Building: []string{"emails"}},
			{Views: []patterns.View[hire]{emails("", asIs)}, Building: []string{"emails"}, Retired: []string{"emails"}},
		} {
			var named *patterns.ViewError
			if _, err := newHires(b.Table(t), opts); !errors.Is(err, patterns.ErrBadView) || !errors.As(err, &named) || named.View != "emails" {
				t.Error(err)
			}
		}
	})
}
