package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/query"
)

// Department and Member are a parent and its children, or two types in one partition.
type Department struct {
	Dept, Name, Manager string
	Count               int32
}

type Member struct {
	Dept, ID, FirstName, LastName, Email string
	Age                                  int32
	Score                                float64
	Joined                               time.Time
}

type handParent struct {
	aztables.Entity
	Dept, Name, Manager string
	Count               int32
	EntityType          string `json:",omitempty"`
}

type handChild struct {
	aztables.Entity
	Dept, ID, FirstName, LastName, Email string
	Age                                  int32
	Score                                float64
	Joined                               aztables.EDMDateTime
	JoinedType                           string `json:"Joined@odata.type"`
	EntityType                           string `json:",omitempty"`
}

const familySize = 10

func department() Department { return Department{"Sales", "Sales", "Mary", familySize} }

func member(i int) Member {
	return Member{"Sales", fmt.Sprintf("%05d", i), "Mary", "Jones", fmt.Sprintf("mary%d@contoso.com", i), int32(i), 1.5, time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)}
}

func departmentByHand(row, entityType string) handParent {
	d := department()
	return handParent{aztables.Entity{PartitionKey: "Contoso", RowKey: row}, d.Dept, d.Name, d.Manager, d.Count, entityType}
}

func memberByHand(row, entityType string, i int) handChild {
	m := member(i)
	return handChild{aztables.Entity{PartitionKey: "Contoso", RowKey: row}, m.Dept, m.ID, m.FirstName, m.LastName, m.Email, m.Age, m.Score,
		aztables.EDMDateTime(m.Joined), "Edm.DateTime", entityType}
}

func insertFamilyByHand(ctx context.Context, table *aztables.Client) error {
	var t handTransaction
	t.insert(departmentByHand("Sales_", ""))
	for i := range familySize {
		t.insert(memberByHand(fmt.Sprintf("Sales_%05d", i), "", i))
	}
	return t.submit(ctx, table)
}

func family(c *Clients) (*compoundkey.Family[Department, Member], error) {
	return compoundkey.New(c.Table(),
		func(d *Department) compoundkey.ID { return compoundkey.ID{Partition: "Contoso", Parent: d.Dept} },
		func(m *Member) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: "Contoso", Parent: m.Dept}, m.ID
		}, nil)
}

func familyRows() []Row {
	children := make([]*Member, familySize)
	for i := range children {
		children[i] = to.Ptr(member(i))
	}
	return []Row{{
		Name: "family insert, 1 + 10", Unit: "operation", Goal: Goal{Ratio: 13, Allocs: 125, Requests: 1},
		Hand: onTable(insertFamilyByHand),
		Ours: with(family, func(ctx context.Context, f *compoundkey.Family[Department, Member]) error {
			_, err := f.Insert(ctx, to.Ptr(department()), children...)
			return err
		}),
		Check: leaves(1 + familySize),
	}, {
		Name: "family read, 1 + 10", Unit: "operation", Goal: Goal{Ratio: 5, Allocs: 130, Requests: 1},
		Setup: func(ctx context.Context, c *Clients) error { return insertFamilyByHand(ctx, c.Table()) },
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			n, err := readTypes(ctx, table, "PartitionKey eq 'Contoso' and RowKey ge 'Sales_' and RowKey lt 'Sales`'",
				func(raw []byte) (bool, error) {
					var key struct{ RowKey string }
					err := json.Unmarshal(raw, &key)
					return key.RowKey == "Sales_", err
				})
			return wantCount(n, 1+familySize, err)
		}),
		Ours: with(family, func(ctx context.Context, f *compoundkey.Family[Department, Member]) error {
			m, err := f.Get(ctx, compoundkey.ID{Partition: "Contoso", Parent: "Sales"})
			return wantCount(len(m.Children), familySize, err)
		}),
	}}
}

// readTypes reads departments and members, and returns how many.
func readTypes(ctx context.Context, table *aztables.Client, filter string, isDepartment func(raw []byte) (bool, error)) (n int, err error) {
	var departments []handParent
	var all []handChild
	for pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		for _, raw := range page.Entities {
			parent, err := isDepartment(raw)
			if err == nil && parent {
				departments = append(departments, handParent{})
				err = json.Unmarshal(raw, &departments[len(departments)-1])
			} else if err == nil {
				all = append(all, handChild{})
				err = json.Unmarshal(raw, &all[len(all)-1])
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return len(departments) + len(all), nil
}

// entityTypes reads departments, each followed by nine members.
func entityTypes() Row {
	const rows = 1000
	return Row{
		Name: "entity types", Unit: "row", Per: rows, Goal: Goal{Ratio: 15, Allocs: 4},
		Setup: func(ctx context.Context, c *Clients) error {
			for from := 0; from < rows; from += batchRows {
				var t handTransaction
				for i := from; i < from+batchRows; i++ {
					if key := fmt.Sprintf("%05d", i); i%10 == 0 {
						t.insert(departmentByHand(key, "Department:1"))
					} else {
						t.insert(memberByHand(key, "Member:1", i))
					}
				}
				if err := t.submit(ctx, c.Table()); err != nil {
					return err
				}
			}
			return nil
		},
		Hand: onTable(func(ctx context.Context, table *aztables.Client) error {
			n, err := readTypes(ctx, table, "PartitionKey eq 'Contoso'", func(raw []byte) (bool, error) {
				var t struct{ EntityType string }
				err := json.Unmarshal(raw, &t)
				return t.EntityType == "Department:1", err
			})
			return wantCount(n, rows, err)
		}),
		Ours: with(registered, func(ctx context.Context, table *entitytype.Table) error {
			n := 0
			for e, err := range table.Query(ctx, query.PartitionKey.Eq("Contoso"), nil) {
				if err != nil {
					return err
				}
				switch e.Value.(type) {
				case *Department, *Member:
					n++
				}
			}
			return wantCount(n, rows, nil)
		}),
	}
}

// registered opens the table with both types.
func registered(c *Clients) (*entitytype.Table, error) {
	r, err := entitytype.NewRegistry(nil)
	if err == nil {
		err = entitytype.Register[Department](r, "Department", 1, nil)
	}
	if err == nil {
		err = entitytype.Register[Member](r, "Member", 1, nil)
	}
	if err != nil {
		return nil, err
	}
	return entitytype.New(c.Table(), r, nil)
}
