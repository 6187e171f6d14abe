package patterns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// product is the struct of a program that encoding/json and aztables write. The migrated
// program uses it as it is.
type product struct {
	aztables.Entity
	Name      string
	Stock     int
	Sold      int32
	Total     int64
	Price     float64 // never whole, because encoding/json writes whole floats as integers
	Active    bool
	Restocked time.Time
	Retired   time.Time // always zero
	Thumb     []byte    `json:"thumb"`
}

// newProduct is product in a program that also inserts rows.
type newProduct struct {
	aztables.Entity
	Name      string
	Stock     int `table:",int32"`
	Sold      int32
	Total     int64 `table:",int32"`
	Price     float64
	Active    bool
	Restocked time.Time `table:",string"`
	Retired   time.Time `table:",string"`
	Thumb     []byte    `table:",string" json:"thumb"`
}

func (p *product) sell(n int) error {
	p.Stock, p.Sold, p.Total, p.Active = p.Stock-1, p.Sold+1, p.Total+2, !p.Active
	p.Price++
	p.Restocked = p.Restocked.Add(1234567 * time.Nanosecond * 100)
	p.Thumb = []byte{byte(n), byte(n >> 8)}
	return nil
}

func sellNew(p *newProduct, n int) error {
	v := product(*p)
	err := v.sell(n)
	*p = newProduct(v)
	return err
}

// handWritten is the program that has not been migrated.
type handWritten struct{ client *aztables.Client }

func (h handWritten) read(ctx context.Context, row string) ([]byte, error) {
	reply, err := h.client.GetEntity(ctx, "shop", row, nil)
	return reply.Value, err
}

// sell reads and writes a row as a struct.
func (h handWritten) sell(ctx context.Context, row string, n int, mode aztables.UpdateMode) error {
	body, err := h.read(ctx, row)
	if err != nil {
		return err
	}
	var p product
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	p.sell(n)
	if body, err = json.Marshal(p); err == nil {
		_, err = h.client.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: mode})
	}
	return err
}

// sellMap reads and writes a row as a map.
func (h handWritten) sellMap(ctx context.Context, row string, mode aztables.UpdateMode) error {
	body, err := h.read(ctx, row)
	if err != nil {
		return err
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	p := e.Properties
	p["Stock"], p["Sold"] = p["Stock"].(int32)-1, p["Sold"].(int32)+1
	p["Price"] = p["Price"].(float64) + 1
	switch total := p["Total"].(type) {
	case int32:
		p["Total"] = total + 2
	case aztables.EDMInt64:
		p["Total"] = total + 2
	}
	if body, err = json.Marshal(e); err == nil {
		_, err = h.client.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: mode})
	}
	return err
}

// storedTypes returns the type of each property as the service returns the row.
func storedTypes(t testing.TB, body []byte) map[string]string {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	assert.NoError(t, d.Decode(&m))
	types := map[string]string{}
	for name, value := range m {
		if strings.ContainsAny(name, ".@") || name == "Timestamp" {
			continue
		}
		annotation, _ := m[name+"@odata.type"].(string)
		if number, ok := value.(json.Number); ok && annotation == "" {
			annotation = "Edm.Int32"
			if strings.ContainsAny(string(number), ".eE") {
				annotation = "Edm.Double"
			}
		}
		if annotation == "" {
			annotation = fmt.Sprintf("%T", value)
		}
		types[name] = annotation
	}
	return types
}

