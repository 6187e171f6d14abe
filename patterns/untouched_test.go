package patterns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// place is a part of what a hand-written program stores in Address.
type place struct{ City string }

// event is a row as azpatterns reads it.
type event struct {
	PartitionKey, RowKey string
	Name                 string
	At                   time.Time
	Until                *time.Time
	Price                float64
	Count                int64
	Address              place   `table:",json"`
	Stops                []place `table:",json"`
	Note                 string  `table:",omitempty"`
	Later                string  // a field that old rows do not have
	Flag                 bool    // likewise
}

// eventByHand is a row as a program on aztables with package encoding/json stores it.
const eventByHand = `{"PartitionKey":"p","RowKey":"r","Name":"old","At":"2026-03-01T00:00:00+02:00","Until":"2026-03-01T00:00:00.120Z",` +
	`"Price":3,"Count":7,"Address":"{\"City\":\"Bern\",\"Zip\":\"3000\",\"Floor\":1.0}","Stops":"[{\"City\":\"Ulm\",\"Min\":1e1},{\"City\":\"Köln\"}]",` +
	`"Note":"","More":"x","Big@odata.type":"Edm.Int64","Big":"9007199254740993"}`

// content returns the properties of a row, with their types, as the service sends them.
func content(t testing.TB, client *aztables.Client, key keys.Key) map[string]string {
	t.Helper()
	reply := assert.Must(client.GetEntity(t.Context(), key.Partition, key.Row, nil))(t)
	var members map[string]json.RawMessage
	assert.NoError(t, json.Unmarshal(reply.Value, &members))
	found := map[string]string{}
	for name, value := range members {
		switch {
		case strings.HasPrefix(name, "odata.") || strings.HasPrefix(name, "azp_") || name == "Timestamp":
		default:
			found[name] = string(value)
		}
	}
	return found
}

// wantOnly fails unless only the named properties differ between two versions of a row.
func wantOnly(t testing.TB, before, after map[string]string, names ...string) {
	t.Helper()
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, had := before[name]
		is, has := after[name]
		assert.Equal(t, was != is || had != has, slices.Contains(names, name), name, "was", was, had, "and is", is, has)
	}
}

// ways are the ways to change a row that was read.
func ways(t testing.TB, client *aztables.Client) map[string]func(func(*event)) error {
	ctx := t.Context()
	table := harness.NewTable[event](t, client, nil)
	index := secondaryindex.Intra("byName", func(e *event) (string, bool) { return e.Name, true }, nil)
	store := assert.Must(patterns.NewStore(table, &patterns.StoreOptions[event]{Views: []patterns.View[event]{index}}))(t)
	read := func(change func(*event)) patterns.Item[event] {
		item := harness.Get(t, table, rowKey)
		change(&item.Value)
		return item
	}
	in := func(change func(*event)) func(*event) error {
		return func(e *event) error { change(e); return nil }
	}
	return map[string]func(func(*event)) error{
		"Update": func(change func(*event)) error {
			return assert.ErrorOf(table.Update(ctx, rowKey, in(change)))
		},
		"Replace": func(change func(*event)) error { return assert.ErrorOf(table.Replace(ctx, read(change))) },
		"Merge":   func(change func(*event)) error { return assert.ErrorOf(table.Merge(ctx, read(change))) },
		"Batch": func(change func(*event)) error {
			return assert.ErrorOf(table.Batch().Replace(read(change)).Commit(ctx))
		},
		"Bulk": func(change func(*event)) error {
			return assert.ErrorOf(table.Bulk(ctx, slices.Values([]patterns.Op[event]{patterns.ReplaceOp(read(change))}), nil))
		},
		"Store.Update": func(change func(*event)) error {
			return assert.ErrorOf(store.Update(ctx, rowKey, in(change)))
		},
		"Store.PutItem": func(change func(*event)) error {
			item := read(change)
			return assert.ErrorOf(store.PutItem(ctx, harness.Get(t, table, rowKey), &item.Value))
		},
		"StoreBatch": func(change func(*event)) error {
			b := store.Batch().Update(rowKey, in(change))
			return assert.ErrorOf(b.Commit(ctx))
		},
		"EncodeJSON": func(change func(*event)) error {
			text, err := patterns.EncodeJSON(read(change))
			if err != nil {
				return err
			}
			item, err := patterns.DecodeJSON[event](text)
			item.ETag = azcore.ETagAny
			return errors.Join(err, assert.ErrorOf(table.Replace(ctx, item)))
		},
		"Decode": func(change func(*event)) error {
			row := harness.Get(t, harness.NewTable[patterns.Row](t, client, nil), rowKey)
			item, err := patterns.Decode[event](row)
			change(&item.Value)
			return errors.Join(err, assert.ErrorOf(table.Replace(ctx, item)))
		},
	}
}

// eachWay changes a hand-written row in each way.
func eachWay(t *testing.T, change func(*event), check func(t *testing.T, before, after map[string]string)) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		for way, do := range ways(t, client) {
			_, err := direct.UpsertEntity(t.Context(), []byte(eventByHand), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
			assert.NoError(t, err)
			before := content(t, direct, rowKey)
			assert.Equal(t, do(change), nil, way)
			t.Run(way, func(t *testing.T) { check(t, before, content(t, direct, rowKey)) })
		}
	})
}

