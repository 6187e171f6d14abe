package reindex_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// order is an entity of a table that programs without the library have written.
type order struct {
	PartitionKey, RowKey string
	ID                   string
	Customer             string
	Total                float64
	Placed               time.Time
	Note                 string            // since the second release of the old program
	Address              map[string]string `table:",json"`
}

// oldOrder is the nth row of such a program, as encoding/json writes it: whole floats without a
// type, times as text in the zone of the program, rows older than a field, and a property that
// order has no field for.
func oldOrder(n int) row {
	r := row{
		"ID": fmt.Sprintf("%04d", n), "Customer": fmt.Sprintf("c%04d", n), "Total": float64(n),
		"Placed":  time.Date(2026, 3, 1, n%24, 0, 0, 120e6, time.FixedZone("", 3600*(n%5-2))).Format(time.RFC3339Nano),
		"Address": fmt.Sprintf(`{"Zip": "%04d", "City": "Bern"}`, n),
		"Courier": fmt.Sprintf("courier %d", n%3),
	}
	if n%2 == 0 {
		r["Note"] = ""
	}
	if n%3 == 0 {
		r["Total"] = float64(n) + 0.5
	}
	return r
}

func oldKey(n int) keys.Key {
	return keys.Key{Partition: fmt.Sprintf("shop%02d", n%4), Row: fmt.Sprintf("id_%04d", n)}
}

func oldCopyKey(n int) keys.Key {
	return keys.Key{Partition: oldKey(n).Partition, Row: fmt.Sprintf("customer_c%04d", n)}
}

// shop is a table of orders and full copies, which an old program has written.
type shop struct {
	client *aztables.Client
	*patterns.Store[order]
}

// newShop stores n orders and their copies. plain means that the index recognizes rows without
// markers.
func newShop(t testing.TB, b *harness.Backend, n int, plain bool, only ...string) *shop {
	s := &shop{client: b.Table(t)}
	var rows []row
	for i := range n {
		r := oldOrder(i)
		rows = append(rows, at(oldKey(i), r), at(oldCopyKey(i), r))
	}
	plant(t, s.client, rows)
	o := &secondaryindex.Options[order]{Only: only}
	so := &patterns.StoreOptions[order]{Primaries: query.RowKey.Prefix("id_")}
	if plain {
		o.Owner = func(c *order, at keys.Key) (keys.Key, bool) {
			return keys.Key{Partition: at.Partition, Row: "id_" + c.ID}, strings.HasPrefix(at.Row, "customer_")
		}
	}
	so.Views = []patterns.View[order]{secondaryindex.Intra("customer", func(o *order) (string, bool) { return o.Customer, true }, o)}
	s.Store = harness.NewStore(t, s.client, so)
	return s
}

// stored returns a row as it is stored, with its annotations, but without what the library
// adds.
func (s *shop) stored(t testing.TB, k keys.Key) row {
	t.Helper()
	var r row
	reply := assert.Must(s.client.GetEntity(t.Context(), k.Partition, k.Row, nil))(t)
	assert.NoError(t, json.Unmarshal(reply.Value, &r))
	maps.DeleteFunc(r, func(name string, _ any) bool {
		return strings.HasPrefix(name, "odata.") || strings.HasPrefix(name, "Timestamp") || strings.HasPrefix(name, "azp_") || strings.HasSuffix(name, "Key")
	})
	return r
}

func wantRow(t testing.TB, what string, got, want row) {
	t.Helper()
	assert.EqualMaps(t, got, want, what, "have")
}

func TestCorrectCopiesOfAnOldProgramHaveNoFindings(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, only := range [][]string{nil, {"ID", "Total", "Placed"}} {
			s := newShop(t, b, 60, true)
			if only != nil {
				s = newShop(t, b, 0, true, only...)
				for i := range 60 {
					r := oldOrder(i)
					plant(t, s.client, []row{at(oldKey(i), r), at(oldCopyKey(i), row{"ID": r["ID"], "Total": r["Total"], "Placed": r["Placed"], "Indexed": "by hand"})})
				}
			}
			before := harness.Rows(t, s.client)
			report := assert.Must(reindex.Repair(t.Context(), s.Store, "", nil))(t)
			if n := report.Missing + report.Wrong + report.Orphan + report.Duplicate + report.Undecided + report.Failed; n != 0 || report.Primaries != 60 {
				t.Errorf("%v: %+v", only, report)
			}
			assert.Equal(t, fmt.Sprint(harness.Rows(t, s.client)), fmt.Sprint(before), only, "rows were changed")
		}
	})
}

func TestTheSameRowInOtherTypesAndSpellingsHasNoFindingsUnlessStrict(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 4, true)
		s.respell(t)
		for _, err := range reindex.Verify(t.Context(), s.Store, "", nil) {
			t.Error("not strict: a finding", err)
		}
		assert.Equal(t, len(assert.All(t, reindex.Verify(t.Context(), s.Store, "", &reindex.Options{Strict: true}))), 4, "strict", "findings, want 4")
		before := harness.Rows(t, s.client)
		assert.Must(reindex.Repair(t.Context(), s.Store, "", nil))(t)
		assert.Equal(t, fmt.Sprint(harness.Rows(t, s.client)), fmt.Sprint(before), "a repair that is not strict changed rows")
		for range 2 { // the second finds nothing
			report := assert.Must(reindex.Repair(t.Context(), s.Store, "", &reindex.Options{Strict: true}))(t)
			if report.Failed > 0 || report.Repaired != report.Wrong {
				t.Errorf("%+v", report)
			}
		}
		for i := range 4 {
			if copied, primary := s.stored(t, oldCopyKey(i)), s.stored(t, oldKey(i)); copied["Placed"] != primary["Placed"] || copied["Total"] != primary["Total"] {
				t.Errorf("after a strict repair: %v, want %v", copied, primary)
			}
		}
		if all := assert.All(t, reindex.Verify(t.Context(), s.Store, "", &reindex.Options{Strict: true})); len(all) > 0 {
			t.Errorf("%v", all)
		}
	})
}

