package reindex_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// damage plants errors of every kind in a correct world of n persons, and returns the
// findings that they are.
func (w *world) damage(t testing.TB, n, errors int) map[reindex.Finding]bool {
	t.Helper()
	chance := rand.New(rand.NewPCG(1, uint64(n)))
	want := map[reindex.Finding]bool{}
	tables := []*aztables.Client{w.people, w.badges}
	content := []map[keys.Key]row{w.rows(t, w.people), w.rows(t, w.badges)}
	people := chance.Perm(n)[:errors]
	for i, number := range people {
		p := personOf(number)
		v := i % 3
		d := assert.Must(assert.Must(w.Views()[v].Engine())(t).Rows(p))(t)[0]
		table, view := tables[v%2], w.Views()[v].Name()
		stored := content[v%2][d.Key]
		f := reindex.Finding{Kind: reindex.Missing, View: view, Row: d.Key, Primary: p.key()}
		switch kind := i / 3 % 3; {
		case v == 2 && kind == 2: // a member that is no primary
			f.Kind, f.Primary.Row = reindex.Orphan, fmt.Sprintf("id_x%05d", i)
			stored["Members"] = stored["Members"].(string)[:len(stored["Members"].(string))-1] + `,"` + f.Primary.Partition + "/" + f.Primary.Row + `"]`
			plant(t, table, []row{stored})
		case v == 2: // a member is missing
			stored["Members"] = without(t, stored["Members"].(string), p.PartitionKey+"/"+p.RowKey)
			plant(t, table, []row{stored})
		case kind == 0:
			_, err := table.DeleteEntity(t.Context(), d.Key.Partition, d.Key.Row, nil)
			assert.NoError(t, err)
		case kind == 1:
			f.Kind = reindex.Wrong
			wrong := maps.Clone(stored)
			wrong["Name"] = "changed"
			plant(t, table, []row{wrong})
		default:
			f.Kind = reindex.Orphan
			f.Row.Row += "x"
			plant(t, table, []row{at(f.Row, stored)})
		}
		want[f] = true
	}
	return want
}

func TestEveryPlantedErrorIsFoundAndRepairedAndNothingElseIsTouched(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account) // a refused request would be sent again
		n := size(t, 1000)
		errors := max(100, n/100)
		w := newWorld(t, b)
		assert.NoError(t, w.Create(t.Context())) // which records the owner of the views
		w.fill(t, n, true)
		people, badges := w.rows(t, w.people), w.rows(t, w.badges)
		want := w.damage(t, n, errors)

		got := map[reindex.Finding]bool{}
		for f, err := range reindex.Verify(t.Context(), w.Store, "", nil) {
			assert.NoError(t, err)
			if got[f] || !want[f] {
				t.Errorf("%v, which is no planted error or was yielded twice", f)
			}
			got[f] = true
		}
		for f := range want {
			if !got[f] {
				t.Errorf("not found: %v", f)
			}
		}
		w.requests()
		planned := assert.Must(reindex.Repair(t.Context(), w.Store, "", &reindex.Options{DryRun: true}))(t)
		if requests := w.requests(); requests != planned.Requests.Total()-planned.Requests.Repair || planned.Repaired != 0 {
			t.Errorf("a dry run of %d requests: %+v", requests, planned)
		}
		began := time.Now()
		assert.Equal(t, planned.Estimate(), planned.Requests, "the estimate is")
		report := assert.Must(reindex.Repair(t.Context(), w.Store, "", nil))(t)
		t.Logf("%d primaries, %d errors: %v, %+v", n, errors, time.Since(began), report.Requests)
		if report.Repaired != len(want) || report.Failed != 0 || report.Undecided != 0 {
			t.Errorf("%+v, want %d repairs", report, len(want))
		}
		if requests := w.requests(); requests != report.Requests.Total() || report.Requests != planned.Requests {
			t.Errorf("%d requests, reported %+v, planned %+v", requests, report.Requests, planned.Requests)
		}
		if !reflect.DeepEqual(w.rows(t, w.people), people) || !reflect.DeepEqual(w.rows(t, w.badges), badges) {
			t.Error("the tables differ from those before the errors were planted")
		}
	})
}