func TestAChangeOfOneFieldLeavesTheOthersAsTheyAre(t *testing.T) {
	eachWay(t, func(e *event) {
		if e.Name != "old" || e.At.Format(time.RFC3339) != "2026-03-01T00:00:00+02:00" || e.Address.City != "Bern" {
			t.Errorf("read %+v", e)
		}
		e.Name = "new"
	}, func(t *testing.T, before, after map[string]string) {
		wantOnly(t, before, after, "Name")
		for name, want := range map[string]string{
			"At": `"2026-03-01T00:00:00+02:00"`, "Until": `"2026-03-01T00:00:00.120Z"`, "Price": "3", "Count": "7", "Note": `""`,
		} {
			assert.Equal(t, after[name], want, name, "is")
		}
	})
}

func TestAChangedMemberOfJSONLeavesTheOthersAsTheyAre(t *testing.T) {
	eachWay(t, func(e *event) { e.Address.City, e.Stops[1].City = "Basel", "Mainz" }, func(t *testing.T, before, after map[string]string) {
		wantOnly(t, before, after, "Address", "Stops")
		for name, want := range map[string]string{
			"Address": `{"City":"Basel","Zip":"3000","Floor":1.0}`, "Stops": `[{"City":"Ulm","Min":1e1},{"City":"Mainz"}]`,
		} {
			var text string
			assert.NoError(t, json.Unmarshal([]byte(after[name]), &text), name, text)
			assert.Equal(t, text, want, name, text)
		}
	})
}

// A day later is a day later for the old program too, in its zone.
func TestAChangedTimeIsWrittenInItsZone(t *testing.T) {
	eachWay(t, func(e *event) {
		e.At = e.At.AddDate(0, 0, 1)
		*e.Until = e.Until.Add(time.Second)
	}, func(t *testing.T, before, after map[string]string) {
		wantOnly(t, before, after, "At", "Until")
		assert.Equal(t, after["At"], `"2026-03-02T00:00:00+02:00"`)
		assert.Equal(t, after["Until"], `"2026-03-01T00:00:01.12Z"`)
	})
}

func TestAPropertyThatTheRowLacksIsAddedWhenItIsSet(t *testing.T) {
	eachWay(t, func(e *event) { e.Later = "set" }, func(t *testing.T, before, after map[string]string) {
		wantOnly(t, before, after, "Later")
	})
}

// What an item remembers of its row changes with the row.
func TestAZeroIsMergedAfterTheFieldWasSet(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		table := harness.NewTable[event](t, client, nil)
		store := assert.Must(patterns.NewStore(table, nil))(t)
		for way, set := range map[string]func(patterns.Item[event]) (patterns.Item[event], error){
			"Merge":   func(item patterns.Item[event]) (patterns.Item[event], error) { return table.Merge(t.Context(), item) },
			"Replace": func(item patterns.Item[event]) (patterns.Item[event], error) { return table.Replace(t.Context(), item) },
			"Only": func(item patterns.Item[event]) (patterns.Item[event], error) {
				return table.Do(t.Context(), patterns.MergeOp(item).Only("Later", "Flag"))
			},
			"Store": func(item patterns.Item[event]) (patterns.Item[event], error) {
				return store.PutItem(t.Context(), harness.Get(t, table, item.Key), &item.Value)
			},
			"any version": func(item patterns.Item[event]) (patterns.Item[event], error) {
				item.ETag = azcore.ETagAny
				_, err := table.Merge(t.Context(), item)
				return item, err
			},
		} {
			_, err := direct.UpsertEntity(t.Context(), []byte(eventByHand), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
			assert.NoError(t, err)
			item := harness.Get(t, table, rowKey)
			item.Value.Later, item.Value.Flag = "set", true
			item = assert.Must(set(item))(t)
			item.Value.Later, item.Value.Flag = "", false
			assert.NoError(t, assert.ErrorOf(table.Merge(t.Context(), item)))
			if got := content(t, direct, rowKey); got["Later"] != `""` || got["Flag"] != "false" {
				t.Errorf("%s: Later is %s, Flag is %s", way, got["Later"], got["Flag"])
			}
		}
	})
}

// An insert by hand without the field is not a reason to lose a zero that is asked for by name.
func TestAZeroThatIsNamedIsWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		assert.MayFail(direct.AddEntity(t.Context(), []byte(eventByHand), nil))
		before := content(t, direct, rowKey)
		table := harness.NewTable[event](t, client, nil)
		assert.NoError(t, assert.ErrorOf(table.Do(t.Context(), patterns.MergeOp(harness.Get(t, table, rowKey)).Only("Later"))))
		after := content(t, direct, rowKey)
		wantOnly(t, before, after, "Later")
		assert.Equal(t, after["Later"], `""`, "stored")
	})
}

