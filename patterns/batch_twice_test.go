package patterns_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A transaction names a row once, in whatever order and number rows come: the second
// time is refused, with its index, and nothing is sent.
func TestARowIsNeverTakenTwiceInAnyOrder(t *testing.T) {
	type row struct{ PartitionKey, RowKey string }
	acct := storagetest.New(t)
	table, err := patterns.NewTable[row](acct.Tables().NewClient("Rows"), nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= patterns.MaxBatchOps; n++ {
		for _, sorted := range []bool{true, false} {
			order := random.Perm(n - 1)
			if sorted {
				for i := range order {
					order[i] = i
				}
			}
			again := random.IntN(n - 1)
			b := table.Batch()
			for _, i := range append(order, again) {
				b.Insert(&row{"p", fmt.Sprintf("%03d", i)})
			}
			_, err := b.Commit(t.Context())
			var failed *patterns.BatchError
			if !errors.Is(err, patterns.ErrDuplicateRow) || !errors.As(err, &failed) || failed.Index != n-1 {
				t.Fatalf("%d rows, sorted %v, row %d again: %v", n, sorted, again, err)
			}
		}
	}
	if len(acct.Log()) != 0 {
		t.Error("requests were sent")
	}
}
