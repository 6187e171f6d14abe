package bench

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Figure is a number with a goal that is not the cost of an operation, such as the size of
// a reply.
type Figure struct {
	Name    string
	Unit    string
	Goal    float64 // at most
	Measure func(context.Context) (float64, error)
}

// Figures returns the figures.
func Figures() []Figure {
	return []Figure{
		{"projected read of three columns, a row in the reply", "bytes", 104, projectedBytes},
	}
}

func projectedBytes(ctx context.Context) (float64, error) {
	account := storagetest.Start(nil)
	t, err := patterns.NewTable[Employee](account.TablesWith(patterns.Accelerate(nil)).NewClient(tableName), nil)
	if err != nil {
		return 0, err
	}
	if err := t.Create(ctx); err != nil {
		return 0, err
	}
	if _, err := t.Bulk(ctx, func(yield func(patterns.Op[Employee]) bool) {
		for i := range pageRows {
			if e := employee(i); !yield(patterns.InsertOp(&e)) {
				return
			}
		}
	}, nil); err != nil {
		return 0, err
	}
	account.ResetLog()
	n := 0
	opts := &patterns.QueryOptions{Select: []string{"FirstName", "Age", "EmailAddress"}}
	for _, err := range t.Query(ctx, query.PartitionKey.Eq("Sales"), opts) {
		if err != nil {
			return 0, err
		}
		n++
	}
	if n != pageRows {
		return 0, fmt.Errorf("%d rows, want %d", n, pageRows)
	}
	var bytes int64
	for _, r := range account.Log() {
		bytes += r.ReplyBytes
	}
	return float64(bytes) / pageRows, nil
}
