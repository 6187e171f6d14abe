package reindex_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// layouts returns views of the kinds that world does not have.
func layouts(t testing.TB) []patterns.View[person] {
	t.Helper()
	mail := secondaryindex.Intra("mail", func(p *person) (string, bool) { return p.Email, true },
		&secondaryindex.Options[person]{Owner: func(copied *person, at keys.Key) (keys.Key, bool) {
			return keys.Key{Partition: at.Partition, Row: "id_" + strings.TrimPrefix(copied.Name, "Person ")}, strings.HasPrefix(at.Row, "mail_")
		}})
	city := func(p *person) (string, bool) { return p.City, true }
	list := indexentity.Intra("list", city, &indexentity.Options[person]{Separator: ",", Plain: true})
	merge := func(view string, rows func(*person) patterns.DerivedRow) patterns.View[person] {
		return patterns.ViewOf(view, patterns.Shape{Kind: patterns.Merges}, func(p *person) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{rows(p)}, nil
		})
	}
	return []patterns.View[person]{
		mail, list,
		merge("note", func(p *person) patterns.DerivedRow {
			return patterns.MergeRow(keys.Key{Partition: p.PartitionKey, Row: "note" + p.Badge}, patterns.MergeSpec{Set: map[string]any{"Name": p.Name}})
		}),
		merge("post", func(p *person) patterns.DerivedRow {
			return patterns.MergeRow(keys.Key{Partition: "post", Row: p.Badge}, patterns.MergeSpec{Set: map[string]any{"Name": p.Name}})
		}),
		merge("total", func(p *person) patterns.DerivedRow {
			return patterns.MergeRow(keys.Key{Partition: "total", Row: p.City}, patterns.MergeSpec{Add: map[string]any{"Count": int32(1)}})
		}),
	}
}

func TestUnmarkedAndPlainRowsAndMergedPropertiesAreVerifiedAndRepaired(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w := &world{people: b.Table(t), queue: new(countedQueue), b: b}
		w.Store = w.open(t, layouts(t)...)
		for i := range 5 {
			p := personOf(i)
			p.RowKey = "id_" + strings.TrimPrefix(p.Name, "Person ")
			assert.Must(w.Insert(t.Context(), p))(t)
		}
		for f, err := range reindex.Verify(t.Context(), w.Store, "", nil) {
			t.Errorf("nothing is wrong: %+v, %v", f, err)
		}
		good := w.rows(t, w.people)
		for k, r := range good {
			if strings.HasPrefix(k.Row, "id_") || strings.HasPrefix(k.Row, "~azp_sum_") || k.Partition == "total" && !strings.HasPrefix(k.Row, "~azp") {
				continue
			}
			isMark := strings.HasPrefix(k.Row, "~azp")
			for _, damage := range []string{"missing", "wrong"} {
				if damage == "missing" {
					assert.NoError(t, assert.ErrorOf(w.people.DeleteEntity(t.Context(), k.Partition, k.Row, nil)))
				} else {
					wrong := maps.Clone(r)
					switch {
					case isMark:
						wrong["azp_parts"] = `{"Count":7}`
					case wrong["Members"] != nil:
						wrong["Members"] = "id_0,id_nobody"
					default:
						wrong["Name"] = "Person 0x"
					}
					plant(t, w.people, []row{wrong})
				}
				report := assert.Must(reindex.Repair(t.Context(), w.Store, "", nil))(t)
				if n := report.Missing + report.Wrong + report.Orphan; n == 0 || report.Repaired != n || report.Failed > 0 {
					t.Errorf("%s %v: %+v", damage, k, report)
				}
				got := w.rows(t, w.people)
				for k := range got {
					if k.Partition == "total" && !strings.HasPrefix(k.Row, "~azp_count_") { // counters are not verified
						got[k] = good[k]
					}
				}
				if !reflect.DeepEqual(got, good) {
					t.Errorf("%s %v: %v, want %v", damage, k, got[k], r)
				}
			}
		}
	})
}

func TestEntitiesOfOtherTypesAreNoPrimaries(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b)
		w.Store = harness.NewStore(t, w.people, &patterns.StoreOptions[person]{
			Views: w.Views(), Outbox: w.queue, Primaries: query.RowKey.Prefix("id_"),
		})
		assert.Must(w.Insert(t.Context(), personOf(0)))(t)
		plant(t, w.people, []row{
			{"PartitionKey": "dept0000", "RowKey": "budget", "Name": "a budget", "Email": "budget@contoso.com"},
			{"PartitionKey": "dept0000", "RowKey": "id_damaged", "Name": 7},
		})
		report := assert.Must(reindex.Repair(t.Context(), w.Store, "", &reindex.Options{DryRun: true}))(t)
		if report.Primaries != 1 || report.Missing != 0 || report.Failed != 1 || report.Failures[0].Primary.Row != "id_damaged" {
			t.Errorf("%+v", report)
		}
	})
}
