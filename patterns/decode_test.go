package patterns_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

type untypedDepartment struct {
	EmployeeCount int64
	Name          string
}

type untypedPerson struct {
	PartitionKey, RowKey string
	Name                 string
	Pay                  float64
}

func TestOneQueryReadsRowsOfSeveralTypes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		people := assert.Must(patterns.NewTable[untypedPerson](client, nil))(t)
		departments := assert.Must(patterns.NewTable[untypedDepartment](client, &patterns.TableOptions[untypedDepartment]{Keyless: true}))(t)
		rows := assert.Must(patterns.NewTable[patterns.Row](client, &patterns.TableOptions[patterns.Row]{Keyless: true}))(t)
		batch := people.Batch().Insert(&untypedPerson{PartitionKey: "Sales", RowKey: "00010", Name: "Ken", Pay: 3})
		patterns.AddTo(batch, departments, patterns.InsertOp(&untypedDepartment{EmployeeCount: 153, Name: "Sales"}).
			At(keys.Key{Partition: "Sales", Row: "Department"}))
		assert.NoError(t, assert.ErrorOf(batch.Commit(ctx)))

		b.ResetRequests()
		var seen []string
		for row, err := range rows.Query(ctx, query.PartitionKey.Eq("Sales"), nil) {
			assert.NoError(t, err)
			if _, ok := row.Property("EmployeeCount"); ok {
				d, err := patterns.Decode[untypedDepartment](row)
				if err != nil || d.Value.EmployeeCount != 153 || d.ETag == "" || d.Timestamp.IsZero() {
					t.Errorf("department %+v, %v", d, err)
				}
				seen = append(seen, d.Value.Name)
				continue
			}
			p, err := patterns.Decode[untypedPerson](row)
			if err != nil || p.Value.Pay != 3 || p.Value.RowKey != "00010" || p.Key.Row != "00010" {
				t.Errorf("person %+v, %v", p, err)
			}
			seen = append(seen, p.Value.Name)
		}
		if len(seen) != 2 || seen[0] != "Ken" || seen[1] != "Sales" {
			t.Errorf("saw %v", seen)
		}
		assert.Equal(t, len(b.Requests()), 1, "requests for one query, want 1")
	})
}

func TestADecodedRowKeepsItsUnknownProperties(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		people, _ := patterns.NewTable[untypedPerson](client, nil)
		rows, _ := patterns.NewTable[patterns.Row](client, &patterns.TableOptions[patterns.Row]{Keyless: true})
		type named struct {
			PartitionKey, RowKey string
			Name                 string
		}
		names, _ := patterns.NewTable[named](client, nil)
		assert.NoError(t, assert.ErrorOf(people.Insert(ctx, &untypedPerson{PartitionKey: "Sales", RowKey: "1", Name: "Ken", Pay: 3})))
		row := assert.Must(rows.Get(ctx, keys.Key{Partition: "Sales", Row: "1"}))(t)
		item := assert.Must(patterns.Decode[named](row))(t)
		if pay, ok := item.Property("Pay"); !ok || pay != 3.0 {
			t.Errorf("property Pay is %v (%T), %v", pay, pay, ok)
		}
		item.Value.Name = "Kenneth"
		assert.NoError(t, assert.ErrorOf(names.Replace(ctx, item)))
		got, err := people.Get(ctx, keys.Key{Partition: "Sales", Row: "1"})
		if err != nil || got.Value.Name != "Kenneth" || got.Value.Pay != 3 {
			t.Errorf("got %+v, %v", got.Value, err)
		}
	})
}

func TestDecodeNamesThePropertyThatDoesNotFit(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		people, _ := patterns.NewTable[untypedPerson](client, nil)
		rows, _ := patterns.NewTable[patterns.Row](client, &patterns.TableOptions[patterns.Row]{Keyless: true})
		assert.NoError(t, assert.ErrorOf(people.Insert(ctx, &untypedPerson{PartitionKey: "Sales", RowKey: "1", Name: "Ken"})))
		row, err := rows.Get(ctx, keys.Key{Partition: "Sales", Row: "1"})
		assert.NoError(t, err)
		_, err = patterns.Decode[struct{ Name bool }](row)
		var p *patterns.PropertyError
		if !errors.As(err, &p) || p.Property != "Name" {
			t.Errorf("got %v, want a PropertyError of Name", err)
		}
		assert.Failed(t, assert.ErrorOf(patterns.Decode[struct{ Name chan int }](row)), "a type that cannot be stored was accepted")
	})
}