func TestATextThatTheTypeCannotDecodeIsRefusedBeforeAnyWrite(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		for property, value := range map[string]string{"At": `"yesterday"`, "Address": `"{\"City\":"`, "Address ": `"[1]"`, "Count": `"x"`, "Price": `"1.5"`, "Flag": `"yes"`} {
			property = strings.TrimSpace(property)
			text := fmt.Sprintf(`{"PartitionKey":"p","RowKey":"r","Name":"old",%q:%s}`, property, value)
			_, err := direct.UpsertEntity(t.Context(), []byte(text), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
			assert.NoError(t, err)
			before := content(t, direct, rowKey)
			table := harness.NewTable[event](t, client, nil)
			_, err = table.Update(t.Context(), rowKey, func(e *event) error { e.Name = "new"; return nil })
			var bad *patterns.PropertyError
			if !errors.As(err, &bad) || bad.Property != property {
				t.Errorf("%s: %v", text, err)
			}
			wantOnly(t, before, content(t, direct, rowKey))
		}
	})
}

func TestUnknownPropertiesAreListedAndDropped(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		assert.MayFail(direct.AddEntity(t.Context(), []byte(eventByHand), nil))
		before := content(t, direct, rowKey)
		table := harness.NewTable(t, client, &patterns.TableOptions[event]{StampWrites: true})
		item := harness.Get(t, table, rowKey)
		assert.EqualSlices(assert.Now(t), slices.Sorted(slices.Values(item.Unknown())), []string{"Big", "More"}, "unknown are")
		item = assert.Must(table.Replace(t.Context(), item.Without("More", "Name", "azp_stamp")))(t)
		wantOnly(t, before, content(t, direct, rowKey), "More")
		assert.EqualSlices(t, item.Unknown(), []string{"Big"}, "unknown are")
	})
}

// A row that a program decodes from JSON has float64 and json.Number, and texts for the other types.
func TestAMapFromJSONKeepsTheStoredTypes(t *testing.T) {
	const row = `{"PartitionKey":"p","RowKey":"r","I":5,"D":2.5,"L@odata.type":"Edm.Int64","L":"7","T@odata.type":"Edm.DateTime","T":"2026-03-01T00:00:00Z",` +
		`"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","B@odata.type":"Edm.Binary","B":"AQI=","S":"2026-03-01T00:00:00Z"}`
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		assert.MayFail(direct.AddEntity(t.Context(), []byte(row), nil))
		before := content(t, direct, rowKey)
		table := harness.NewTable(t, client, &patterns.TableOptions[map[string]any]{Keyless: true})
		for _, numbers := range []bool{false, true} {
			_, err := table.Update(t.Context(), rowKey, func(m *map[string]any) error {
				(*m)["G"] = "c9da6455-213d-42c9-9a79-3e9149a57833"
				text := assert.Must(json.Marshal(*m))(t)
				d := json.NewDecoder(strings.NewReader(string(text)))
				if numbers {
					d.UseNumber()
				}
				clear(*m)
				return d.Decode(m)
			})
			assert.NoError(t, err)
			wantOnly(t, before, content(t, direct, rowKey))
		}
		_, err := table.Update(t.Context(), rowKey, func(m *map[string]any) error {
			(*m)["I"], (*m)["L"], (*m)["D"], (*m)["N"] = 6.0, json.Number("8"), json.Number("3"), json.Number("4")
			return nil
		})
		assert.NoError(t, err)
		row := harness.Get(t, harness.NewTable[patterns.Row](t, client, nil), rowKey)
		for name, want := range map[string]any{"I": int32(6), "L": int64(8), "D": 3.0, "N": int32(4)} {
			if got, _ := row.Property(name); got != want {
				t.Errorf("%s is stored as %T %v", name, got, got)
			}
		}
	})
}

func TestAnItemReturnsItsRowAsItWasSent(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, direct := b.NamedTable(t, name), b.Direct(t, name)
		assert.MayFail(direct.AddEntity(t.Context(), []byte(eventByHand), nil))
		want := content(t, direct, rowKey)
		table := harness.NewTable(t, client, &patterns.TableOptions[event]{KeepJSON: true})
		item := harness.Get(t, table, rowKey)
		page := assert.Must(table.Page(t.Context(), query.PartitionKey.Eq("p"), "", nil))(t)
		for _, sent := range [][]byte{item.JSON(), page.Items[0].JSON()} {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(sent, &members); err != nil || members["odata.etag"] == nil || members["Timestamp"] == nil {
				t.Errorf("got %s %v", sent, err)
			}
			for name, value := range want {
				if string(members[name]) != value {
					t.Errorf("%s is %s, want %s", name, members[name], value)
				}
			}
		}
		text := assert.Must(patterns.EncodeRow(item))(t)
		again, err := patterns.DecodeJSON[event](text)
		if err != nil || again.ETag != item.ETag || !again.Timestamp.Equal(item.Timestamp) || again.Key != item.Key {
			t.Errorf("%s is read as %+v %v", text, again, err)
		}
		if harness.Get(t, harness.NewTable[event](t, client, nil), rowKey).JSON() != nil {
			t.Error("a table without the option keeps the text")
		}
	})
}