// respell stores the copies with other types and spellings of the same values.
func (s *shop) respell(t testing.TB) {
	t.Helper()
	for i := range 4 {
		r := oldOrder(i)
		placed := assert.Must(time.Parse(time.RFC3339Nano, r["Placed"].(string)))(t)
		r["Placed"], r["Placed@odata.type"] = placed.UTC().Format(time.RFC3339Nano), "Edm.DateTime"
		r["Total@odata.type"], r["Note"] = "Edm.Double", ""
		r["Address"] = strings.ReplaceAll(r["Address"].(string), " ", "")
		plant(t, s.client, []row{at(oldCopyKey(i), r)})
	}
}

func TestAdoptionWithoutOwnerAcceptsTheCopiesOfAnOldProgram(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 8, false)
		for i := range 4 {
			assert.Must(s.Update(t.Context(), oldKey(i), func(o *order) error { o.Customer += ""; o.Note = "changed"; return nil }))(t)
			want := oldOrder(i)
			want["Note"] = "changed"
			wantRow(t, "copy after an update", s.stored(t, oldCopyKey(i)), want)
		}
		for i := range 4 {
			assert.NoError(t, s.Repair(t.Context(), oldKey(i+4)))
			wantRow(t, "copy after a repair", s.stored(t, oldCopyKey(i+4)), oldOrder(i+4))
		}
	})
}

func TestAFullCopyKeepsThePropertiesThatTLacksAndTheTypesOfThePrimary(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, plain := range []bool{false, true} {
			s := newShop(t, b, 4, plain)
			change := func(o *order) error { o.Note += "x"; return nil }
			for round := 1; round <= 3; round++ {
				for i := range 4 {
					assert.Must(s.Update(t.Context(), oldKey(i), change))(t)
					if round == 3 {
						item := assert.Must(s.Get(t.Context(), oldKey(i)))(t)
						value := item.Value
						value.Note = "put"
						assert.Must(s.PutItem(t.Context(), item, &value))(t)
					}
					primary, copied := s.stored(t, oldKey(i)), s.stored(t, oldCopyKey(i))
					want := oldOrder(i)
					if want["Note"] = strings.Repeat("x", round); round == 3 {
						want["Note"] = "put"
					}
					wantRow(t, fmt.Sprintf("primary, plain %v, round %d", plain, round), primary, want)
					wantRow(t, fmt.Sprintf("copy, plain %v, round %d", plain, round), copied, want)
				}
			}
		}
	})
}

func TestASlimCopyKeepsThePropertiesOfOtherPrograms(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 0, true, "ID", "Note", "Total")
		for i := range 4 {
			r := oldOrder(i)
			plant(t, s.client, []row{at(oldKey(i), r), at(oldCopyKey(i), row{"ID": r["ID"], "Total": r["Total"], "Indexed": "by hand"})})
		}
		for round := range 3 {
			for i := range 4 {
				note := fmt.Sprintf("round %d", round)
				assert.Must(s.Update(t.Context(), oldKey(i), func(o *order) error { o.Note = note; return nil }))(t)
				want := row{"ID": oldOrder(i)["ID"], "Total": oldOrder(i)["Total"], "Indexed": "by hand", "Note": note}
				wantRow(t, "slim copy", s.stored(t, oldCopyKey(i)), want)
			}
		}
	})
}

func TestRepairOfUnmarkedCopiesNamesTheRemedy(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 1, false)
		all := harness.NewStore(t, s.client, &patterns.StoreOptions[order]{Views: s.Views()})
		report := assert.Must(reindex.Repair(t.Context(), all, "", nil))(t)
		assert.Equal(t, report.Failed, 1)
		assert.Contains(t, report.Failures[0].Text, "StoreOptions.Primaries")
	})
}

// A copy is recognized by its Owner also if T cannot decode one of its properties.
func TestACopyWithAPropertyThatTCannotDecodeIsWrongAndRepaired(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newShop(t, b, 4, true)
		r := oldOrder(1)
		r["Total"], r["Placed"], r["Placed@odata.type"] = "much", "7", "Edm.Int64"
		plant(t, s.client, []row{at(oldCopyKey(1), r)})
		found := assert.All(t, reindex.Verify(t.Context(), s.Store, "", nil))
		if len(found) != 1 || found[0].Kind != reindex.Wrong || found[0].Row != oldCopyKey(1) || found[0].Primary != oldKey(1) {
			t.Errorf("%+v", found)
		}
		if r := assert.Must(reindex.Repair(t.Context(), s.Store, "", nil))(t); r.Repaired != 1 || r.Failed != 0 {
			t.Errorf("%+v", r)
		}
		wantRow(t, "copy", s.stored(t, oldCopyKey(1)), oldOrder(1))
	})
}
