package patterns_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// What the rows tell of the first Commit holds for the operations that it had.
func TestNothingIsAddedToATransactionOfUnknownOutcome(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		for _, stamped := range []bool{false, true} {
			b.ClearFaults()
			client := b.Table(t)
			table := newTable(t, client, &patterns.TableOptions[counter]{StampWrites: stamped})
			batch := table.Batch().Insert(&counter{"hits", "0", 1})
			b.Fault(fault.On("Table.Batch").Times(4).LoseReply(), fault.On("Table.Get").LoseRequest())
			_, err := batch.Commit(t.Context())
			wantError(t, err, patterns.ErrOutcomeUnknown)
			b.ClearFaults()
			b.ResetRequests()
			batch = patterns.AddTo(batch, table, patterns.InsertOp(&counter{"hits", "1", 1}))
			for range 2 {
				_, err = batch.Insert(&counter{"hits", "2", 1}).Commit(t.Context())
				var failed *patterns.BatchError
				if wantError(t, err, patterns.ErrOutcomeUnknown); !errors.As(err, &failed) || failed.Index != 1 || failed.Key.Row != "1" {
					t.Errorf("%+v", err)
				}
			}
			cost(t, b, 0)
			_, err = table.Get(t.Context(), keys.Key{Partition: "hits", Row: "1"})
			wantError(t, err, patterns.ErrNotFound)
		}
	})
}

func TestASequenceThatPanicsLeavesNothingRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		name := testbed.UniqueName()
		if _, err := acct.Tables().CreateTable(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
		table := newTable[counter](t, acct.Tables().NewClient(name), nil)
		acct.Fault(storagetest.On("Table.Batch").DelayReply(time.Second))
		start := time.Now()
		func() {
			defer func() {
				if p := recover(); p != "no more" {
					t.Errorf("the panic became %v", p)
				}
			}()
			_, _ = table.Bulk(t.Context(), func(yield func(patterns.Op[counter]) bool) {
				for op := range inserts(patterns.MaxBatchOps, "p") {
					yield(op)
				}
				panic("no more")
			}, nil)
		}()
		if time.Since(start) < time.Second {
			t.Error("Bulk has ended while its transaction was under way")
		}
		if n := rowsOf(t, table)["p"]; n != patterns.MaxBatchOps {
			t.Errorf("%d rows", n)
		}
	})
}

func TestBulkOfManyTransactionsRunsInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		name := testbed.UniqueName()
		if _, err := acct.Tables().CreateTable(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
		table := newTable[counter](t, acct.Tables().NewClient(name), nil)
		acct.Fault(storagetest.On("Table.Batch").Delay(time.Second))
		start := time.Now()
		report, err := table.Bulk(t.Context(), inserts(600, "p", "q"), nil)
		if err != nil || report.Requests != 6 {
			t.Errorf("%+v, %v", report.BulkProgress, err)
		}
		// Three transactions of each partition, one after the other.
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

type embeddedKeys struct {
	*aztables.Entity
	N int64
}

func TestKeysMayBeInAnEmbeddedPointer(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[embeddedKeys](t, b.Table(t), nil)
		item := insert(t, table, embeddedKeys{&aztables.Entity{PartitionKey: "p", RowKey: "r"}, 1})
		item = get(t, table, item.Key)
		if item.Value.Entity == nil || item.Value.RowKey != "r" || item.Value.N != 1 {
			t.Errorf("read %+v", item.Value)
		}
		item, err := table.Update(t.Context(), item.Key, func(e *embeddedKeys) error { e.N++; return nil })
		if err != nil || item.Value.N != 2 {
			t.Errorf("%+v, %v", item, err)
		}
		b.ResetRequests()
		// The zero key is a legal one, so a missing struct must not stand for it.
		_, err = table.Upsert(t.Context(), &embeddedKeys{N: 1}, patterns.Replace)
		wantError(t, err, patterns.ErrBadKey)
		_, err = table.Batch().Insert(&embeddedKeys{N: 1}).Commit(t.Context())
		wantError(t, err, patterns.ErrBadKey)
		cost(t, b, 0)
	})
}

