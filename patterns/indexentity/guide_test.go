package indexentity_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/query"
)

// person is an employee of the figures 14 and 15.
type person struct {
	PartitionKey string
	RowKey       string
	LastName     string
}

func personLast(p *person) (string, bool) { return p.LastName, true }

// figure14 stores lists next to the employees, figure15 in one partition.
func figure14(t testing.TB, adopt patterns.Adopt) *indexentity.Index[person] {
	return indexentity.Intra("lastname", personLast, &indexentity.Options[person]{
		Property: "EmployeeIDs", Separator: ",", Bare: true, Plain: true, Adopt: adopt,
	})
}

func figure15(t testing.TB, adopt patterns.Adopt) *indexentity.Index[person] {
	return indexentity.Inter("lastname", nil, personLast, &indexentity.Options[person]{
		Property: "EmployeeDetails", Separator: ",", Plain: true, Adopt: adopt,
		Partition: func(_, _ string) string { return "indexentities" },
	})
}

func put(t testing.TB, c *aztables.Client, row string) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(c.UpsertEntity(t.Context(), []byte(row), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})))
}

// byHand returns all rows without Timestamp, ETag and the list of views of a primary.
func byHand(t testing.TB, c *aztables.Client) map[string]map[string]any {
	t.Helper()
	rows := map[string]map[string]any{}
	for _, body := range harness.Rows(t, c) {
		var row map[string]any
		assert.NoError(t, json.Unmarshal(body, &row))
		key := row["PartitionKey"].(string) + "/" + row["RowKey"].(string)
		maps.DeleteFunc(row, func(name string, _ any) bool {
			return strings.Contains(name, "odata.") || name == "Timestamp" || name == "PartitionKey" || name == "RowKey" || name == "azp_views"
		})
		rows[key] = row
	}
	return rows
}

func wantList(t testing.TB, c *aztables.Client, key string, want map[string]any) {
	t.Helper()
	assert.EqualMaps(t, byHand(t, c)[key], want, "the list", key)
}

func personStore(t testing.TB, c *aztables.Client, index *indexentity.Index[person]) (*patterns.Store[person], *indexentity.Reader[person]) {
	t.Helper()
	store := harness.NewStore(t, c, &patterns.StoreOptions[person]{Views: []patterns.View[person]{index}, Outbox: &harness.OutboxQueue{}})
	return store, index.On(store)
}

func TestTheListsOfTheGuideAreReadAndChangedInTheirLayout(t *testing.T) {
	for figure, l := range map[string]struct {
		index          func(testing.TB, patterns.Adopt) *indexentity.Index[person]
		list, property string
		id             string // begins a member
	}{
		"14": {figure14, "Sales/", "EmployeeIDs", ""},
		"15": {figure15, "indexentities/", "EmployeeDetails", "Sales/"},
	} {
		t.Run(figure, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				ctx, client := t.Context(), b.Table(t)
				pk, _, _ := strings.Cut(l.list, "/")
				for _, id := range []string{"000231", "000152"} {
					put(t, client, `{"PartitionKey":"Sales","RowKey":"`+id+`","LastName":"Jones"}`)
				}
				// The members are in the order in which the program added them.
				put(t, client, `{"PartitionKey":"`+pk+`","RowKey":"Jones","`+l.property+`":"`+l.id+`000231,`+l.id+`000152"}`)

				store, r := personStore(t, client, l.index(t, patterns.AdoptEqual))
				wantMembers := func(value string, want ...string) {
					t.Helper()
					got := assert.Must(r.Get(ctx, "Sales", value))(t)
					var ids []string
					for _, k := range got {
						ids = append(ids, k.Row)
						assert.Equal(t, k.Partition, "Sales", "a member in partition")
					}
					assert.EqualSlices(t, ids, want, value)
				}
				wantMembers("Jones", "000152", "000231")
				_, err := store.Insert(ctx, &person{"Sales", "000300", "Jones"})
				assert.NoError(t, err)
				wantMembers("Jones", "000152", "000231", "000300")
				wantList(t, client, l.list+"Jones", map[string]any{l.property: l.id + "000152," + l.id + "000231," + l.id + "000300"})
				_, err = store.Update(ctx, keys.Key{Partition: "Sales", Row: "000231"}, func(p *person) error { p.LastName = "Kwok"; return nil })
				assert.NoError(t, err)
				wantList(t, client, l.list+"Jones", map[string]any{l.property: l.id + "000152," + l.id + "000300"})
				wantList(t, client, l.list+"Kwok", map[string]any{l.property: l.id + "000231"})
				assert.Equal(t, len(assert.All(t, r.Query(ctx, "Sales", "Kwok", nil))), 1, "entities")
				assert.NoError(t, store.Delete(ctx, keys.Key{Partition: "Sales", Row: "000231"}))
				wantList(t, client, l.list+"Kwok", nil)
				if _, err := store.Update(ctx, keys.Key{Partition: pk, Row: "Jones"}, func(p *person) error { p.LastName = "x"; return nil }); !errors.Is(err, patterns.ErrBadKey) {
					t.Errorf("a list is not an entity: %v", err)
				}
				_, err = store.Insert(ctx, &person{"Sales", "1,2", "Jones"})
				assert.WantError(t, err, patterns.ErrBadKey, "a key with the separator")
				assert.Contains(t, err.Error(), "the entity's key is empty, or contains Options.Separator")
			})
		})
	}
}

