package bench

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// rowRows are the operations on single rows, pages and transactions of a table.
func rowRows() []Row {
	first := keys.Key{Partition: "Sales", Row: "00000001"}
	older := func(e *Employee) error { e.Age++; return nil }
	return []Row{
		pointRead(),
		writeRow("insert", Goal{Ratio: 3.3, Allocs: 72, Requests: 1}, nil,
			func(ctx context.Context, c *aztables.Client, e []byte) error {
				_, err := c.AddEntity(ctx, e, nil)
				return err
			},
			func(ctx context.Context, t *patterns.Table[Employee], e *Employee) error {
				_, err := t.Insert(ctx, e)
				return err
			}),
		writeRow("upsert", Goal{Ratio: 2.5, Allocs: 72, Requests: 1}, nil,
			func(ctx context.Context, c *aztables.Client, e []byte) error {
				_, err := c.UpsertEntity(ctx, e, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
				return err
			},
			func(ctx context.Context, t *patterns.Table[Employee], e *Employee) error {
				_, err := t.Upsert(ctx, e, patterns.Replace)
				return err
			}),
		writeRow("Table.Update", Goal{Ratio: 2.7, Allocs: 135, Requests: 2}, one,
			func(ctx context.Context, c *aztables.Client, _ []byte) error {
				e, etag, err := handGetVersion[HandEmployee](ctx, c, first.Partition, first.Row)
				if err != nil {
					return err
				}
				e.Age++
				changed, err := json.Marshal(e)
				if err != nil {
					return err
				}
				_, err = c.UpdateEntity(ctx, changed, &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeReplace})
				return err
			},
			func(ctx context.Context, t *patterns.Table[Employee], _ *Employee) error {
				_, err := t.Update(ctx, first, older)
				return err
			}),
		writeRow("Delete", Goal{Ratio: 1.3, Allocs: 62, Requests: 1}, one,
			func(ctx context.Context, c *aztables.Client, _ []byte) error {
				_, err := c.DeleteEntity(ctx, first.Partition, first.Row, &aztables.DeleteEntityOptions{IfMatch: anyETag()})
				return err
			},
			func(ctx context.Context, t *patterns.Table[Employee], _ *Employee) error {
				return t.Delete(ctx, first, azcore.ETagAny)
			}),
		batchRow(), pageRow(), inRow(), bulkRow(), deleteWhereRow(),
	}
}

func anyETag() *azcore.ETag { e := azcore.ETagAny; return &e }

// writeRow is an operation on one row. By hand it gets the entity as JSON.
func writeRow(name string, goal Goal, setup func(context.Context, *Clients) error,
	hand func(context.Context, *aztables.Client, []byte) error, ours func(context.Context, *patterns.Table[Employee], *Employee) error) Row {
	return Row{
		Name: name, Unit: "operation", Goal: goal, Setup: setup,
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error {
			e, err := json.Marshal(handEmployee(1))
			if err != nil {
				return err
			}
			return hand(ctx, client, e)
		}),
		Ours: with(employees, func(ctx context.Context, t *patterns.Table[Employee]) error {
			e := employee(1)
			return ours(ctx, t, &e)
		}),
	}
}

// one stores the first row.
func one(ctx context.Context, c *Clients) error {
	t, err := employees(c)
	if err == nil {
		e := employee(1)
		_, err = t.Insert(ctx, &e)
	}
	return err
}

func batchRow() Row {
	hand, ours := rowsOf(handEmployee), rowsOf(employee)
	return Row{
		Name: "batch of 100", Unit: "operation", Per: batchRows, Goal: Goal{Ratio: 30, Allocs: 1, Requests: 0.01},
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error { return handBatch(ctx, client, hand) }),
		Ours: with(employees, func(ctx context.Context, t *patterns.Table[Employee]) error {
			b := t.Batch()
			for i := range ours {
				b.Insert(&ours[i])
			}
			_, err := b.Commit(ctx)
			return err
		}),
	}
}

// stored stores rows of the partition Sales.
func stored(rows int) func(context.Context, *Clients) error {
	return func(ctx context.Context, c *Clients) error {
		t, err := employees(c)
		if err == nil {
			_, err = t.Bulk(ctx, inserts(rows), nil)
		}
		return err
	}
}

func inserts(rows int) func(func(patterns.Op[Employee]) bool) {
	return func(yield func(patterns.Op[Employee]) bool) {
		for i := range rows {
			if e := employee(i); !yield(patterns.InsertOp(&e)) {
				return
			}
		}
	}
}

