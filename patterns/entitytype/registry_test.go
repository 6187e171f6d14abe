package entitytype_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestRegisterRefusesInvalidTypes(t *testing.T) {
	type withProperty struct{ EntityType string }
	type withChannel struct{ C chan int }
	r := newRegistry(t, nil)
	for _, c := range []struct {
		what      string
		err, want error
	}{
		{"empty name", entitytype.Register[department](r, "", 1, nil), entitytype.ErrBadType},
		{"name with the separator", entitytype.Register[department](r, "a_b", 1, nil), entitytype.ErrBadType},
		{"name with a colon", entitytype.Register[department](r, "a:b", 1, nil), entitytype.ErrBadType},
		{"version 0", entitytype.Register[department](r, "a", 0, nil), entitytype.ErrBadType},
		{"not a struct", entitytype.Register[int](r, "a", 1, nil), entitytype.ErrBadType},
		{"field of the same name", entitytype.Register[withProperty](r, "a", 1, nil), entitytype.ErrBadType},
		{"good", entitytype.Register[department](r, "a", 1, nil), nil},
		{"name twice", entitytype.Register[employee1](r, "a", 1, nil), entitytype.ErrRegistered},
		{"nil registry", entitytype.Register[employee2](nil, "b", 1, nil), patterns.ErrNil},
		{"zero registry", entitytype.Register[employee2](new(entitytype.Registry), "b", 1, nil), patterns.ErrNil},
		{"Go type twice", entitytype.Register[department](r, "b", 1, nil), entitytype.ErrRegistered},
	} {
		assert.WantError(t, c.err, c.want, c.what)
	}
	if err := entitytype.Register[withChannel](r, "c", 1, nil); !errors.Is(err, entitytype.ErrBadType) || !strings.Contains(err.Error(), "C") {
		t.Errorf("field that cannot be stored: %v", err)
	}
}

func TestNewRegistryRefusesNamesThatNoPropertyCanHave(t *testing.T) {
	for _, name := range []string{"PartitionKey", "RowKey", "Timestamp", "a b", "1x", "a-b", "odata.etag", "X@odata.type", "azp_type", "\xff", strings.Repeat("x", 256)} {
		assert.WantError(t, assert.ErrorOf(entitytype.NewRegistry(&entitytype.RegistryOptions{Property: name})), patterns.ErrBadOption, name)
	}
	client := storagetest.New(t).TablesWith(harness.Accelerated()).NewClient("Things")
	assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
	for _, name := range []string{"type", "_", "Größe", strings.Repeat("x", 255)} {
		r := newRegistry(t, &entitytype.RegistryOptions{Property: name})
		err := entitytype.Register[department](r, "Department", 1, nil)
		table, nerr := entitytype.New(client, r, nil)
		assert.NoError(t, errors.Join(err, nerr), name)
		key := sales(name[:1])
		_, err = table.Insert(t.Context(), key, &department{"Sales", 1})
		e, gerr := table.Get(t.Context(), key)
		if d, ok := e.Value.(*department); !ok || d.EmployeeCount != 1 || errors.Join(err, gerr) != nil {
			t.Errorf("%.20q: %T, %v", name, e.Value, errors.Join(err, gerr))
		}
	}
}
