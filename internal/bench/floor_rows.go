package bench

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/keys"
)

// rowRows are the operations on single rows, pages and transactions of a table.
func rowRows() []Row {
	return []Row{pointRead()}
}

func pointRead() Row {
	check := func(lastName, office string, err error) error {
		if want := employee(1); err == nil && (lastName != want.LastName || office != want.Office) {
			err = fmt.Errorf("read %s, %s", lastName, office)
		}
		return err
	}
	return Row{
		Name: "point read", Unit: "read", Goal: Goal{Ratio: 5, Allocs: 66},
		Setup: func(ctx context.Context, c *Clients) error {
			t, err := table(c.Table())
			if err == nil {
				e := employee(1)
				_, err = t.Insert(ctx, &e)
			}
			return err
		},
		Hand: func(c *Clients) (Run, error) {
			table := c.Table()
			return func(ctx context.Context) error {
				e, err := handGet[HandEmployee](ctx, table, "Sales", "00000001")
				return check(e.LastName, e.Office, err)
			}, nil
		},
		Ours: func(c *Clients) (Run, error) {
			t, err := table(c.Table())
			return func(ctx context.Context) error {
				e, err := t.Get(ctx, keys.Key{Partition: "Sales", Row: "00000001"})
				return check(e.Value.LastName, e.Value.Office, err)
			}, err
		},
	}
}