// A list without azp_view gets one, with its members. A row that has other properties is
// another entity.
func TestOnlyAListBecomesAList(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		put(t, client, `{"PartitionKey":"Sales","RowKey":"lastname_Jones","Members":"[\"000152\"]"}`)
		put(t, client, `{"PartitionKey":"Sales","RowKey":"lastname_Kwok","Members":"[\"000152\"]","Captain":"Don"}`)
		for adopt, fails := range []bool{patterns.AdoptEqual: true, patterns.AdoptOverwrite: true, patterns.AdoptLeave: false} {
			adopt := patterns.Adopt(adopt)
			index := indexentity.Intra("lastname", personLast, &indexentity.Options[person]{Adopt: adopt})
			store, _ := personStore(t, client, index)
			_, err := store.Put(ctx, &person{"Sales", "000400", "Kwok"})
			if errors.Is(err, patterns.ErrExists) != fails || !fails && err != nil {
				t.Errorf("%v: %v", adopt, err)
			}
			assert.NoError(t, assert.ErrorOf(store.Put(ctx, &person{"Sales", "000401", "Jones"})))
			wantList(t, client, "Sales/lastname_Jones", map[string]any{"Members": `["000152","000401"]`, "azp_view": "lastname"})
			wantList(t, client, "Sales/lastname_Kwok", map[string]any{"Members": `["000152"]`, "Captain": "Don"})
		}
	})
}

func TestAnEntityAndAListOfTheGuideDoNotShareARow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		store, _ := personStore(t, client, figure14(t, patterns.AdoptEqual))
		assert.NoError(t, assert.ErrorOf(store.Insert(ctx, &person{"Sales", "Jones", "Lee"})))
		var d *patterns.DuplicateError
		if _, err := store.Insert(ctx, &person{"Sales", "000152", "Jones"}); !errors.As(err, &d) || d.View != "lastname" {
			t.Errorf("got %v", err)
		}
		assert.Failed(t, assert.ErrorOf(store.Insert(ctx, &person{"Sales", "Lee", "Kwok"})), "the list was overwritten")
	})
}

// The lists of figure 14 have no marker, and are next to the primaries.
func TestAStoreReadsNoPlainListAsAPrimary(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		s := harness.NewStore(t, client, &patterns.StoreOptions[person]{Views: []patterns.View[person]{figure14(t, patterns.AdoptEqual)}})
		put(t, client, `{"PartitionKey":"Sales","RowKey":"000152","LastName":"Jones"}`)
		put(t, client, `{"PartitionKey":"Sales","RowKey":"Jones","EmployeeIDs":"000152"}`)
		assert.Must(s.Insert(ctx, &person{PartitionKey: "Sales", RowKey: "000153", LastName: "Smith"}))(t)
		for what, opts := range map[string]*patterns.QueryOptions{"whole": nil, "selected": {Select: []string{"LastName"}}} {
			var got []string
			for item, err := range s.Query(ctx, query.PartitionKey.Eq("Sales"), opts) {
				assert.NoError(t, err)
				got = append(got, item.Key.Row+item.Value.LastName)
			}
			assert.Equal(t, strings.Join(got, " "), "000152Jones 000153Smith", what, got)
		}
		for _, row := range []string{"Jones", "Smith"} {
			assert.WantError(t, assert.ErrorOf(s.Get(ctx, keys.Key{Partition: "Sales", Row: row})), patterns.ErrBadKey)
		}
	})
}