// A row in the partition of its entity takes two requests, whatever number of rows of the partition
// is wrong. A remote row takes those of the outbox protocol.
func TestTheRowsOfAPartitionAreRepairedTogether(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			name            string
			view, errors    int
			confirm, repair int
		}{
			{"one row of the partition", 0, 1, 1, 1},
			{"twenty rows of the partition", 0, 20, 1, 1},
			// Entity, outbox rows, row, entity; message, transaction, write, entity, two deletes.
			{"one row of another table", 1, 1, 4, 6},
			{"twenty rows of another partition", 1, 20, 4, 4 + 2*20},
			{"one member of a list", 2, 1, 4, 6},
		} {
			w := newWorld(t, b)
			w.fill(t, 50, true)
			people, badges := w.rows(t, w.people), w.rows(t, w.badges)
			for i := range c.errors {
				p := personOf(2 * i)
				key := assert.Must(assert.Must(w.Views()[c.view].Engine())(t).Rows(p))(t)[0].Key
				switch c.view {
				case 2:
					list := maps.Clone(people[key])
					list["Members"] = without(t, list["Members"].(string), p.PartitionKey+"/"+p.RowKey)
					plant(t, w.people, []row{list})
				default:
					_, err := []*aztables.Client{w.people, w.badges}[c.view].DeleteEntity(t.Context(), key.Partition, key.Row, nil)
					assert.NoError(t, err)
				}
			}
			w.requests()
			r := assert.Must(reindex.Repair(t.Context(), w.Store, "", nil))(t)
			if r.Repaired != c.errors || r.Requests.Confirm != c.confirm || r.Requests.Repair != c.repair || w.requests() != r.Requests.Total() {
				t.Errorf("%s: %+v, want %d requests to confirm and %d to repair", c.name, r, c.confirm, c.repair)
			}
			if !reflect.DeepEqual(w.rows(t, w.people), people) || !reflect.DeepEqual(w.rows(t, w.badges), badges) {
				t.Errorf("%s: not all rows were repaired", c.name)
			}
		}
	})
}

// without returns a JSON array of texts without one of them.
func without(t testing.TB, members, member string) string {
	t.Helper()
	all := parse(t, members)
	kept := []string{}
	for _, m := range all {
		if m != member {
			kept = append(kept, m)
		}
	}
	if len(kept) != len(all)-1 {
		t.Fatalf("%q is no member", member)
	}
	return format(t, kept)
}

func TestBackfillStoresTheRowsOfAView(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		n := size(t, 200)
		w := newWorld(t, b)
		w.fill(t, n, true)
		people, badges := w.rows(t, w.people), w.rows(t, w.badges)

		w = newWorld(t, b)
		all := w.Views()
		w.fill(t, n, false)
		for i := range all {
			w.Store = w.open(t, all[:i+1]...)
			assert.NoError(t, w.Store.Create(t.Context()))
			w.requests()
			began := time.Now()
			report, checked := w.backfill(t, all[i].Name(), patterns.ViewBuilding)
			t.Logf("%s, %d primaries: %v, %+v", all[i].Name(), n, time.Since(began), report.Requests)
			requests := w.requests()
			w.wantState(t, all[i].Name(), patterns.ViewReady)
			if report.Filled != n || report.Failed != 0 || report.Missing+report.Wrong+report.Orphan+report.Duplicate != 0 {
				t.Errorf("%+v", report)
			}
			if requests != report.Requests.Total()+checked && n < 1000 { // the log forgets the requests of a large test
				t.Errorf("%s: %d requests, reported %+v", all[i].Name(), requests, report.Requests)
			}
		}
		if !reflect.DeepEqual(w.rows(t, w.people), people) || !reflect.DeepEqual(w.rows(t, w.badges), badges) {
			t.Error("the tables differ from those that a Store has written")
		}
	})
}

