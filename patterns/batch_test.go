package patterns_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// department is another type of row in the partition of its people.
type department struct {
	Dept  string `table:"PartitionKey"`
	Fixed string `table:"RowKey"`
	Heads int32
}

func TestBatchGivesTheETagOfEveryOperation(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		client := b.Table(t)
		table := newTable[person](t, client, nil)
		replaced := insert(t, table, somebody("replaced"))
		merged := insert(t, table, somebody("merged"))
		deleted := insert(t, table, somebody("deleted"))
		insert(t, table, somebody("upserted"))
		insert(t, table, somebody("any"))
		inserted, new1, new2 := somebody("inserted"), somebody("new1"), somebody("upserted")
		replaced.Value.Age, merged.Value.Age = 1, 2
		b.ResetRequests()

		batch := table.Batch().Insert(&inserted).Upsert(&new1, patterns.Merge).Upsert(&new2, patterns.Replace).
			Replace(replaced).Merge(merged).Delete(deleted.Key, deleted.ETag).Delete(somebody("any").key(), "")
		patterns.AddTo(batch, newTable[department](t, client, nil), patterns.InsertOp(&department{"sales", "~count", 7}))
		if batch.Len() != 8 {
			t.Errorf("Len is %d", batch.Len())
		}
		result, err := batch.Commit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cost(t, b, 1)
		rows := []string{"inserted", "new1", "upserted", "replaced", "merged", "deleted", "any", "~count"}
		for i, row := range rows {
			want := etagOf(t, table, keys.Key{Partition: "sales", Row: row})
			if result.ETags[i] != want {
				t.Errorf("%s: ETag %q returned, the row has %q", row, result.ETags[i], want)
			}
			if gone := row == "deleted" || row == "any"; gone != (want == "") {
				t.Errorf("%s: ETag %q", row, want)
			}
		}
		if get(t, table, replaced.Key).Value.Age != 1 || get(t, table, merged.Key).Value.Age != 2 {
			t.Error("the values were not written")
		}
		b.ResetRequests()
		_, err = batch.Commit(ctx)
		wantError(t, err, patterns.ErrCommitted)
		cost(t, b, 0)
	})
}

func TestBatchOfOneAndOfAHundred(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := people(t, b)
		if _, err := table.Batch().Commit(ctx); err != nil {
			t.Errorf("empty: %v", err)
		}
		cost(t, b, 0)
		for _, n := range []int{1, 2, 8, 9, 100} {
			batch := table.Batch()
			for i := range n {
				v := somebody(fmt.Sprintf("%d-%d", n, i))
				batch.Insert(&v)
			}
			result, err := batch.Commit(ctx)
			if err != nil || len(result.ETags) != n {
				t.Fatalf("%d operations: %d ETags, %v", n, len(result.ETags), err)
			}
			cost(t, b, 1)
			if want := etagOf(t, table, somebody(fmt.Sprintf("%d-%d", n, n-1)).key()); want == "" || result.ETags[n-1] != want {
				t.Errorf("%d operations: the last has ETag %q, want %q", n, result.ETags[n-1], want)
			}
			b.ResetRequests()
		}
	})
}

func TestBatchErrorNamesTheOperationAndHidesItsKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := people(t, b)
		there := insert(t, table, somebody("there-SECRET"))
		stale := there
		there.Value.Age++
		if _, err := table.Replace(ctx, there); err != nil {
			t.Fatal(err)
		}
		missing := somebody("missing-SECRET").key()
		good := somebody("good")
		twice := somebody("there-SECRET")
		for _, c := range []struct {
			name, op, code string
			status         int
			is             error
			key            keys.Key
			add            func(*patterns.Batch[person]) *patterns.Batch[person]
		}{
			{"exists", "insert", "EntityAlreadyExists", 409, patterns.ErrExists, twice.key(), func(b *patterns.Batch[person]) *patterns.Batch[person] { return b.Insert(&twice) }},
			{"missing", "delete", "ResourceNotFound", 404, patterns.ErrNotFound, missing, func(b *patterns.Batch[person]) *patterns.Batch[person] { return b.Delete(missing, azcore.ETagAny) }},
			{"gone", "delete", "ResourceNotFound", 404, patterns.ErrNotFound, missing, func(b *patterns.Batch[person]) *patterns.Batch[person] { return b.Delete(missing, "") }},
			{"stale", "replace", "UpdateConditionNotSatisfied", 412, patterns.ErrConflict, twice.key(), func(b *patterns.Batch[person]) *patterns.Batch[person] { return b.Replace(stale) }},
			{"stale merge", "merge", "UpdateConditionNotSatisfied", 412, patterns.ErrConflict, twice.key(), func(b *patterns.Batch[person]) *patterns.Batch[person] { return b.Merge(stale) }},
		} {
			b.ResetRequests()
			other := somebody("other")
			batch := c.add(table.Batch().Insert(&good)).Upsert(&other, patterns.Replace)
			_, err := batch.Commit(ctx)
			cost(t, b, 1)
			wantError(t, err, c.is)
			var f *patterns.BatchError
			if !errors.As(err, &f) || f.Index != 1 || f.Op != c.op || f.Key != c.key || f.Code != c.code || f.Status != c.status {
				t.Errorf("%s: got %+v", c.name, f)
			}
			var e *patterns.Error
			if !errors.As(err, &e) || e.Status != c.status || e.Code != c.code || e.Unsure {
				t.Errorf("%s: got %+v", c.name, e)
			}
			var sdk *azcore.ResponseError
			if !errors.As(err, &sdk) || sdk.StatusCode != c.status || sdk.ErrorCode != c.code {
				t.Errorf("%s: got %+v", c.name, sdk)
			} else if body, err := io.ReadAll(sdk.RawResponse.Body); err != nil || !strings.Contains(string(body), `"odata.error"`) {
				t.Errorf("%s: the raw reply reads %q, %v", c.name, body, err)
			}
			for _, text := range []string{err.Error(), fmt.Sprint(err), fmt.Sprintf("%s", err), fmt.Sprintf("%v", err)} {
				if strings.Contains(text, "SECRET") || strings.Contains(text, "sales") || !strings.Contains(text, "operation 1 ("+c.op+")") || strings.Count(text, "batch:") != 1 {
					t.Errorf("%s: message %q", c.name, text)
				}
			}
			if text := fmt.Sprintf("%+v", err); !strings.Contains(text, "SECRET") || !strings.Contains(text, c.code) {
				t.Errorf("%s: %%+v gives %q", c.name, text)
			}
			if etagOf(t, table, good.key()) != "" {
				t.Fatalf("%s: the transaction was applied in part", c.name)
			}
		}
	})
}

