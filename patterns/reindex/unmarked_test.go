package reindex_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

func TestCorrectCopiesWithoutMarksTakeOnePassAndNoOtherRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 600, false)
		b.ResetRequests()
		report := assert.Must(reindex.Repair(t.Context(), s.Store, "", &reindex.Options{Differences: 100}))(t)
		if report.Missing+report.Wrong+report.Orphan+report.Duplicate+report.Failed+report.Undecided > 0 || report.Passes != 1 || report.Primaries != 600 {
			t.Errorf("%+v", report)
		}
		b.WantRequestCount(t, 2) // 1200 rows
		strict := &reindex.Options{Strict: true}
		assert.Equal(t, len(assert.All(t, reindex.Verify(t.Context(), s.Store, "", strict))), 600, "strict", "findings, want 600")
		report = assert.Must(reindex.Backfill(t.Context(), s.Store, "customer", "", nil))(t)
		if report.Filled != 600 || report.Missing+report.Wrong+report.Duplicate > 0 {
			t.Errorf("backfill: %+v", report)
		}
		if all := assert.All(t, reindex.Verify(t.Context(), s.Store, "", strict)); len(all) > 0 {
			t.Errorf("strict, after a backfill: %v", all)
		}
	})
}

// Slim copies may have properties of other programs, which are not compared, with marks and without.
func TestCorrectSlimCopiesWithAFurtherPropertyTakeOnePassAndNoOtherRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, plain := range []bool{true, false} {
			s := newShop(t, b, 0, plain, "ID", "Total")
			var rows []row
			for i := range 600 {
				r := oldOrder(i)
				rows = append(rows, at(oldKey(i), r), at(oldCopyKey(i), row{"ID": r["ID"], "Total": r["Total"], "Indexed": "by hand"}))
			}
			plant(t, s.client, rows)
			b.ResetRequests()
			report := assert.Must(reindex.Repair(t.Context(), s.Store, "", &reindex.Options{Differences: 100}))(t)
			if report.Missing+report.Wrong+report.Orphan+report.Duplicate+report.Failed+report.Undecided > 0 || report.Passes != 1 {
				t.Errorf("plain %v: %+v", plain, report)
			}
			b.WantRequestCount(t, 2) // 1200 rows
		}
	})
}

// found describes a finding.
func found(f reindex.Finding) string { return fmt.Sprint(f.Kind, " ", f.Row, " of ", f.Primary) }

// mixed stores n orders, some by a Store and some by another program, with copies in all conditions,
// so many of each that a sketch holds them or not. It returns the findings, sorted.
func (s *shop) mixed(t testing.TB, rnd *rand.Rand, n int) (want []string) {
	t.Helper()
	assert.Must(s.Insert(t.Context(), &order{PartitionKey: "shop00", RowKey: "id_x", ID: "x", Customer: "x"}))(t)
	var first row
	for _, r := range (&world{}).rows(t, s.client) {
		if r["azp_views"] != nil {
			first = r
		}
	}
	assert.NoError(t, s.Delete(t.Context(), keys.Key{Partition: "shop00", Row: "id_x"}))
	var usual, listed, damaged = rnd.IntN(7), rnd.IntN(101), []int{0, 2, 30}[rnd.IntN(3)]
	var rows []row
	for i := range n {
		primary, copied := at(oldKey(i), oldOrder(i)), at(oldCopyKey(i), oldOrder(i))
		if rnd.IntN(100) < listed {
			primary["azp_views"] = first["azp_views"]
		}
		owner, condition := oldKey(i), usual%2
		if rnd.IntN(100) < 3 {
			condition = 1 - condition
		}
		if rnd.IntN(100) < damaged {
			condition = 2 + rnd.IntN(4)
		}
		add := func(kind reindex.Kind, primary keys.Key) {
			want = append(want, found(reindex.Finding{Kind: kind, Row: oldCopyKey(i), Primary: primary}))
		}
		if condition != 1 && condition != 3 {
			copied["azp_view"], copied["azp_pk"] = "customer", owner.Partition
		}
		switch condition {
		case 2: // marked, and wrong
			copied["Note"] = "wrong"
			add(reindex.Wrong, owner)
		case 3: // not marked, and another row
			copied["Note"] = "wrong"
			add(reindex.Duplicate, owner)
		case 4: // of a primary that does not exist
			add(reindex.Missing, owner)
			owner.Row += "x"
			add(reindex.Orphan, owner)
		case 5:
			copied = nil
			add(reindex.Missing, owner)
		}
		if copied["azp_view"] != nil {
			copied["azp_rk"] = owner.Row
		}
		if rows = append(rows, primary); copied != nil {
			rows = append(rows, copied)
		}
	}
	plant(t, s.client, rows)
	slices.Sort(want)
	return want
}

func TestVerifyFindsTheSameAmongCopiesWithAndWithoutMarksHoweverManyThereAre(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for range harness.Sized(25, 5) {
			seed := rand.Uint64()
			rnd := rand.New(rand.NewPCG(seed, 0))
			n := 40 + rnd.IntN(300)
			s := newShop(t, b, 0, false)
			want := s.mixed(t, rnd, n)
			o := reindex.Options{Differences: 1 + rnd.IntN(2*n), Segments: 3}
			shared := assert.Must(reindex.NewRuns(s.Store, b.Table(t), nil))(t)
			assert.NoError(t, shared.Verify(t.Context(), "run", &o))
			if status := assert.Must(shared.Status(t.Context(), "run"))(t); status.Stage != "complete" {
				t.Errorf("seed %d: without a queue Verify returned before the end: %v", seed, status)
			}
			for kind, all := range map[string]iter.Seq2[reindex.Finding, error]{"alone": reindex.Verify(t.Context(), s.Store, "", &o), "shared": shared.Findings(t.Context(), "run")} {
				var got []string
				for f, err := range all {
					assert.NoError(t, err)
					got = append(got, found(f))
				}
				slices.Sort(got)
				assert.EqualSlices(t, got, want, kind, "seed", seed, n, "primaries:\n have")
			}
		}
	})
}

// One more pass names the primaries of rows that are missing among more rows without marks than a
// sketch holds.
func TestMissingRowsAmongManyWithoutMarksTakeOneMorePass(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct{ n, differences, passes int }{{50, 100, 1}, {600, 100, 2}} {
			s := newShop(t, b, c.n, false)
			var want []keys.Key
			for _, i := range []int{3, 11, 17} {
				k := oldCopyKey(i)
				assert.Must(s.client.DeleteEntity(t.Context(), k.Partition, k.Row, nil))(t)
				want = append(want, k)
			}
			var report reindex.Report
			var got []keys.Key
			for f, err := range reindex.Verify(t.Context(), s.Store, "", &reindex.Options{Differences: c.differences, Report: &report}) {
				assert.NoError(t, err)
				got = append(got, f.Row)
			}
			slices.SortFunc(got, keys.Key.Compare)
			slices.SortFunc(want, keys.Key.Compare)
			if !slices.Equal(got, want) || report.Passes != c.passes || report.Rows != 2*c.n-3 {
				t.Errorf("%d primaries: %v, %+v", c.n, got, report)
			}
		}
	})
}