func TestHandWrittenAndMigratedProgramsUpdateTheSameRows(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		name := harness.UniqueName()
		client := b.NamedTable(t, name)
		old := handWritten{b.Direct(t, name)}
		table := harness.NewTable[product](t, client, nil)
		newTable := harness.NewTable[newProduct](t, client, nil)
		store := harness.NewStore(t, client, &patterns.StoreOptions[product]{})
		mixed := harness.NewTable[patterns.Row](t, client, nil)
		stamped := harness.NewTable(t, client, &patterns.TableOptions[product]{StampWrites: true})

		first := product{Entity: aztables.Entity{PartitionKey: "shop", RowKey: "struct"}, Name: "Bolt", Stock: 9, Price: 0.25,
			Restocked: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), Thumb: []byte("x")}
		body, err := json.Marshal(first)
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(old.client.AddEntity(ctx, body, nil)))
		body, err = json.Marshal(aztables.EDMEntity{Entity: aztables.Entity{PartitionKey: "shop", RowKey: "map"}, Properties: map[string]any{
			"Name": "Nut", "Stock": int32(9), "Sold": int32(0), "Total": aztables.EDMInt64(0), "Price": 0.25, "Active": true,
			"Restocked": aztables.EDMDateTime(first.Restocked), "thumb": aztables.EDMBinary("x"), "ID": aztables.EDMGUID("0f8fad5b-d9cb-469f-a165-70867728950e"),
		}})
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(old.client.AddEntity(ctx, body, nil)))
		inserted := newProduct(first)
		inserted.RowKey = "new"
		harness.Insert(t, newTable, inserted)

		rows := []string{"struct", "map", "new"}
		want := map[string]map[string]string{}
		for _, row := range rows {
			body := assert.Must(old.read(ctx, row))(t)
			want[row] = storedTypes(t, body)
		}
		assert.EqualMaps(assert.Now(t), want["struct"], want["new"], "the programs insert rows of other types", "and")

		random := rand.New(rand.NewPCG(12, uint64(len(b.Name))))
		rounds := harness.Sized(5_000, 1_000) // in each mode
		if !b.InProcess() {
			rounds = harness.Sized(150, 60)
		}
		var sold [3]int32
		for n := range rounds {
			at := random.IntN(3)
			row := rows[at]
			key := keys.Key{Partition: "shop", Row: row}
			sold[at]++
			var err error
			how := random.IntN(9)
			switch mode := []aztables.UpdateMode{aztables.UpdateModeMerge, aztables.UpdateModeReplace}[n%2]; how {
			case 0, 1:
				if err = old.sellMap(ctx, row, mode); row != "map" {
					sold[at]++
					err = firstOf(err, old.sell(ctx, row, n, mode))
				}
			case 2:
				_, err = table.Update(ctx, key, func(p *product) error { return p.sell(n) })
			case 3, 4:
				item := harness.Get(t, table, key)
				item.Value.sell(n)
				write := table.Replace
				if how == 4 {
					write = table.Merge
				}
				if item, err = write(ctx, item); err == nil { // an item that a write returned
					item.Value.sell(n)
					sold[at]++
					_, err = write(ctx, item)
				}
			case 5:
				for item, err := range table.Query(ctx, query.PartitionKey.Eq("shop"), nil) {
					assert.NoError(t, err)
					if item.Key.Row == row {
						item.Value.sell(n)
						assert.NoError(t, assert.ErrorOf(table.Batch().Replace(item).Commit(ctx)))
					}
				}
			case 6:
				_, err = store.Update(ctx, key, func(p *product) error { return p.sell(n) })
			case 7:
				if row != "map" {
					_, err = newTable.Update(ctx, key, func(p *newProduct) error { return sellNew(p, n) })
					break
				}
				var p patterns.Item[product] // a program that reads rows of several types
				if p, err = patterns.Decode[product](harness.Get(t, mixed, key)); err == nil {
					p.Value.sell(n)
					_, err = table.Replace(ctx, p)
				}
			case 8:
				_, err = stamped.Update(ctx, key, func(p *product) error { return p.sell(n) })
			}
			assert.NoError(t, err, "round", n, "way", how, "row", row)
			body := assert.Must(old.read(ctx, row))(t)
			types := storedTypes(t, body)
			delete(types, "azp_stamp")
			assert.EqualMaps(assert.Now(t), types, want[row], "round", n, "way", how, "row", row, "types", "were")
		}
		for i, row := range rows {
			p := harness.Get(t, table, keys.Key{Partition: "shop", Row: row}).Value
			if p.Sold != sold[i] || p.Stock != 9-int(p.Sold) || p.Total != 2*int64(p.Sold) || p.Price != 0.25+float64(p.Sold) || !p.Retired.IsZero() {
				t.Errorf("after %d sales: %+v", sold[i], p)
			}
		}
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
