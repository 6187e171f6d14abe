package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Each test in this file has an input with which aztables v1.4.1 alone loses data, panics or reports a wrong result.

func TestAQuoteInAKeyIsStoredOnce(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		table := harness.NewTable[counter](t, b.NamedTable(t, name), nil)
		harness.Insert(t, table, counter{"O'Brien", "it's", 1})
		reply, err := b.Direct(t, name).GetEntity(t.Context(), "O'Brien", "it's", nil)
		assert.NoError(t, err)
		assert.Contains(t, string(reply.Value), `"O'Brien"`)
	})
}

func TestAnUpdateInABatchIsNotAnUpsert(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		b.ResetRequests()
		for _, add := range []func(*patterns.Batch[harness.Person], patterns.Item[harness.Person]) *patterns.Batch[harness.Person]{(*patterns.Batch[harness.Person]).Merge, (*patterns.Batch[harness.Person]).Replace} {
			_, err := add(table.Batch(), patterns.Item[harness.Person]{Value: ann, Key: ann.Key()}).Commit(ctx)
			assert.WantError(t, err, patterns.ErrBadETag)
			b.WantRequestCount(t, 0)
			_, err = add(table.Batch(), patterns.Item[harness.Person]{Value: ann, Key: ann.Key(), ETag: azcore.ETagAny}).Commit(ctx)
			assert.WantError(t, err, patterns.ErrNotFound)
			b.ResetRequests()
		}
	})
}

func TestDoublesAndIntegersKeepTheirTypesAndValues(t *testing.T) {
	type numbers struct {
		PartitionKey, RowKey  string
		Whole, NaN, Inf, Tiny float64
		Wide, Most            int64
		Narrow                int32
		Unset                 float64 `table:",omitempty"`
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		table := harness.NewTable[numbers](t, b.NamedTable(t, name), nil)
		v := numbers{"p", "r", 3, math.NaN(), math.Inf(-1), 5e-324, 1<<53 + 1, math.MinInt64, -1, 0}
		harness.Insert(t, table, v)
		key := keys.Key{Partition: "p", Row: "r"}
		for range 2 {
			got := harness.Get(t, table, key).Value
			if !math.IsNaN(got.NaN) {
				t.Errorf("NaN became %v", got.NaN)
			}
			got.NaN, v.NaN = 0, 0
			assert.Equal(t, got, v, "read")
			assert.NoError(t, assert.ErrorOf(table.Update(t.Context(), key, func(n *numbers) error { return nil })))
		}
		pages := 0
		filter := "Whole eq 3.0 and Wide eq 9007199254740993L"
		pager := b.Direct(t, name).NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
		for pager.More() {
			page := assert.Must(pager.NextPage(t.Context()))(t)
			pages += len(page.Entities)
		}
		assert.Equal(t, pages, 1, "a filter for a double finds", "rows")
	})
}

func TestLocalTimesAreConvertedToUTC(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		ann.Hired = time.Date(2024, 7, 1, 12, 0, 0, 100, time.FixedZone("east", 2*60*60))
		harness.Insert(t, table, ann)
		if got := harness.Get(t, table, ann.Key()).Value.Hired; !got.Equal(ann.Hired) || got.Location() != time.UTC {
			t.Errorf("%v became %v", ann.Hired, got)
		}
	})
}

func TestAnEmptyPartitionKeyIsReadAndWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		item := harness.Insert(t, table, counter{"", "", 1})
		if got := harness.Get(t, table, keys.Key{}); got.Value.N != 1 || got.ETag != item.ETag {
			t.Errorf("read %+v", got)
		}
		_, err := table.Update(t.Context(), keys.Key{}, addOne)
		if b.Accelerated && err != nil || !b.Accelerated && !errors.Is(err, patterns.ErrNeedsAccelerate) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAStampedInsertRetriedByTheSDKSucceeds(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[harness.Person]{StampWrites: true})
		b.ResetRequests()
		b.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
		ann := harness.NewPerson("ann")
		item := assert.Must(table.Insert(t.Context(), &ann))(t)
		b.WantRequestCount(t, 3) // the lost one, the retry of the SDK, the read that resolves the outcome
		assert.Equal(t, harness.ETagOf(t, table, ann.Key()), item.ETag, "ETag", "returned, the row has")
	})
}

