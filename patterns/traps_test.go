package patterns_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Each test is named for what aztables v1.4.1 does with the same input.

func TestTrapAQuoteInAKeyIsStoredTwice(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		name := testbed.UniqueName()
		table := newTable[counter](t, b.NamedTable(t, name), nil)
		insert(t, table, counter{"O'Brien", "it's", 1})
		reply, err := b.Direct(t, name).GetEntity(t.Context(), "O'Brien", "it's", nil)
		if err != nil || !strings.Contains(string(reply.Value), `"O'Brien"`) {
			t.Errorf("stored %s, %v", reply.Value, err)
		}
	})
}

func TestTrapAQuoteInTheKeyOfABatchIsAddressedWrongly(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		item := insert(t, table, counter{"it's", "0", 1})
		item.Value.N = 2
		_, err := table.Batch().Replace(item).Commit(t.Context())
		want := int64(2)
		if !b.Accelerated {
			wantError(t, err, patterns.ErrNeedsAccelerate)
			want = 1
		} else if err != nil {
			t.Error(err)
		}
		if got := get(t, table, item.Key).Value.N; got != want {
			t.Errorf("the row has %d", got)
		}
	})
}

func TestTrapAFailedTransactionSays202AndNoCode(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		ann := somebody("ann")
		insert(t, table, ann)
		_, err := table.Batch().Insert(&ann).Commit(t.Context())
		var sdk *azcore.ResponseError
		if !errors.As(err, &sdk) || sdk.StatusCode != 409 || sdk.ErrorCode != string(aztables.EntityAlreadyExists) {
			t.Errorf("got %+v", sdk)
		}
	})
}

func TestTrapAnUpdateWithoutAnETagIsAnUpsert(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		ctx := t.Context()
		table := people(t, b)
		ann := somebody("ann")
		b.ResetRequests()
		for _, add := range []func(*patterns.Batch[person], patterns.Item[person]) *patterns.Batch[person]{(*patterns.Batch[person]).Merge, (*patterns.Batch[person]).Replace} {
			_, err := add(table.Batch(), patterns.Item[person]{Value: ann, Key: ann.key()}).Commit(ctx)
			wantError(t, err, patterns.ErrBadETag)
			cost(t, b, 0)
			_, err = add(table.Batch(), patterns.Item[person]{Value: ann, Key: ann.key(), ETag: azcore.ETagAny}).Commit(ctx)
			wantError(t, err, patterns.ErrNotFound)
			b.ResetRequests()
		}
	})
}

func TestTrapNoConditionIsAnyCondition(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		ann := insert(t, table, somebody("ann"))
		_, err := table.Replace(t.Context(), patterns.Item[person]{Value: ann.Value, Key: ann.Key})
		wantError(t, err, patterns.ErrBadETag)
		if etagOf(t, table, ann.Key) != ann.ETag {
			t.Error("it was replaced")
		}
	})
}

func TestTrapWholeDoublesAndWideIntegersChangeOnTheWay(t *testing.T) {
	type numbers struct {
		PartitionKey, RowKey  string
		Whole, NaN, Inf, Tiny float64
		Wide, Most            int64
		Narrow                int32
		Unset                 float64 `table:",omitempty"`
	}
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		name := testbed.UniqueName()
		table := newTable[numbers](t, b.NamedTable(t, name), nil)
		v := numbers{"p", "r", 3, math.NaN(), math.Inf(-1), 5e-324, 1<<53 + 1, math.MinInt64, -1, 0}
		insert(t, table, v)
		key := keys.Key{Partition: "p", Row: "r"}
		for range 2 {
			got := get(t, table, key).Value
			if !math.IsNaN(got.NaN) {
				t.Errorf("NaN became %v", got.NaN)
			}
			got.NaN, v.NaN = 0, 0
			if got != v {
				t.Errorf("read %+v", got)
			}
			if _, err := table.Update(t.Context(), key, func(n *numbers) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		pages := 0
		filter := "Whole eq 3.0 and Wide eq 9007199254740993L"
		pager := b.Direct(t, name).NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
		for pager.More() {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pages += len(page.Entities)
		}
		if pages != 1 {
			t.Errorf("a filter for a double finds %d rows", pages)
		}
	})
}

func TestTrapLocalTimesGetAFalseZ(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		ann := somebody("ann")
		ann.Hired = time.Date(2024, 7, 1, 12, 0, 0, 100, time.FixedZone("east", 2*60*60))
		insert(t, table, ann)
		if got := get(t, table, ann.key()).Value.Hired; !got.Equal(ann.Hired) || got.Location() != time.UTC {
			t.Errorf("%v became %v", ann.Hired, got)
		}
	})
}

