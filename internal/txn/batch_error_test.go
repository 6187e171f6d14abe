package txn_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestBatchErrorNamesTheOperationButNotItsKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		there := harness.Insert(t, table, harness.NewPerson("there-SECRET"))
		stale := there
		there.Value.Age++
		assert.NoError(t, assert.ErrorOf(table.Replace(ctx, there)))
		missing := harness.NewPerson("missing-SECRET").Key()
		good := harness.NewPerson("good")
		twice := harness.NewPerson("there-SECRET")
		for _, c := range []struct {
			name, op, code string
			status         int
			is             error
			key            keys.Key
			add            func(*patterns.Batch[harness.Person]) *patterns.Batch[harness.Person]
		}{
			{"exists", "insert", "EntityAlreadyExists", 409, patterns.ErrExists, twice.Key(), func(b *patterns.Batch[harness.Person]) *patterns.Batch[harness.Person] { return b.Insert(&twice) }},
			{"missing", "delete", "ResourceNotFound", 404, patterns.ErrNotFound, missing, func(b *patterns.Batch[harness.Person]) *patterns.Batch[harness.Person] {
				return b.Delete(missing, azcore.ETagAny)
			}},
			{"gone", "delete", "ResourceNotFound", 404, patterns.ErrNotFound, missing, func(b *patterns.Batch[harness.Person]) *patterns.Batch[harness.Person] { return b.Delete(missing, "") }},
			{"stale", "replace", "UpdateConditionNotSatisfied", 412, patterns.ErrConflict, twice.Key(), func(b *patterns.Batch[harness.Person]) *patterns.Batch[harness.Person] { return b.Replace(stale) }},
			{"stale merge", "merge", "UpdateConditionNotSatisfied", 412, patterns.ErrConflict, twice.Key(), func(b *patterns.Batch[harness.Person]) *patterns.Batch[harness.Person] { return b.Merge(stale) }},
		} {
			b.ResetRequests()
			other := harness.NewPerson("other")
			batch := c.add(table.Batch().Insert(&good)).Upsert(&other, patterns.Replace)
			_, err := batch.Commit(ctx)
			b.WantRequestCount(t, 1)
			assert.WantError(t, err, c.is)
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
				t.Errorf("%s: %%+v prints %q", c.name, text)
			}
			assert.Equal(assert.Now(t), harness.ETagOf(t, table, good.Key()), "", c.name, "the transaction was applied in part")
		}
	})
}

func TestAnInvalidBatchIsNotSent(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := harness.NewTable[harness.Person](t, client, nil)
		elsewhere := harness.NewPerson("x")
		elsewhere.Dept = "SECRET"
		big := func(i int) *harness.Person {
			p := harness.NewPerson(fmt.Sprint(i))
			p.Photo = make([]byte, 48<<10)
			return &p
		}
		hundred := func() *patterns.Batch[harness.Person] {
			batch := table.Batch()
			for i := range 100 {
				v := harness.NewPerson(fmt.Sprint(i))
				batch.Insert(&v)
			}
			return batch
		}
		ann, bob := harness.NewPerson("ann"), harness.NewPerson("bob")
		for _, c := range []struct {
			name  string
			batch *patterns.Batch[harness.Person]
			index int
			is    error
		}{
			{"101 operations", hundred().Insert(&ann), 100, patterns.ErrTooLarge},
			{"two partitions", table.Batch().Insert(&ann).Insert(&elsewhere), 1, patterns.ErrMixedPartitions},
			{"a row twice", table.Batch().Insert(&ann).Insert(&bob).Delete(ann.Key(), ""), 2, patterns.ErrDuplicateRow},
			{"a row twice among many", hundred().Delete(harness.NewPerson("99").Key(), ""), 100, patterns.ErrTooLarge},
			{"nil", table.Batch().Insert(&ann).Insert(nil), 1, patterns.ErrNil},
			{"nil upsert", table.Batch().Upsert(nil, patterns.Merge), 0, patterns.ErrNil},
			{"no ETag", table.Batch().Replace(patterns.Item[harness.Person]{Value: ann, Key: ann.Key()}), 0, patterns.ErrBadETag},
			{"an ETag that ends the header", table.Batch().Delete(ann.Key(), "W/\"x\"\r\nX-Evil: 1"), 0, patterns.ErrBadETag},
			{"a bad key", table.Batch().Delete(keys.Key{Partition: "sales", Row: "a/b"}, ""), 0, patterns.ErrBadKey},
		} {
			_, err := c.batch.Commit(t.Context())
			assert.WantError(t, err, c.is)
			var f *patterns.BatchError
			if !errors.As(err, &f) || f.Index != c.index || f.Status != 0 || f.Code != "" {
				t.Errorf("%s: got %+v", c.name, f)
			}
			assert.WantHidden(t, err, "SECRET", "sales", "a/b", "Evil")
		}
		large := table.Batch()
		for i := range 70 {
			large.Insert(big(i))
		}
		_, err := large.Commit(t.Context())
		assert.WantError(t, err, patterns.ErrTooLarge)
		b.WantRequestCount(t, 0)
	})
}