func TestAViewThatAnotherPrimaryHasTheRowOfIsADuplicate(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		for i := range 2 {
			assert.Must(w.Insert(t.Context(), personOf(i)))(t)
		}
		same := personOf(1)
		same.Email = personOf(0).Email
		assert.NoError(t, w.Delete(t.Context(), same.key()))
		only := w.open(t, w.Views()[1:]...) // a program that lacks the view
		assert.Must(only.Insert(t.Context(), same))(t)
		report := assert.Must(reindex.Repair(t.Context(), w.Store, "", nil))(t)
		if report.Duplicate != 1 || report.Failed != 1 || report.Repaired != 0 {
			t.Errorf("%+v", report)
		}
		assert.WantError(t, report.Failures[0].Err, patterns.ErrExists)
	})
}

func TestBackfillRefusesAnotherDefinitionOfTheViewBeforeItChangesAnything(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.fill(t, 3, false)
		old := patterns.ViewOf("email", patterns.Shape{Kind: patterns.Copies, Version: "old"}, func(*person) ([]patterns.DerivedRow, error) { return nil, nil })
		assert.Must(reindex.Backfill(t.Context(), w.open(t, old), "email", "", nil))(t)
		before := w.rows(t, w.people)
		w.requests()
		_, err := reindex.Backfill(t.Context(), w.Store, "email", "", nil)
		if !errors.As(err, new(*patterns.ViewMismatchError)) || w.requests() != 1 {
			t.Errorf("%v", err)
		}
		assert.DeepEqual(t, w.rows(t, w.people), before, "the table was changed")
	})
}

func TestAViewIsNotReadyIfAnEntityLacksItsRow(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		same := personOf(1)
		same.Email = personOf(0).Email
		only := w.open(t, w.Views()[1:]...)
		for _, p := range []*person{personOf(0), same} {
			assert.Must(only.Insert(t.Context(), p))(t)
		}
		report := assert.Must(reindex.Backfill(t.Context(), w.Store, "email", "", nil))(t)
		if report.Filled != 1 || report.Failed == 0 {
			t.Errorf("%+v", report)
		}
		w.wantState(t, "email", patterns.ViewBuilding)
	})
}

// backfill runs Backfill and checks the state of the view at each checkpoint before the end. It returns how
// many requests the checks took.
func (w *world) backfill(t testing.TB, view, want string) (r reindex.Report, checked int) {
	t.Helper()
	r = assert.Must(reindex.Backfill(t.Context(), w.Store, view, "", &reindex.Options{Checkpoint: func(save func() (string, error)) error {
		state, err := save()
		if !strings.Contains(state, `"Kind":"complete"`) {
			checked++
			w.wantState(t, view, want)
		}
		return err
	}}))(t)
	return r, checked
}

// wantState checks the state of a view. One request.
func (w *world) wantState(t testing.TB, view, want string) {
	t.Helper()
	for _, s := range assert.Must(w.ViewStates(t.Context()))(t) {
		if s.View == view && s.State != want {
			t.Errorf("%s is %q, want %q", view, s.State, want)
		}
	}
}

// A client without Accelerate cannot change a row with a quote in its key in a transaction.
func TestBackfillReportsAPrimaryThatCannotBeChangedAndFillsTheOthers(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		ids := []string{"id_1", "id_2", "id_O'Brien", "id_😀"}
		for i, id := range ids {
			p := personOf(i)
			p.PartitionKey, p.RowKey = "dept", id
			_, err := w.Table().Insert(t.Context(), p)
			assert.NoError(t, err)
		}
		r, err := reindex.Backfill(t.Context(), w.Store, "email", "", nil)
		assert.NoError(t, err)
		if b.Accelerated {
			if r.Filled != len(ids) || r.Failed != 0 {
				t.Errorf("%+v", r)
			}
			return
		}
		if r.Filled != len(ids)-1 || len(r.Failures) == 0 {
			t.Errorf("%+v", r)
		}
		for _, f := range r.Failures {
			if f.Primary.Row != "id_O'Brien" || !errors.Is(f.Err, patterns.ErrNeedsAccelerate) {
				t.Errorf("%v: %v", f.Primary, f.Err)
			}
		}
	})
}