func TestTrapAnEmptyPartitionKeyIsRefusedByTheClient(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		item := insert(t, table, counter{"", "", 1})
		if got := get(t, table, keys.Key{}); got.Value.N != 1 || got.ETag != item.ETag {
			t.Errorf("read %+v", got)
		}
		_, err := table.Update(t.Context(), keys.Key{}, addOne)
		if b.Accelerated && err != nil || !b.Accelerated && !errors.Is(err, patterns.ErrNeedsAccelerate) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTrapARetriedInsertMeetsItself(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		b.ResetRequests()
		b.Fault(fault.On("Table.Insert").Nth(1).LoseReply())
		ann := somebody("ann")
		item, err := table.Insert(t.Context(), &ann)
		if err != nil {
			t.Fatal(err)
		}
		cost(t, b, 3) // the lost one, the SDK's second, the look
		if got := etagOf(t, table, ann.key()); got != item.ETag {
			t.Errorf("ETag %q returned, the row has %q", item.ETag, got)
		}
	})
}

func TestTrapValuesWithoutKeysPanic(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		bags := wideTable(t, b)
		for i, bag := range []wide{nil, {}, {"PartitionKey": "p"}, {"PartitionKey": 1, "RowKey": "r"}, {"PartitionKey": nil, "RowKey": nil}} {
			_, err := bags.Upsert(t.Context(), &bag, patterns.Replace)
			wantError(t, err, patterns.ErrBadKey)
			key := keys.Key{Partition: "q", Row: fmt.Sprint(i)}
			item, err := bags.Do(t.Context(), patterns.UpsertOp(&bag, patterns.Replace).At(key))
			if err != nil {
				continue // refused, not stored under a key of its own
			}
			if got := get(t, bags, key); got.ETag != item.ETag || got.Value["PartitionKey"] != "q" {
				t.Errorf("%v: read %+v", bag, got)
			}
		}
	})
}

func TestTrapABatchIsNotCheckedByTheClient(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		batch := table.Batch()
		for i := range 101 {
			v := somebody(fmt.Sprint(i))
			batch.Insert(&v)
		}
		b.ResetRequests()
		_, err := batch.Commit(t.Context())
		wantError(t, err, patterns.ErrTooLarge)
		cost(t, b, 0)
	})
}

func TestTrapASharedOptionsStructIsModified(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		var group sync.WaitGroup
		for i := range 8 { // the race detector is the judge
			group.Go(func() {
				v := somebody(fmt.Sprint(i))
				for _, mode := range []patterns.Mode{patterns.Merge, patterns.Replace} {
					if _, err := table.Upsert(t.Context(), &v, mode); err != nil {
						t.Error(err)
					}
				}
				if _, err := table.Update(t.Context(), v.key(), func(p *person) error { p.Age++; return nil }); err != nil {
					t.Error(err)
				}
				if _, err := table.Batch().Upsert(&v, patterns.Merge).Commit(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
}

func TestTrapASlashInAKeyCostsThreeRetries(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		b.ResetRequests()
		_, err := table.Get(t.Context(), keys.Key{Partition: "a/b", Row: "r"})
		wantError(t, err, patterns.ErrBadKey)
		cost(t, b, 0)
	})
}

func TestTrapACutReplyToAPostIsTriedAgain(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		b.ResetRequests()
		b.Fault(fault.On("Table.Batch").Nth(1).CutReply(40))
		ann := somebody("ann")
		result, err := table.Batch().Insert(&ann).Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := b.Requests().Count("Table.Batch"); n != 1 || len(b.Requests()) != 2 {
			t.Errorf("sent %v", b.Requests())
		}
		if got := etagOf(t, table, ann.key()); got != result.ETags[0] {
			t.Errorf("ETag %q returned, the row has %q", result.ETags[0], got)
		}
	})
}

func TestTrapACutReplyToAGetIsReadAgain(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		ann := insert(t, table, somebody("ann"))
		b.ResetRequests()
		b.Fault(fault.On("Table.Get").Nth(1).CutReply(40))
		if got := get(t, table, ann.Key); !reflect.DeepEqual(got.Value, ann.Value) {
			t.Errorf("read %+v", got.Value)
		}
		cost(t, b, 2)
		b.ClearFaults()
		b.Fault(fault.On("Table.Get").CutReply(40))
		_, err := table.Get(t.Context(), ann.Key)
		if err == nil || errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		cost(t, b, 4)
	})
}
