package wideentity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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
		table := open[trip](t, b.NamedTable(t, name), &wideentity.Options{Parts: 2, Plain: true, PartOf: tripRow})
		direct := b.Direct(t, name)
		for _, row := range rows {
			harness.Must(direct.AddEntity(ctx, []byte(row), nil))(t)
		}
		// want compares the rows; changed lists pairs of names and values.
		want := func(changed ...string) {
			t.Helper()
			for row, text := range rows {
				var was, is map[string]any
				harness.NoError(t, json.Unmarshal([]byte(text), &was))
				harness.NoError(t, json.Unmarshal(harness.Must(direct.GetEntity(ctx, "p", row, nil))(t).Value, &is))
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
				if n != len(was) {
					t.Errorf("row %s was %v and is %v", row, was, is)
				}
			}
		}
		key := keys.Key{Partition: "p", Row: "t"}
		harness.Must(table.Update(ctx, key, func(v *trip) error { v.Name = "new"; return nil }))(t)
		want("Name", "new")
		item := harness.Must(table.Get(ctx, key))(t)
		item.Value.Name, item.Value.Stops[0].City = "newer", "Basel"
		item = harness.Must(table.Replace(ctx, item))(t)
		want("Name", "newer", "Stops", `[{"City":"Basel","Zip":1.0}]`)
		item.Value.Price = 4
		harness.Must(table.Merge(ctx, item, "Price", "At"))(t)
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
		key := keys.Key{Partition: "p", Row: "long"}
		filler := strings.Repeat("é<", 30_000)
		wide := open[full](t, client, nil)
		harness.Must(wide.Insert(ctx, key, &full{"old", map[string]any{"City": "Bern", "Filler": filler, "Z": 1}}))(t)
		harness.Must(open[narrow](t, client, nil).Update(ctx, key, func(v *narrow) error {
			v.Name, v.Value.City = "new", "Basel"
			return nil
		}))(t)
		got := harness.Must(wide.Get(ctx, key))(t).Value
		if got.Name != "new" || got.Value["City"] != "Basel" || got.Value["Filler"] != filler || got.Value["Z"] != 1.0 {
			t.Errorf("read %s, %v, %d bytes, %v", got.Name, got.Value["City"], len(got.Value["Filler"].(string)), got.Value["Z"])
		}
	})
}
