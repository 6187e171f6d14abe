package entitytype_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
)

// The types of three releases of a program.
type (
	employee1 struct {
		Name         string
		EmailAddress string
	}
	employee2 struct {
		FirstName, LastName string
		EmailAddress        string
	}
	employee3 struct {
		FirstName, LastName string
		Emails              []string `table:",json"`
	}
	department struct {
		DepartmentName string
		EmployeeCount  int64
	}
)

func from1(e employee1) (any, error) {
	first, last, ok := strings.Cut(e.Name, " ")
	if !ok {
		return nil, errors.New("no last name")
	}
	return employee2{first, last, e.EmailAddress}, nil
}

func from2(e employee2) (any, error) {
	return &employee3{e.FirstName, e.LastName, []string{e.EmailAddress}}, nil
}

// newTables returns one table as the first and as the third release of the program use it.
func newTables(t testing.TB, b *harness.Backend, opts *entitytype.RegistryOptions) (one, three *entitytype.Table) {
	t.Helper()
	return newTablesWith(t, b, opts, nil)
}

func newTablesWith(t testing.TB, b *harness.Backend, opts *entitytype.RegistryOptions, with *entitytype.Options) (one, three *entitytype.Table) {
	t.Helper()
	client := b.Table(t)
	old, now := newRegistry(t, opts), newRegistry(t, opts)
	err := errors.Join(
		entitytype.Register[employee1](old, "Employee", 1, nil),
		entitytype.Register[department](old, "Department", 1, nil),
		entitytype.Register(now, "Employee", 1, from1),
		entitytype.Register(now, "Employee", 2, from2),
		entitytype.Register[employee3](now, "Employee", 3, nil),
		entitytype.Register[department](now, "Department", 1, nil),
	)
	one, err1 := entitytype.New(client, old, with)
	three, err3 := entitytype.New(client, now, with)
	assert.NoError(t, errors.Join(err, err1, err3))
	return one, three
}

func newRegistry(t testing.TB, opts *entitytype.RegistryOptions) *entitytype.Registry {
	t.Helper()
	r := assert.Must(entitytype.NewRegistry(opts))(t)
	return r
}

// properties returns the table as one whose rows are maps.
func properties(t testing.TB, table *entitytype.Table) *patterns.Table[map[string]any] {
	t.Helper()
	return harness.NewTable(t, table.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
}

// insert inserts entities under row keys of the partition Sales.
func insert(t testing.TB, table *entitytype.Table, entities map[string]any) {
	t.Helper()
	for row, v := range entities {
		assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), sales(row), v)))
	}
}

func sales(row string) keys.Key { return keys.Key{Partition: "Sales", Row: row} }

// both runs body with the type in a property, and with its name in the row key.
func both(t *testing.T, body func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions)) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		t.Run("by property", func(t *testing.T) { body(t, b, nil) })
		t.Run("by row key", func(t *testing.T) { body(t, b, &entitytype.RegistryOptions{ByRowKey: true}) })
	})
}
