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

// adds appends the insert of a row to a transaction.
func adds(actions []aztables.TransactionAction, row any) ([]aztables.TransactionAction, error) {
	raw, err := json.Marshal(row)
	return append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: raw}), err
}

func insertFamilyByHand(ctx context.Context, table *aztables.Client) error {
	actions, err := adds(nil, departmentByHand("Sales_", ""))
	for i := range familySize {
		if err == nil {
			actions, err = adds(actions, memberByHand(fmt.Sprintf("Sales_%05d", i), "", i))
		}
	}
	if err == nil {
		_, err = table.SubmitTransaction(ctx, actions, nil)
	}
	return err
}

func family(c *Clients) (*compoundkey.Family[Department, Member], error) {
	return compoundkey.New(c.Table(),
		func(d *Department) compoundkey.ID { return compoundkey.ID{Partition: "Contoso", Parent: d.Dept} },
		func(m *Member) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: "Contoso", Parent: m.Dept}, m.ID
		}, nil)
}

func familyRows() []Row {
	return []Row{{
		Name: "family insert, 1 + 10", Unit: "operation", Goal: Goal{Ratio: 13, Allocs: 125, Requests: 1},
		Hand: func(c *Clients) (Run, error) {
			table := c.Table()
			return func(ctx context.Context) error { return insertFamilyByHand(ctx, table) }, nil
		},
		Ours: func(c *Clients) (Run, error) {
			f, err := family(c)
			children := make([]*Member, familySize)
			for i := range children {
				children[i] = to.Ptr(member(i))
			}
			return func(ctx context.Context) error {
				_, err := f.Insert(ctx, to.Ptr(department()), children...)
				return err
			}, err
		},
		Check: func(ctx context.Context, c *Clients) error { return hasRows(ctx, c.Table(), 1+familySize) },
	}, {
		Name: "family read, 1 + 10", Unit: "operation", Goal: Goal{Ratio: 5, Allocs: 130, Requests: 1},
		Setup: func(ctx context.Context, c *Clients) error { return insertFamilyByHand(ctx, c.Table()) },
		Hand: func(c *Clients) (Run, error) {
			table := c.Table()
			return func(ctx context.Context) error {
				n, err := readTypes(ctx, table, "PartitionKey eq 'Contoso' and RowKey ge 'Sales_' and RowKey lt 'Sales`'",
					func(raw []byte) (bool, error) {
						var key struct{ RowKey string }
						err := json.Unmarshal(raw, &key)
						return key.RowKey == "Sales_", err
					})
				return wantCount(n, 1+familySize, err)
			}, nil
		},
		Ours: func(c *Clients) (Run, error) {
			f, err := family(c)
			return func(ctx context.Context) error {
				m, err := f.Get(ctx, compoundkey.ID{Partition: "Contoso", Parent: "Sales"})
				return wantCount(len(m.Children), familySize, err)
			}, err
		},
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

func wantCount(n, want int, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("%d, want %d", n, want)
	}
	return err
}

// entityTypes reads departments, each followed by nine members.
func entityTypes() Row {
	const rows = 1000
	return Row{
		Name: "entity types", Unit: "row", Per: rows, Goal: Goal{Ratio: 15, Allocs: 4},
		Setup: func(ctx context.Context, c *Clients) error {
			for from := 0; from < rows; from += batchRows {
				var actions []aztables.TransactionAction
				var err error
				for i := from; i < from+batchRows && err == nil; i++ {
					if key := fmt.Sprintf("%05d", i); i%10 == 0 {
						actions, err = adds(actions, departmentByHand(key, "Department:1"))
					} else {
						actions, err = adds(actions, memberByHand(key, "Member:1", i))
					}
				}
				if err == nil {
					_, err = c.Table().SubmitTransaction(ctx, actions, nil)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		Hand: func(c *Clients) (Run, error) {
			table := c.Table()
			return func(ctx context.Context) error {
				n, err := readTypes(ctx, table, "PartitionKey eq 'Contoso'", func(raw []byte) (bool, error) {
					var t struct{ EntityType string }
					err := json.Unmarshal(raw, &t)
					return t.EntityType == "Department:1", err
				})
				return wantCount(n, rows, err)
			}, nil
		},
		Ours: func(c *Clients) (Run, error) {
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
			table, err := entitytype.New(c.Table(), r, nil)
			return func(ctx context.Context) error {
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
			}, err
		},
	}
}
