package wideentity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

type city struct{ City string }

// trip has properties in both rows; Note and Later are in the second.
type trip struct {
	Name   string
	At     time.Time
	Price  float64
	Stops  []city `table:",json"`
	Note   string `table:",omitempty"`
	Later  int64
	Moment time.Time
}

func tripRow(name string) int {
	if name == "Note" || name == "Later" || name == "Moment" {
		return 2
	}
	return 1
}

func TestAChangeOfOneFieldLeavesTheRowsOfOtherProgramsAsTheyAre(t *testing.T) {
	rows := map[string]string{
		"t_01": `{"PartitionKey":"p","RowKey":"t_01","Name":"old","At":"2026-03-01T00:00:00+02:00","Price":3,"Stops":"[{\"City\":\"Bern\",\"Zip\":1.0}]"}`,
		"t_02": `{"PartitionKey":"p","RowKey":"t_02","Note":"","Moment":"2026-03-01T00:00:00.120Z"}`,
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		name := harness.UniqueName()
		table := open(t, b.NamedTable(t, name), &wideentity.Options[trip]{Parts: 2, Plain: true, PartOf: tripRow})
		direct := b.Direct(t, name)
		for _, row := range rows {
			assert.Must(direct.AddEntity(ctx, []byte(row), nil))(t)
		}
		// want compares the rows; changed lists pairs of names and values.
		want := func(changed ...string) {
			t.Helper()
			for row, text := range rows {
				var was, is map[string]any
				assert.NoError(t, json.Unmarshal([]byte(text), &was))
				assert.NoError(t, json.Unmarshal(assert.Must(direct.GetEntity(ctx, "p", row, nil))(t).Value, &is))
				for i := 0; i < len(changed); i += 2 {
					if _, ok := is[changed[i]]; ok {
						was[changed[i]] = changed[i+1]
					}
				}
				n := 0
				for name, value := range is {
					if strings.HasPrefix(name, "odata.") || strings.HasPrefix(name, "azp_") || name == "Timestamp" {
						continue
					}
					if n++; was[name] != value {
						t.Errorf("%s of row %s was %v and is %v", name, row, was[name], value)
					}
				}
				assert.Equal(t, n, len(was), "row", row, "was", was, "and is", is)
			}
		}
		key := keys.Key{Partition: "p", Row: "t"}
		assert.Must(table.Update(ctx, key, func(v *trip) error { v.Name = "new"; return nil }))(t)
		want("Name", "new")
		item := assert.Must(table.Get(ctx, key))(t)
		item.Value.Name, item.Value.Stops[0].City = "newer", "Basel"
		item = assert.Must(table.Replace(ctx, item))(t)
		want("Name", "newer", "Stops", `[{"City":"Basel","Zip":1.0}]`)
		item.Value.Price = 4
		assert.Must(table.Merge(ctx, item, "Price", "At"))(t)
		rows["t_01"] = strings.Replace(rows["t_01"], `"Price":3`, `"Price":4`, 1)
		want("Name", "newer", "Stops", `[{"City":"Basel","Zip":1.0}]`)
	})
}

// A JSON value that takes several pieces has members that the type lacks.
func TestALongJSONValueKeepsItsUnknownMembers(t *testing.T) {
	type full struct {
		Name  string
		Value map[string]any `table:",json"`
	}
	type narrow struct {
		Name  string
		Value struct{ City string } `table:",json"`
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		client := b.Table(t)
		key := year
		filler := strings.Repeat("é<", 30_000)
		wide := open[full](t, client, nil)
		assert.Must(wide.Insert(ctx, &full{"old", map[string]any{"City": "Bern", "Filler": filler, "Z": 1}}))(t)
		assert.Must(open[narrow](t, client, nil).Update(ctx, key, func(v *narrow) error {
			v.Name, v.Value.City = "new", "Basel"
			return nil
		}))(t)
		table := open[narrow](t, client, nil)
		item := assert.Must(table.Get(ctx, key))(t)
		for _, city := range []string{"Ulm", "Basel"} {
			item.Value.Value.City = city
			item = assert.Must(table.Replace(ctx, item))(t)
		}
		item.Value.Value.City = "Bonn"
		item = assert.Must(table.Merge(ctx, item, "Value"))(t)
		item.Value.Value.City = "Basel"
		assert.Must(table.Replace(ctx, item))(t)
		got := assert.Must(wide.Get(ctx, key))(t).Value
		if got.Name != "new" || got.Value["City"] != "Basel" || got.Value["Filler"] != filler || got.Value["Z"] != 1.0 {
			t.Errorf("read %s, %v, %d bytes, %v", got.Name, got.Value["City"], len(got.Value["Filler"].(string)), got.Value["Z"])
		}
	})
}

// TestAnItemDescribesWhatWasWritten writes an item twice: the second time with a zero that the row lacked when it was read, and
// with an element that the first write has removed.
func TestAnItemDescribesWhatWasWritten(t *testing.T) {
	type stop struct{ City string }
	type trip struct {
		Later string
		Stops []stop `table:",json"`
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for _, merges := range []bool{false, true} {
			client := b.Table(t)
			row := `{"PartitionKey":"p","RowKey":"t_01","Stops":"[{\"City\":\"Ulm\",\"Zip\":\"89073\"}]"}`
			assert.Must(client.AddEntity(ctx, []byte(row), nil))(t)
			table := open(t, client, &wideentity.Options[trip]{Parts: 2, Plain: true, PartOf: func(string) int { return 1 }})
			item := assert.Must(table.Get(ctx, keys.Key{Partition: "p", Row: "t"}))(t)
			item.Value.Later, item.Value.Stops = "x", []stop{}
			if merges {
				item = assert.Must(table.Merge(ctx, item, "Later", "Stops"))(t)
			} else {
				item = assert.Must(table.Replace(ctx, item))(t)
			}
			item.Value.Later, item.Value.Stops = "", []stop{{"Ulm"}}
			assert.Must(table.Replace(ctx, item))(t)
			stored := string(assert.Must(client.GetEntity(ctx, "p", "t_01", nil))(t).Value)
			if !strings.Contains(stored, `"Later":""`) || strings.Contains(stored, "89073") {
				t.Errorf("merges %v: the row has %s", merges, stored)
			}
		}
	})
}