// The first try of a write is lost, and another client stores the same before the second one: two
// clients want one lock. Only a stamp shows whose row it is.
func TestEqualContentOfAnotherClientIsNoProofOfAWrite(t *testing.T) {
	type people = patterns.Table[harness.Person]
	for what, write := range map[string]func(ctx context.Context, table *people, free patterns.Item[harness.Person]) error{
		"Table.Insert": func(ctx context.Context, table *people, free patterns.Item[harness.Person]) error {
			lock := harness.NewPerson("lock")
			return second(table.Insert(ctx, &lock))
		},
		"Table.Replace": func(ctx context.Context, table *people, free patterns.Item[harness.Person]) error {
			return second(table.Replace(ctx, free))
		},
		"Table.Merge": func(ctx context.Context, table *people, free patterns.Item[harness.Person]) error {
			return second(table.Merge(ctx, free))
		},
		"Table.Batch": func(ctx context.Context, table *people, free patterns.Item[harness.Person]) error {
			return second(table.Batch().Replace(free).Commit(ctx))
		},
	} {
		harness.Run(t, func(t *testing.T, b *harness.Backend) {
			for _, stamped := range []bool{false, true} {
				name := harness.UniqueName()
				b.NamedTable(t, name)
				opts := &patterns.TableOptions[harness.Person]{StampWrites: stamped}
				rival := harness.NewTable(t, b.Direct(t, name), opts)
				free := harness.Insert(t, rival, harness.NewPerson("free"))
				free.Value.Age++
				tries := 0
				table := harness.NewTable(t, b.AfterEachTry(t, name, func(int) {
					if tries++; tries == 1 {
						assert.NoError(t, write(t.Context(), rival, free))
					}
				}), opts)
				b.ClearFaults()
				b.Fault(storagetest.On(what).Nth(1).LoseRequest())
				err := write(t.Context(), table, free)
				if err == nil || !stamped && !errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("%s, stamped %v: got %v after %d tries", what, stamped, err, tries)
				}
			}
		})
	}
}

func second(_ any, err error) error { return err }

func TestMapsWithoutKeysAreRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := wideTable(t, b)
		for i, v := range []wide{nil, {}, {"PartitionKey": "p"}, {"PartitionKey": 1, "RowKey": "r"}, {"PartitionKey": nil, "RowKey": nil}} {
			_, err := table.Upsert(t.Context(), &v, patterns.Replace)
			assert.WantError(t, err, patterns.ErrBadKey)
			key := keys.Key{Partition: "q", Row: fmt.Sprint(i)}
			item, err := table.Do(t.Context(), patterns.UpsertOp(&v, patterns.Replace).At(key))
			if err != nil {
				continue // refused
			}
			if got := harness.Get(t, table, key); got.ETag != item.ETag || got.Value["PartitionKey"] != "q" {
				t.Errorf("%v: read %+v", v, got)
			}
		}
	})
}

func TestATableIsSafeForConcurrentUse(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		var group sync.WaitGroup
		for i := range 8 { // for the race detector
			group.Go(func() {
				v := harness.NewPerson(fmt.Sprint(i))
				for _, mode := range []patterns.Mode{patterns.Merge, patterns.Replace} {
					assert.Equal(t, assert.ErrorOf(table.Upsert(t.Context(), &v, mode)), nil)
				}
				assert.Equal(t, assert.ErrorOf(table.Update(t.Context(), v.Key(), func(p *harness.Person) error { p.Age++; return nil })), nil)
				assert.Equal(t, assert.ErrorOf(table.Batch().Upsert(&v, patterns.Merge).Commit(t.Context())), nil)
			})
		}
		group.Wait()
	})
}

func TestATruncatedBatchReplyIsNotSentAgain(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[harness.Person]{StampWrites: true})
		b.ResetRequests()
		b.Fault(storagetest.On("Table.Batch").Nth(1).CutReply(40))
		ann := harness.NewPerson("ann")
		result := assert.Must(table.Batch().Insert(&ann).Commit(t.Context()))(t)
		if n := b.Requests().Count("Table.Batch"); n != 1 || len(b.Requests()) != 2 {
			t.Errorf("sent %v", b.Requests())
		}
		assert.Equal(t, harness.ETagOf(t, table, ann.Key()), result.ETags[0], "ETag", "returned, the row has")
	})
}

func TestATruncatedGetReplyIsReadAgain(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.Insert(t, table, harness.NewPerson("ann"))
		b.ResetRequests()
		b.Fault(storagetest.On("Table.Get").Nth(1).CutReply(40))
		assert.DeepEqual(t, harness.Get(t, table, ann.Key).Value, ann.Value, "read")
		b.WantRequestCount(t, 2)
		b.ClearFaults()
		b.Fault(storagetest.On("Table.Get").CutReply(40))
		_, err := table.Get(t.Context(), ann.Key)
		if err == nil || errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		b.WantRequestCount(t, 4)
	})
}