func pageRow() Row {
	return Row{
		Name: "page read", Unit: "row", Per: pageRows, Goal: Goal{Ratio: 32, Allocs: 1.2}, Setup: stored(pageRows),
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error {
			n, err := handRange[HandEmployee](ctx, client, "PartitionKey eq 'Sales'")
			return wantCount(n, pageRows, err)
		}),
		Ours: with(employees, func(ctx context.Context, t *patterns.Table[Employee]) error {
			return wantAll(t.Query(ctx, query.PartitionKey.Eq("Sales"), nil), pageRows)
		}),
	}
}

// inKeys are the rows that are read by their keys.
const inKeys = 500

func inRow() Row {
	rowKeys := make([]any, inKeys)
	for i := range rowKeys {
		rowKeys[i] = employee(2 * i).RowKey
	}
	people := func(c *Clients) (*patterns.Table[Person], error) { return patterns.NewTable[Person](c.Table(), nil) }
	return Row{
		Name: "In(500)", Unit: "key", Per: inKeys, Goal: Goal{Ratio: 2.1, Allocs: 82, Requests: 1}, Setup: stored(2 * inKeys),
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error {
			_, err := handKeys[Person](ctx, client, rowKeys)
			return err
		}),
		Ours: with(people, func(ctx context.Context, t *patterns.Table[Person]) error {
			return wantAll(t.Query(ctx, query.And(query.PartitionKey.Eq("Sales"), query.RowKey.In(rowKeys...)), nil), inKeys)
		}),
	}
}

// bulkOps is the number of rows that are inserted or deleted together.
const bulkOps = 1000

func bulkRow() Row {
	return Row{
		Name: "bulk", Unit: "row", Per: bulkOps, Goal: Goal{Ratio: 18, Allocs: 14},
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error {
			return inChunks(ctx, bulkOps, func(ctx context.Context, from, to int) error {
				rows := make([]HandEmployee, 0, to-from)
				for i := from; i < to; i++ {
					rows = append(rows, handEmployee(i))
				}
				return handBatch(ctx, client, rows)
			})
		}),
		Ours: with(employees, func(ctx context.Context, t *patterns.Table[Employee]) error {
			_, err := t.Bulk(ctx, inserts(bulkOps), nil)
			return err
		}),
	}
}

// inChunks calls do for transactions of n rows, a few at a time.
func inChunks(ctx context.Context, n int, do func(ctx context.Context, from, to int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(pointWidth)
	for from := 0; from < n; from += batchRows {
		g.Go(func() error { return do(ctx, from, min(from+batchRows, n)) })
	}
	return g.Wait()
}

func deleteWhereRow() Row {
	filter, names := "PartitionKey eq 'Sales'", "PartitionKey,RowKey"
	return Row{
		Name: "delete where", Unit: "row", Per: bulkOps, Goal: Goal{Ratio: 16, Allocs: 3.2}, Setup: stored(bulkOps),
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error {
			var t handTransaction
			pager := client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Select: &names})
			for pager.More() {
				page, err := pager.NextPage(ctx)
				if err != nil {
					return err
				}
				for _, raw := range page.Entities {
					var e struct {
						aztables.Entity
						ETag azcore.ETag `json:"odata.etag"`
					}
					if err := json.Unmarshal(raw, &e); err != nil {
						return err
					}
					t.add(aztables.TransactionTypeDelete, e.Entity, &e.ETag)
				}
			}
			return inChunks(ctx, len(t.actions), func(ctx context.Context, from, to int) error {
				chunk := handTransaction{t.actions[from:to], t.err}
				return chunk.submit(ctx, client)
			})
		}),
		Ours: with(employees, func(ctx context.Context, t *patterns.Table[Employee]) error {
			p, err := t.DeleteWhere(ctx, query.PartitionKey.Eq("Sales"), "", nil)
			return wantCount(p.Done, bulkOps, err)
		}),
	}
}

func pointRead() Row {
	check := func(lastName, office string, err error) error {
		if want := employee(1); err == nil && (lastName != want.LastName || office != want.Office) {
			err = fmt.Errorf("read %s, %s", lastName, office)
		}
		return err
	}
	return Row{
		Name: "point read", Unit: "read", Goal: Goal{Ratio: 5, Allocs: 66}, Setup: one,
		Hand: onTable(func(ctx context.Context, client *aztables.Client) error {
			e, err := handGet[HandEmployee](ctx, client, "Sales", "00000001")
			return check(e.LastName, e.Office, err)
		}),
		Ours: with(employees, func(ctx context.Context, t *patterns.Table[Employee]) error {
			e, err := t.Get(ctx, keys.Key{Partition: "Sales", Row: "00000001"})
			return check(e.Value.LastName, e.Value.Office, err)
		}),
	}
}
