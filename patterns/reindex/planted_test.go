package reindex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// market is a table of orders that an old program has written in layouts of the guide: full copies
// in the partition and in another table, and lists.
type market struct {
	shop
	other *aztables.Client
	lists map[keys.Key][]string
}

func remoteKey(n int) keys.Key {
	return keys.Key{Partition: "note", Row: oldKey(n).Partition + fmt.Sprintf("_%04d", n)}
}
func listKey(n int) keys.Key {
	return keys.Key{Partition: oldKey(n).Partition, Row: fmt.Sprintf("ids_%d", n%10)}
}

func newMarket(t testing.TB, b *harness.Backend, n int) *market {
	m := &market{shop: shop{client: b.Table(t)}, other: b.Table(t), lists: map[keys.Key][]string{}}
	var own, other []row
	for i := range n {
		r := oldOrder(i)
		own = append(own, at(oldKey(i), r), at(oldCopyKey(i), r))
		other = append(other, at(remoteKey(i), r))
		m.lists[listKey(i)] = append(m.lists[listKey(i)], oldKey(i).Row)
	}
	for k, ids := range m.lists {
		own = append(own, at(k, row{"IDs": strings.Join(ids, ",")}))
	}
	plant(t, m.client, own)
	plant(t, m.other, other)
	ownerOf := func(c *order, at keys.Key) (keys.Key, bool) {
		partition, _, _ := strings.Cut(at.Partition, "note")
		if partition == "" {
			partition = at.Row[:len("shop00")]
		}
		return keys.Key{Partition: partition, Row: "id_" + c.ID}, strings.HasPrefix(at.Row, "customer_") || at.Partition == "note"
	}
	remote := patterns.ViewOf("note", patterns.Shape{Target: patterns.TableTarget("other", m.other), Plain: true,
		Owner: func(at keys.Key, row func() map[string]any) (keys.Key, bool) {
			id, _ := row()["ID"].(string)
			return ownerOf(&order{ID: id}, at)
		}}, func(o *order) ([]patterns.DerivedRow, error) {
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "note", Row: o.PartitionKey + "_" + o.ID}, patterns.CopySpec{})}, nil
	})
	m.Store = harness.NewStore(t, m.client, &patterns.StoreOptions[order]{
		Primaries: query.RowKey.Prefix("id_"), Outbox: new(harness.OutboxQueue),
		Views: []patterns.View[order]{
			secondaryindex.Intra("customer", func(o *order) (string, bool) { return o.Customer, true }, &secondaryindex.Options[order]{Owner: ownerOf}),
			remote,
			indexentity.Intra("ids", func(o *order) (string, bool) { return o.ID[len(o.ID)-1:], true },
				&indexentity.Options[order]{Plain: true, Separator: ",", Property: "IDs"}),
		},
	})
	return m
}

func TestTwelveKindsOfErrorInATableOfAnOldProgramAreFoundAndNothingElse(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		const kinds, each = 12, 3
		m := newMarket(t, b, 120)
		if all := assert.All(t, reindex.Verify(t.Context(), m.Store, "", nil)); len(all) > 0 {
			t.Fatalf("nothing was planted: %v", all)
		}
		var want []reindex.Finding
		expect := func(kind reindex.Kind, view string, row, primary keys.Key) {
			want = append(want, reindex.Finding{Kind: kind, View: view, Row: row, Primary: primary})
		}
		remove := func(c *aztables.Client, k keys.Key) {
			assert.NoError(t, assert.ErrorOf(c.DeleteEntity(t.Context(), k.Partition, k.Row, nil)))
		}
		change := func(c *aztables.Client, k keys.Key, n int, name string, value any) {
			r := oldOrder(n)
			if r[name] = value; value == nil {
				delete(r, name)
			}
			plant(t, c, []row{at(k, r)})
		}
		for i := range kinds * each {
			n := i * 3
			primary, local, remote, absent := oldKey(n), oldCopyKey(n), remoteKey(n), oldKey(n)
			absent.Row = fmt.Sprintf("id_9%03d", n)
			switch i % kinds {
			case 0:
				remove(m.client, local)
				expect(reindex.Missing, "customer", local, primary)
			case 1:
				change(m.client, local, n, "Total", 1e6)
				expect(reindex.Wrong, "customer", local, primary)
			case 2:
				change(m.client, local, n, "Placed", "2026-03-01T00:00:00.120000001Z")
				expect(reindex.Wrong, "customer", local, primary)
			case 3:
				change(m.client, local, n, "Courier", "another")
				expect(reindex.Wrong, "customer", local, primary)
			case 4:
				change(m.client, local, n, "Courier", nil)
				expect(reindex.Wrong, "customer", local, primary)
			case 5: // under a wrong key
				remove(m.client, local)
				wrong := local
				wrong.Row += "x"
				change(m.client, wrong, n, "Note", "")
				expect(reindex.Missing, "customer", local, primary)
				expect(reindex.Orphan, "customer", wrong, primary)
			case 6:
				orphan := local
				orphan.Row = fmt.Sprintf("customer_x%04d", n)
				change(m.client, orphan, n, "ID", fmt.Sprintf("9%03d", n))
				expect(reindex.Orphan, "customer", orphan, absent)
			case 7: // the copy of an entity that has another one
				other := keys.Key{Partition: primary.Partition, Row: fmt.Sprintf("id_%04d", n+4)}
				change(m.client, local, n, "ID", fmt.Sprintf("%04d", n+4))
				expect(reindex.Missing, "customer", local, primary)
				expect(reindex.Orphan, "customer", local, other)
			case 8:
				remove(m.other, remote)
				expect(reindex.Missing, "note", remote, primary)
			case 9:
				change(m.other, remote, n, "Address", `{"City":"Basel"}`)
				expect(reindex.Wrong, "note", remote, primary)
			case 10:
				m.lists[listKey(n)] = slices.DeleteFunc(m.lists[listKey(n)], func(id string) bool { return id == primary.Row })
				expect(reindex.Missing, "ids", listKey(n), primary)
			case 11:
				m.lists[listKey(n)] = append(m.lists[listKey(n)], absent.Row)
				expect(reindex.Orphan, "ids", listKey(n), absent)
			}
		}
		for k, ids := range m.lists {
			plant(t, m.client, []row{at(k, row{"IDs": strings.Join(ids, ",")})})
		}
		got := assert.All(t, reindex.Verify(t.Context(), m.Store, "", nil))
		for _, f := range got {
			if !slices.Contains(want, f) {
				t.Errorf("was not planted: %+v", f)
			}
		}
		for _, f := range want {
			if !slices.Contains(got, f) {
				t.Errorf("was not found: %+v", f)
			}
		}
		assert.Equal(t, len(got), len(want), "findings")
	})
}
