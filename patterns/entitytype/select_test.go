package entitytype_test

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/query"
)

func TestEntitiesAreFilteredAndReadInPartByAnyProperty(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		one, three := newTables(t, b, opts)
		insert(t, one, map[string]any{"Employee_1": &employee1{"Ken Kwok", "kenk@contoso.com"}})
		insert(t, three, map[string]any{
			"Employee_2":    &employee3{"Ann", "Beebe", []string{"a@contoso.com"}},
			"Department_":   &department{"Sales", 1 << 40},
			"Other_without": &entitytype.Unknown{Properties: map[string]any{"LastName": "Beebe", "X": true}},
		})
		f := query.And(query.PartitionKey.Eq("Sales"), query.Or(query.Prop("LastName").Eq("Beebe"), query.Prop("EmailAddress").Gt("k")))
		selected := &patterns.QueryOptions{Select: []string{"LastName", "EmailAddress"}}
		b.ResetRequests()
		page := assert.Must(three.Page(ctx, f, "", selected))(t)
		for how, entities := range map[string][]entitytype.Entity{"Query": assert.All(t, three.Query(ctx, f, selected)), "Page": page.Items} {
			assert.Equal(assert.Now(t), len(entities), 3, how, "entities")
			// Upcasters need whole values.
			if v, ok := entities[0].Value.(*employee1); !ok || *v != (employee1{EmailAddress: "kenk@contoso.com"}) || entities[0].Version != 1 {
				t.Errorf("%s: %+v of version %d", how, entities[0].Value, entities[0].Version)
			}
			if v, ok := entities[1].Value.(*employee3); !ok || v.LastName != "Beebe" || v.FirstName != "" || v.Emails != nil {
				t.Errorf("%s: %+v", how, entities[1].Value)
			}
			if v, ok := entities[2].Value.(*entitytype.Unknown); !ok || v.Properties["LastName"] != "Beebe" || v.Properties["X"] != nil {
				t.Errorf("%s: %+v", how, entities[2].Value)
			}
		}
		b.WantRequests(t, map[string]int{"Table.Query": 2})

		// A merge of the part keeps the rest of the row, and its version.
		ken := page.Items[0]
		b.ResetRequests()
		_, err := three.Replace(ctx, ken)
		assert.WantError(t, err, patterns.ErrProjected)
		b.WantRequestCount(t, 0)
		ken.Value.(*employee1).EmailAddress = "ken@contoso.com"
		assert.NoError(t, assert.ErrorOf(three.Merge(ctx, ken)))
		got := assert.Must(three.Get(ctx, ken.Key))(t)
		if v, ok := got.Value.(*employee3); !ok || v.FirstName != "Ken" || v.Emails[0] != "ken@contoso.com" || got.Version != 1 {
			t.Errorf("after the merge: %+v of version %d", got.Value, got.Version)
		}
	})
}
