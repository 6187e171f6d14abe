package patterns_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// purse lacks members of its cards that another program stores, and has fields that its rows lack.
type purse struct {
	PartitionKey, RowKey string
	Cards                []card `table:",json"`
	Locked, Lost         bool
}

type card struct{ Kind, No string }

const purseByHand = `{"PartitionKey":"p","RowKey":"r","More":"x","Cards":"[{\"Kind\":\"visa\",\"No\":\"1\",\"Token\":\"A\"},{\"Kind\":\"visa\",\"No\":\"2\",\"Token\":\"B\"}]"}`

// writesOf are the ways to write an item that was read and to get one of the version written.
func writesOf(t testing.TB, client *aztables.Client) map[string]func(patterns.Item[purse]) patterns.Item[purse] {
	ctx := t.Context()
	table := assert.Must(patterns.NewTable[purse](client, nil))(t)
	store := assert.Must(patterns.NewStore(table, nil))(t)
	setTo := func(it patterns.Item[purse]) func(*purse) error {
		return func(p *purse) error { *p = it.Value; return nil }
	}
	type item = patterns.Item[purse]
	return map[string]func(item) item{
		"Replace": func(it item) item { return assert.Must(table.Replace(ctx, it))(t) },
		"Merge":   func(it item) item { return assert.Must(table.Merge(ctx, it))(t) },
		"Replace, with the ETag of its result": func(it item) item {
			it.ETag = assert.Must(table.Replace(ctx, it))(t).ETag
			return it
		},
		"Batch.Replace": func(it item) item {
			it.ETag = assert.Must(table.Batch().Replace(it).Commit(ctx))(t).ETags[0]
			return it
		},
		"Batch.Merge": func(it item) item {
			it.ETag = assert.Must(table.Batch().Merge(it).Commit(ctx))(t).ETags[0]
			return it
		},
		"Bulk": func(it item) item {
			assert.Must(table.Bulk(ctx, slices.Values([]patterns.Op[purse]{patterns.MergeOp(it)}), nil))(t)
			it.ETag = assert.Must(table.Get(ctx, it.Key))(t).ETag
			return it
		},
		"Update":           func(it item) item { return assert.Must(table.Update(ctx, it.Key, setTo(it)))(t) },
		"Store.UpdateItem": func(it item) item { return assert.Must(store.UpdateItem(ctx, it, setTo(it)))(t) },
		"Store.PutItem":    func(it item) item { return assert.Must(store.PutItem(ctx, it, &it.Value))(t) },
		"Store.PutItem, with the ETag of its result": func(it item) item {
			it.ETag = assert.Must(store.PutItem(ctx, it, &it.Value))(t).ETag
			return it
		},
		"StoreBatch": func(it item) item {
			op := patterns.UpdateEntity(it.Key, setTo(it)).Was(it)
			return assert.Must(store.Batch().Add(op).Commit(ctx))(t)[0]
		},
	}
}

// TestAnItemDescribesWhatWasWritten writes an item twice. The second time it writes a zero that the
// row lacked when it was read, and an element that the first write has removed.
func TestAnItemDescribesWhatWasWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		key := keys.Key{Partition: "p", Row: "r"}
		first := writesOf(t, b.Table(t))
		for _, name := range slices.Sorted(maps.Keys(first)) {
			for _, last := range []string{"Merge", "Replace", "Store.PutItem", "Merge of a row without texts to keep"} {
				t.Run(name+", then "+last, func(t *testing.T) {
					client := b.Table(t)
					row := purseByHand
					if last, _, _ = strings.Cut(last, " of "); strings.Contains(t.Name(), "without") {
						row = row[:strings.Index(row, `,"Cards"`)] + "}"
					}
					assert.Must(client.AddEntity(t.Context(), []byte(row), nil))(t)
					table := assert.Must(patterns.NewTable[purse](client, nil))(t)
					writes := writesOf(t, client)
					it := assert.Must(table.Get(t.Context(), key))(t)
					it.Value.Locked, it.Value.Cards = true, []card{{"amex", "3"}}
					it = writes[name](it)
					it.Value.Locked, it.Value.Cards = false, []card{{"visa", "1"}, {"visa", "2"}}
					it = writes[last](it)
					found := content(t, client, key)
					assert.Equal(t, found["Locked"], "false")
					assert.Equal(t, found["More"], `"x"`)
					if strings.Contains(found["Cards"], "Token") {
						t.Errorf("members that were removed are in the row: %s", found["Cards"])
					}
				})
			}
		}
	})
}

// TestAnItemKeepsWhatAWriteHasKept changes one card twice. The members that the type lacks stay.
func TestAnItemKeepsWhatAWriteHasKept(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		key := keys.Key{Partition: "p", Row: "r"}
		for _, name := range slices.Sorted(maps.Keys(writesOf(t, b.Table(t)))) {
			t.Run(name, func(t *testing.T) {
				client := b.Table(t)
				assert.Must(client.AddEntity(t.Context(), []byte(purseByHand), nil))(t)
				table := assert.Must(patterns.NewTable[purse](client, nil))(t)
				write := writesOf(t, client)[name]
				it := assert.Must(table.Get(t.Context(), key))(t)
				for i := range 3 {
					it.Value.Cards = slices.Clone(it.Value.Cards)
					it.Value.Cards[1].Kind = fmt.Sprint("kind", i)
					it = write(it)
				}
				found := content(t, client, key)
				if want := `"[{\"Kind\":\"visa\",\"No\":\"1\",\"Token\":\"A\"},{\"Kind\":\"kind2\",\"No\":\"2\",\"Token\":\"B\"}]"`; found["Cards"] != want {
					t.Errorf("got %s, want %s", found["Cards"], want)
				}
				byTransaction := strings.HasPrefix(name, "B") || strings.Contains(name, "ETag") // such an item may have had the property
				if _, added := found["Lost"]; added && !byTransaction {
					t.Errorf("a property that the row lacked was added: %v", found)
				}
			})
		}
	})
}

// TestWithoutRemovesUnknownMembers writes a value without the members that the type lacks.
func TestWithoutRemovesUnknownMembers(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		key := keys.Key{Partition: "p", Row: "r"}
		for name := range writesOf(t, b.Table(t)) {
			if name == "Update" { // it reads the row
				continue
			}
			for _, names := range [][]string{{"Cards"}, {"More"}} {
				t.Run(name+" without "+names[0], func(t *testing.T) {
					client := b.Table(t)
					assert.Must(client.AddEntity(t.Context(), []byte(purseByHand), nil))(t)
					write := writesOf(t, client)[name]
					table := assert.Must(patterns.NewTable[purse](client, nil))(t)
					item := assert.Must(table.Get(t.Context(), key))(t)
					item = write(item.Without(names...))
					item.Value.Locked = true
					write(item)
					found := content(t, client, key)
					if has := strings.Contains(found["Cards"], "Token"); has == slices.Contains(names, "Cards") {
						t.Errorf("the row has %s", found["Cards"])
					}
					if _, has := found["More"]; has == slices.Contains(names, "More") && !strings.Contains(name, "Merge") && name != "Bulk" {
						t.Errorf("the row has %v", found)
					}
				})
			}
		}
	})
}