func TestBatchIsCheckedBeforeItIsSent(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := newTable[person](t, client, nil)
		elsewhere := somebody("x")
		elsewhere.Dept = "SECRET"
		big := func(i int) *person {
			p := somebody(fmt.Sprint(i))
			p.Photo = make([]byte, 48<<10)
			return &p
		}
		hundred := func() *patterns.Batch[person] {
			batch := table.Batch()
			for i := range 100 {
				v := somebody(fmt.Sprint(i))
				batch.Insert(&v)
			}
			return batch
		}
		ann, bob := somebody("ann"), somebody("bob")
		for _, c := range []struct {
			name  string
			batch *patterns.Batch[person]
			index int
			is    error
		}{
			{"101 operations", hundred().Insert(&ann), 100, patterns.ErrTooLarge},
			{"two partitions", table.Batch().Insert(&ann).Insert(&elsewhere), 1, patterns.ErrMixedPartitions},
			{"a row twice", table.Batch().Insert(&ann).Insert(&bob).Delete(ann.key(), ""), 2, patterns.ErrDuplicateRow},
			{"a row twice among many", hundred().Delete(somebody("99").key(), ""), 100, patterns.ErrTooLarge},
			{"nil", table.Batch().Insert(&ann).Insert(nil), 1, patterns.ErrNil},
			{"nil upsert", table.Batch().Upsert(nil, patterns.Merge), 0, patterns.ErrNil},
			{"no ETag", table.Batch().Replace(patterns.Item[person]{Value: ann, Key: ann.key()}), 0, patterns.ErrBadETag},
			{"an ETag that ends the header", table.Batch().Delete(ann.key(), "W/\"x\"\r\nX-Evil: 1"), 0, patterns.ErrBadETag},
			{"a bad key", table.Batch().Delete(keys.Key{Partition: "sales", Row: "a/b"}, ""), 0, patterns.ErrBadKey},
		} {
			_, err := c.batch.Commit(t.Context())
			wantError(t, err, c.is)
			var f *patterns.BatchError
			if !errors.As(err, &f) || f.Index != c.index || f.Status != 0 || f.Code != "" {
				t.Errorf("%s: got %+v", c.name, f)
			}
			silent(t, err, "SECRET", "sales", "a/b", "Evil")
		}
		large := table.Batch()
		for i := range 70 {
			large.Insert(big(i))
		}
		_, err := large.Commit(t.Context())
		wantError(t, err, patterns.ErrTooLarge)
		cost(t, b, 0)
	})
}

// What Batch lets through must be under the service's limit, whatever keys and
// conditions add to it; and it must not refuse what is well under it.
func TestBatchSendsUpToFourMebibytes(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, row := range []string{"r", strings.Repeat("😀", 250), strings.Repeat("%", 500)} {
			table := people(t, b)
			b.ResetRequests()
			photo := 31_000
			for ; len(b.Requests()) == 0; photo -= 256 {
				batch := table.Batch()
				for i := range 100 {
					v := somebody(fmt.Sprintf("%s%02d", row, i))
					v.Photo = make([]byte, photo)
					batch.Replace(patterns.Item[person]{Value: v, Key: v.key(), ETag: `W/"datetime'2026-01-02T03%3A04%3A05.1234567Z'"`})
				}
				_, err := batch.Commit(t.Context())
				if len(b.Requests()) == 0 {
					wantError(t, err, patterns.ErrTooLarge)
				} else {
					wantError(t, err, patterns.ErrNotFound)
				}
			}
			if n := b.Requests()[0].RequestBytes; n > patterns.MaxBatchBytes || n < patterns.MaxBatchBytes*98/100 {
				t.Errorf("keys like %.4q: the largest that is sent has %d bytes of %d", row, n, patterns.MaxBatchBytes)
			}
		}
	})
}
