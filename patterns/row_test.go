package patterns_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/query"
)

// A program that reads rows of several types knows their properties by name only.
func TestRowsOfAnyTypeAreFilteredAndSelectedByAnyProperty(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		client := b.Table(t)
		people := harness.NewTable[harness.Person](t, client, nil)
		for i, name := range []string{"ann", "bob", "cy"} {
			p := harness.NewPerson(name)
			p.Age = int32(20 + i)
			harness.Insert(t, people, p)
		}
		rows, err := patterns.NewTable[patterns.Row](client, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := query.And(query.PartitionKey.Eq("sales"), query.Prop("Age").Ge(int32(21)))
		opts := &patterns.QueryOptions{Select: []string{"Age"}}
		b.ResetRequests()
		check := func(how string, items []patterns.Item[patterns.Row]) {
			t.Helper()
			if len(items) != 2 {
				t.Fatalf("%s: %d rows", how, len(items))
			}
			for i, item := range items {
				age, _ := item.Property("Age")
				_, more := item.Property("Badge")
				if age != int32(21+i) || more || !item.Projected() {
					t.Errorf("%s: age %v, other properties: %v, projected: %v", how, age, more, item.Projected())
				}
				person, err := patterns.Decode[harness.Person](item)
				if err != nil || person.Value.Age != int32(21+i) {
					t.Errorf("%s: %+v, %v", how, person.Value, err)
				}
			}
		}
		check("Query", harness.All(t, rows.Query(ctx, f, opts)))
		page, err := rows.Page(ctx, f, "", opts)
		harness.NoError(t, err)
		check("Page", page.Items)
		var scanned []patterns.Item[patterns.Row]
		for page, err := range rows.Scan(ctx, f, "", &patterns.ScanOptions{Select: []string{"Age"}, Parallel: 1}) {
			harness.NoError(t, err)
			scanned = append(scanned, page.Items...)
		}
		check("Scan", scanned)
		b.WantRequests(t, map[string]int{"Table.Query": 3})

		report, err := highvolumedelete.DeleteWhere(ctx, rows, f, nil)
		if err != nil || report.Deleted != 2 {
			t.Errorf("%+v, %v", report, err)
		}
		if left := harness.All(t, rows.Query(ctx, query.PartitionKey.Eq("sales"), nil)); len(left) != 1 {
			t.Errorf("%d rows are left", len(left))
		}
	})
}

func TestAStructWithFieldsIsFilteredOnlyByItsProperties(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		b.ResetRequests()
		f := query.And(query.PartitionKey.Eq("sales"), query.Prop("age").Ge(int32(21)))
		var bad *query.Error
		if err := harness.Failure(t, table.Query(t.Context(), f, nil)); !errors.As(err, &bad) || bad.Property != "age" {
			t.Errorf("got %v", err)
		}
		b.WantRequestCount(t, 0)
	})
}

func TestARowCannotBeInsertedWithoutAKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		rows, err := patterns.NewTable[patterns.Row](b.Table(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		_, err = rows.Insert(t.Context(), &patterns.Row{})
		harness.WantError(t, err, patterns.ErrBadKey)
		b.WantRequestCount(t, 0)
	})
}