func TestARefusedBatchReturnsStatusAndCode(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		for _, c := range []struct {
			status int
			code   string
			is     error
		}{
			{http.StatusForbidden, "AuthorizationFailure", nil},
			{http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", patterns.ErrTooLarge},
			{http.StatusServiceUnavailable, "ServerBusy", patterns.ErrThrottled},
			{http.StatusNotFound, "TableNotFound", patterns.ErrTableNotFound},
		} {
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Batch").Status(c.status, c.code))
			v := harness.NewPerson("x")
			_, err := table.Batch().Insert(&v).Commit(t.Context())
			var f *patterns.BatchError
			if !errors.As(err, &f) || f.Index != -1 || f.Status != c.status || f.Code != c.code {
				t.Errorf("%d %s: got %+v", c.status, c.code, err)
			}
			if c.is != nil {
				assert.WantError(t, err, c.is)
			}
			var sdk *azcore.ResponseError
			if !errors.As(err, &sdk) || sdk.StatusCode != c.status {
				t.Errorf("%d %s: got %+v", c.status, c.code, sdk)
			}
		}
	})
}

// The second Commit finds the rows that the first one has written.
func TestABatchOfUnknownOutcomeCanBeCommittedAgain(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for what, rule := range map[string]storagetest.Rule{"lost reply": storagetest.On("Table.Batch").Times(4).LoseReply(), "lost request": storagetest.On("Table.Batch").Times(4).LoseRequest()} {
			name := harness.UniqueName()
			table := harness.NewTable(t, b.NamedTable(t, name), &patterns.TableOptions[counter]{StampWrites: true})
			direct := harness.NewTable[counter](t, b.Direct(t, name), nil)
			batch := table.Batch().Insert(&counter{"hits", "0", 1}).Insert(&counter{"hits", "1", 1})
			b.ClearFaults()
			b.Fault(rule, storagetest.On("Table.Get").LoseRequest())
			_, err := batch.Commit(t.Context())
			assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			b.ClearFaults()
			result, err := batch.Commit(t.Context())
			if err != nil || len(result.ETags) != 2 || result.ETags[0] != harness.ETagOf(t, direct, tally) {
				t.Errorf("%s: %v, %v", what, result, err)
			}
			_, err = batch.Commit(t.Context())
			assert.WantError(t, err, patterns.ErrCommitted)
			other := table.Batch().Insert(&counter{"hits", "0", 1})
			_, err = other.Commit(t.Context())
			if !errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: another transaction gets %v", what, err)
			}
			b.ResetRequests()
			_, err = other.Commit(t.Context())
			assert.WantError(t, err, patterns.ErrExists)
			b.WantRequestCount(t, 1)
		}
	})
}

// The stored rows prove the outcome only of the operations that were sent.
func TestABatchOfUnknownOutcomeAcceptsNoMoreOperations(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, stamped := range []bool{false, true} {
			b.ClearFaults()
			client := b.Table(t)
			table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: stamped})
			batch := table.Batch().Insert(&counter{"hits", "0", 1})
			b.Fault(storagetest.On("Table.Batch").Times(4).LoseReply(), storagetest.On("Table.Get").LoseRequest())
			_, err := batch.Commit(t.Context())
			assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			b.ClearFaults()
			b.ResetRequests()
			batch = patterns.AddTo(batch, table, patterns.InsertOp(&counter{"hits", "1", 1}))
			for range 2 {
				_, err = batch.Insert(&counter{"hits", "2", 1}).Commit(t.Context())
				var failed *patterns.BatchError
				if assert.WantError(t, err, patterns.ErrOutcomeUnknown); !errors.As(err, &failed) || failed.Index != 1 || failed.Key.Row != "1" {
					t.Errorf("%+v", err)
				}
			}
			b.WantRequestCount(t, 0)
			_, err = table.Get(t.Context(), keys.Key{Partition: "hits", Row: "1"})
			assert.WantError(t, err, patterns.ErrNotFound)
		}
	})
}

// The row is unchanged, and the attempts of the first Commit may still arrive.
func TestARefusalOfASecondCommitDoesNotDecideTheFirst(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: true})
		item := harness.Insert(t, table, counter{"hits", "0", 1})
		item.Value.N++
		batch := table.Batch().Replace(item)
		b.Fault(storagetest.On("Table.Batch").LoseRequest())
		assert.WantError(t, assert.ErrorOf(batch.Commit(t.Context())), patterns.ErrOutcomeUnknown)
		for code, status := range map[string]int{"ServerBusy": 503, "AuthorizationFailure": 403} {
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Batch").Status(status, code))
			assert.WantError(t, assert.ErrorOf(batch.Commit(t.Context())), patterns.ErrOutcomeUnknown)
		}
		b.ClearFaults()
		assert.Must(batch.Commit(t.Context()))(t)
	})
}