func TestNilAndZeroArgumentsAreRefusedInWords(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		b.ResetRequests()
		_, into := patterns.Project[counter, counter](nil)
		_, zero := table.Do(t.Context(), patterns.Op[counter]{})
		_, inBatch := table.Batch().Add(patterns.Op[counter]{}).Commit(t.Context())
		_, bulk := table.Bulk(t.Context(), nil, nil)
		_, update := table.Update(t.Context(), tally, nil)
		for _, err := range []error{into, zero, inBatch, bulk, update} {
			if wantError(t, err, patterns.ErrNil); strings.Contains(fmt.Sprint(err), ": :") || strings.HasPrefix(err.Error(), ":") || strings.Contains(err.Error(), "()") {
				t.Errorf("what was to be done? %v", err)
			}
		}
		cost(t, b, 0)
	})
}

func TestAKeyThatIsTooLongIsABadKey(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		long := keys.Key{Partition: "p", Row: strings.Repeat("x", keys.MaxUnits+1)}
		_, err := table.Get(t.Context(), long)
		var bad *keys.Error
		if !errors.Is(err, patterns.ErrBadKey) || errors.Is(err, patterns.ErrTooLarge) || !errors.As(err, &bad) || bad.Reason != keys.TooLong {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnItemThatWasWrittenKeepsWhatWithAdded(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for _, stamped := range []bool{false, true} {
			table := newTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: stamped})
			v := counter{"hits", "0", 1}
			item, err := table.Do(t.Context(), patterns.InsertOp(&v).With("Kind", "counter"))
			if err != nil {
				t.Fatal(err)
			}
			item.Value.N = 2
			if item, err = table.Replace(t.Context(), item); err != nil {
				t.Fatal(err)
			}
			if item, err = table.Do(t.Context(), patterns.MergeOp(item).With("More", "text")); err != nil {
				t.Fatal(err)
			}
			if item, err = table.Do(t.Context(), patterns.ReplaceOp(item).With("Kind", "tally")); err != nil {
				t.Fatal(err)
			}
			for what, item := range map[string]patterns.Item[counter]{"written": item, "read": get(t, table, tally)} {
				kind, _ := item.Property("Kind")
				if more, _ := item.Property("More"); kind != "tally" || more != "text" || item.Value.N != 2 {
					t.Errorf("%s: %+v with %v and %v", what, item.Value, kind, more)
				}
			}
		}
	})
}

func TestAnUnknownOutcomeTellsAllToThoseWhoAsk(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		const address = "table.storagetest.invalid" // stands in the SDK's text
		table := newTable[counter](t, b.Table(t), nil)
		b.Fault(fault.On("Table.Insert").Status(500, "InternalError"), fault.On("Table.Batch").Status(500, "InternalError"))
		_, single := table.Insert(t.Context(), &counter{"hits", "0", 1})
		_, batch := table.Batch().Insert(&counter{"hits", "0", 1}).Commit(t.Context())
		b.Fault(fault.On("Table.Get").Status(500, "InternalError"))
		_, unread := table.Insert(t.Context(), &counter{"hits", "0", 1})
		for _, err := range []error{single, batch, unread} {
			wantError(t, err, patterns.ErrOutcomeUnknown)
			silent(t, err, address)
			if text := fmt.Sprintf("%+v", err); strings.Count(text, address) == 0 {
				t.Errorf("it says no more than %s", text)
			}
		}
	})
}

// selfMade has methods that would write other properties than its fields are.
type selfMade struct {
	PartitionKey, RowKey string
	N                    int64
}

func (selfMade) MarshalJSON() ([]byte, error) { return []byte(`{"Other":1}`), nil }

func (*selfMade) UnmarshalJSON([]byte) error { return errors.New("not to be called") }

func TestTheFieldsOfATypeCountNotItsJSONMethods(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[selfMade](t, b.Table(t), nil)
		v := selfMade{"p", "r", 1}
		insert(t, table, v)
		item := get(t, table, keys.Key{Partition: "p", Row: "r"})
		if _, other := item.Property("Other"); item.Value != v || other {
			t.Errorf("read %+v", item.Value)
		}
	})
}
