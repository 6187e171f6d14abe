package txn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// department is another type of row in the partition of its people.
type department struct {
	Dept  string `table:"PartitionKey"`
	Fixed string `table:"RowKey"`
	Heads int32
}

func TestBatchReturnsTheETagOfEveryOperation(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		client := b.Table(t)
		table := harness.NewTable[harness.Person](t, client, nil)
		replaced := harness.Insert(t, table, harness.NewPerson("replaced"))
		merged := harness.Insert(t, table, harness.NewPerson("merged"))
		deleted := harness.Insert(t, table, harness.NewPerson("deleted"))
		harness.Insert(t, table, harness.NewPerson("upserted"))
		harness.Insert(t, table, harness.NewPerson("any"))
		inserted, new1, new2 := harness.NewPerson("inserted"), harness.NewPerson("new1"), harness.NewPerson("upserted")
		replaced.Value.Age, merged.Value.Age = 1, 2
		b.ResetRequests()

		batch := table.Batch().Insert(&inserted).Upsert(&new1, patterns.Merge).Upsert(&new2, patterns.Replace).
			Replace(replaced).Merge(merged).Delete(deleted.Key, deleted.ETag).Delete(harness.NewPerson("any").Key(), "")
		patterns.AddTo(batch, harness.NewTable[department](t, client, nil), patterns.InsertOp(&department{"sales", "~count", 7}))
		assert.Equal(t, batch.Len(), 8, "Len is")
		result, err := batch.Commit(ctx)
		assert.NoError(t, err)
		b.WantRequestCount(t, 1)
		rows := []string{"inserted", "new1", "upserted", "replaced", "merged", "deleted", "any", "~count"}
		for i, row := range rows {
			want := harness.ETagOf(t, table, keys.Key{Partition: "sales", Row: row})
			assert.Equal(t, result.ETags[i], want, row, "ETag", "returned, the row has")
			assert.Equal(t, row == "deleted" || row == "any", want == "", row, "ETag", want)
		}
		assert.Equal(t, harness.Get(t, table, replaced.Key).Value.Age, 1)
		assert.Equal(t, harness.Get(t, table, merged.Key).Value.Age, 2)
		b.ResetRequests()
		_, err = batch.Commit(ctx)
		assert.WantError(t, err, patterns.ErrCommitted)
		b.WantRequestCount(t, 0)
	})
}

func TestBatchesOfAnySizeAreOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		assert.Equal(t, assert.ErrorOf(table.Batch().Commit(ctx)), nil, "empty")
		b.WantRequestCount(t, 0)
		for _, n := range []int{1, 2, 8, 9, 100} {
			batch := table.Batch()
			for i := range n {
				v := harness.NewPerson(fmt.Sprintf("%d-%d", n, i))
				batch.Insert(&v)
			}
			result, err := batch.Commit(ctx)
			assert.NoError(t, err)
			assert.Equal(assert.Now(t), len(result.ETags), n)
			b.WantRequestCount(t, 1)
			if want := harness.ETagOf(t, table, harness.NewPerson(fmt.Sprintf("%d-%d", n, n-1)).Key()); want == "" || result.ETags[n-1] != want {
				t.Errorf("%d operations: the last has ETag %q, want %q", n, result.ETags[n-1], want)
			}
			b.ResetRequests()
		}
	})
}

// A transaction that Batch accepts is under the limit of the service, including keys and
// conditions, and one well under the limit is not refused.
func TestBatchAcceptsUpToFourMebibytes(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, row := range []string{"r", strings.Repeat("😀", 250), strings.Repeat("%", 500)} {
			table := harness.People(t, b)
			b.ResetRequests()
			photo := 31_000
			for ; len(b.Requests()) == 0; photo -= 256 {
				batch := table.Batch()
				for i := range 100 {
					v := harness.NewPerson(fmt.Sprintf("%s%02d", row, i))
					v.Photo = make([]byte, photo)
					batch.Replace(patterns.Item[harness.Person]{Value: v, Key: v.Key(), ETag: `W/"datetime'2026-01-02T03%3A04%3A05.1234567Z'"`})
				}
				_, err := batch.Commit(t.Context())
				if len(b.Requests()) == 0 {
					assert.WantError(t, err, patterns.ErrTooLarge)
				} else {
					assert.WantError(t, err, patterns.ErrNotFound)
				}
			}
			if n := b.Requests()[0].RequestBytes; n > wire.MaxBatchBytes || n < wire.MaxBatchBytes*98/100 {
				t.Errorf("keys like %.4q: the largest that is sent has %d bytes of %d", row, n, wire.MaxBatchBytes)
			}
		}
	})
}

// Rows are in any order and number.
func TestBatchRefusesASecondOperationOnARow(t *testing.T) {
	type row struct{ PartitionKey, RowKey string }
	acct := storagetest.New(t)
	table := assert.Must(patterns.NewTable[row](acct.Tables().NewClient("Rows"), nil))(t)
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
	assert.Equal(t, len(acct.Log()), 0, "requests were sent")
}

// The size of a buffer depends on earlier rows.
func TestALargeRowDoesNotEnlargeTheBuffersOfLaterRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[map[string]any]{Keyless: true})
		write := func(row string, v map[string]any) patterns.Op[map[string]any] {
			return patterns.UpsertOp(&v, patterns.Replace).At(keys.Key{Partition: "p", Row: row})
		}
		large := map[string]any{}
		for i := range 15 {
			large[fmt.Sprint("S", i)] = strings.Repeat("x", 32768)
		}
		assert.NoError(t, assert.ErrorOf(table.Do(t.Context(), write("large", large))))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		batch := table.Batch()
		for i := range patterns.MaxBatchOps {
			batch.Add(write(fmt.Sprint(i), map[string]any{"N": 1}))
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("a transaction of small rows takes %d bytes", n)
		}
		assert.NoError(t, assert.ErrorOf(batch.Commit(t.Context())))
	})
}
