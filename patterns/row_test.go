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
		rows := assert.Must(patterns.NewTable[patterns.Row](client, nil))(t)
		f := query.And(query.PartitionKey.Eq("sales"), query.Prop("Age").Ge(int32(21)))
		opts := &patterns.QueryOptions{Select: []string{"Age"}}
		b.ResetRequests()
		check := func(how string, items []patterns.Item[patterns.Row]) {
			t.Helper()
			assert.Equal(assert.Now(t), len(items), 2, how, "rows")
			for i, item := range items {
				age, _ := item.Property("Age")
				_, more := item.Property("Badge")
				if age != int32(21+i) || more || !item.Projected() {
					t.Errorf("%s: age %v, other properties: %v, projected: %v", how, age, more, item.Projected())
				}
				person, err := patterns.Decode[harness.Person](item)
				assert.NoError(t, err, how)
				assert.Equal(t, person.Value.Age, int32(21+i), how)
			}
		}
		check("Query", assert.All(t, rows.Query(ctx, f, opts)))
		page := assert.Must(rows.Page(ctx, f, "", opts))(t)
		check("Page", page.Items)
		var scanned []patterns.Item[patterns.Row]
		for page, err := range rows.Scan(ctx, f, "", &patterns.QueryOptions{Select: []string{"Age"}, Parallel: 1}) {
			assert.NoError(t, err)
			scanned = append(scanned, page.Items...)
		}
		check("Scan", scanned)
		b.WantRequests(t, map[string]int{"Table.Query": 3})

		report, err := rows.DeleteWhere(ctx, f, "", nil)
		assert.NoError(t, err)
		assert.Equal(t, report.Done, 2)
		assert.Equal(t, len(assert.All(t, rows.Query(ctx, query.PartitionKey.Eq("sales"), nil))), 1, "rows are left")
	})
}

func TestAStructWithFieldsIsFilteredOnlyByItsProperties(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		b.ResetRequests()
		f := query.And(query.PartitionKey.Eq("sales"), query.Prop("age").Ge(int32(21)))
		var bad *query.Error
		if err := assert.Failure(t, table.Query(t.Context(), f, nil)); !errors.As(err, &bad) || bad.Property != "age" {
			t.Errorf("got %v", err)
		}
		b.WantRequestCount(t, 0)
	})
}

func TestARowCannotBeInsertedWithoutAKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		rows, err := patterns.NewTable[patterns.Row](b.Table(t), nil)
		assert.NoError(t, err)
		b.ResetRequests()
		_, err = rows.Insert(t.Context(), &patterns.Row{})
		assert.WantError(t, err, patterns.ErrBadKey)
		b.WantRequestCount(t, 0)
	})
}

type office struct{ Room string }

// One reader decodes each row as the type that a property names.
func TestRowsOfSeveralTypesAreDecodedAsTheTypesThatAreChosen(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		client := b.Table(t)
		maps := harness.NewTable(t, client, &patterns.TableOptions[map[string]any]{Keyless: true})
		for row, properties := range map[string]map[string]any{
			"1": {"Kind": "person", "Name": "ann", "Age": int32(20)},
			"2": {"Kind": "o\"ffice", "Room": "r1", "Height": 1.5},
			"3": {"Kind": int32(3), "Room": "r3"},
			"4": {"Room": "r4"},
			"5": {"Kind": "skipped", "Room": int32(5)},
			"6": {"Kind": "o\"ffice", "Room": "r6"},
		} {
			op := patterns.InsertOp(&properties).At(keys.Key{Partition: "sales", Row: row})
			assert.Must(maps.Do(ctx, op))(t)
		}
		type person struct {
			Name string
			Age  int32
		}
		rows := harness.NewTable[patterns.Row](t, client, nil)
		reader := assert.Must(patterns.Discriminate(rows, patterns.Discriminator{Property: "Kind", Type: func(rowKey, text []byte, isText bool) any {
			switch {
			case !isText && string(rowKey) == "3", isText && text == nil && string(rowKey) == "4":
				return new(map[string]any)
			case string(text) == "person":
				return new(person)
			case string(text) == "o\"ffice":
				return new(office)
			}
			return nil
		}}))(t)
		b.ResetRequests()
		var got []any
		for item, err := range reader.Query(ctx, query.PartitionKey.Eq("sales"), nil) {
			assert.NoError(t, err)
			one := assert.Must(reader.Get(ctx, item.Key))(t)
			assert.DeepEqual(t, one.Value, item.Value)
			assert.Equal(t, one.ETag, item.ETag)
			switch v := item.Value.(type) {
			case *map[string]any:
				got = append(got, (*v)["Room"])
			case *office:
				height, _ := item.Property("Height")
				got = append(got, *v, height)
				assert.Must(harness.NewTable(t, client, &patterns.TableOptions[office]{Keyless: true}).Replace(ctx, patterns.WithValue(item, *v)))(t)
			case *person:
				got = append(got, *v)
			default:
				got = append(got, v)
			}
		}
		want := []any{person{"ann", 20}, office{"r1"}, 1.5, "r3", "r4", nil, office{"r6"}, nil}
		assert.DeepEqual(t, got, want, "read")
		b.WantRequests(t, map[string]int{"Table.Query": 1, "Table.Get": 6, "Table.Replace": 2})
		kept := assert.Must(maps.Get(ctx, keys.Key{Partition: "sales", Row: "2"}))(t)
		if kept.Value["Kind"] != "o\"ffice" || kept.Value["Height"] != 1.5 {
			t.Errorf("a replaced row is %v", kept.Value)
		}
	})
}

func TestADiscriminatorThatChoosesNoPointerFails(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		harness.Insert(t, harness.NewTable[harness.Person](t, client, nil), harness.NewPerson("ann"))
		rows := harness.NewTable[patterns.Row](t, client, nil)
		for name, chosen := range map[string]any{"no pointer": office{}, "a nil pointer": (*office)(nil), "a pointer to no row": new(int)} {
			reader := assert.Must(patterns.Discriminate(rows, patterns.Discriminator{Type: func(_, _ []byte, _ bool) any { return chosen }}))(t)
			if item, err := reader.Get(t.Context(), harness.NewPerson("ann").Key()); err == nil {
				t.Errorf("%s: read %+v", name, item)
			}
		}
		_, noType := patterns.Discriminate(rows, patterns.Discriminator{})
		_, noTable := patterns.Discriminate(nil, patterns.Discriminator{Type: func(_, _ []byte, _ bool) any { return nil }})
		assert.WantError(t, noType, patterns.ErrNil)
		assert.WantError(t, noTable, patterns.ErrNil)
	})
}
