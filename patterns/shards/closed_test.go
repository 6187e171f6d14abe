package shards_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// moving is a partition that moves from one account to another, and readers in two other processes.
type moving struct {
	s       *shards.Shards
	readers [2]*shards.Table[doc]
	to      string
	late    func(value string) // writes the row in the old account
}

var movingKey = keys.Key{Partition: "p000", Row: "r000"}

func newMoving(t *testing.T, b *harness.Backend) moving {
	list, o := onBackend(t, b, 2)
	s, table := create(t, list, o)
	fill(t, table, 1, 1)
	home := assert.Must(s.Account(t.Context(), "p000"))(t)
	to := list[0].Name
	if to == home.Name {
		to = list[1].Name
	}
	var readers [2]*shards.Table[doc]
	for i := range readers {
		readers[i] = assert.Must(shards.NewTable[doc](assert.Must(shards.New(list, "docs", o))(t), nil))(t)
	}
	old := assert.Must(patterns.NewTable[doc](home.Tables.NewClient(home.Table), nil))(t)
	return moving{s, readers, to, func(value string) {
		assert.Must(old.Upsert(t.Context(), &doc{PartitionKey: "p000", RowKey: "r000", A: value}, patterns.Replace))(t)
	}}
}

// get reads the row by Query and by Get, at the same time, and waits for so long.
func (m moving) get(t *testing.T, patience time.Duration) (string, error) {
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	var found, item patterns.Item[doc]
	var failed, err error
	var both sync.WaitGroup
	both.Go(func() {
		for found, failed = range m.readers[0].Query(ctx, query.Filter{}, everything) {
		}
	})
	both.Go(func() { item, err = m.readers[1].Get(ctx, movingKey) })
	both.Wait()
	if (failed == nil) != (err == nil) || err == nil && found.Value != item.Value {
		t.Errorf("Get: %v, %v; Query: %v, %v", item.Value, err, found.Value, failed)
	}
	return item.Value.A, err
}

// reports returns a Progress that calls f with the rows copied, and the number of the report: of a
// partition, the first two are of versions of the directory, the third of its copy.
func reports(f func(copied, n int)) func(patterns.Progress) {
	n := 0
	return func(p patterns.Progress) {
		n++
		f(p.Found, n)
	}
}

func TestALateWriteThatWasSeenAfterTheCopyIsNotLost(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		m := newMoving(t, b)
		assert.NoError(t, m.s.Pin(t.Context(), "p000", m.to, &shards.MoveOptions{Progress: reports(func(copied, n int) {
			if copied == 1 && n == 3 {
				m.late("late")
				assert.Equal(t, assert.Must(m.get(t, time.Hour))(t), "late", "during the step the row has")
			}
		})}))
		assert.Equal(t, assert.Must(m.get(t, time.Hour))(t), "late", "after the move the row has")
	})
}

// A reader that knows an earlier version of the directory, whose lease has not ended, cannot read
// a closed step either.
func TestAClosedStepCannotBeRead(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		m := newMoving(t, b)
		assert.NoError(t, m.s.Pin(t.Context(), "p000", m.to, &shards.MoveOptions{Progress: reports(func(copied, n int) {
			switch {
			case copied == 1 && n == 3:
				assert.Must(m.get(t, time.Hour))(t)
			case n == 4: // closed
				_, err := m.get(t, 4*time.Second)
				assert.WantError(t, err, shards.ErrMoving)
				assert.WantError(t, err, context.DeadlineExceeded)
			}
		})}))
		assert.Equal(t, assert.Must(m.get(t, time.Hour))(t), "0/0", "after the move the row has")
	})
}

// The process that moves the partition pauses while the step is closed. A reader opens it again,
// so that the process cannot finish, and the next run can.
func TestAReaderReopensAStepThatStaysClosed(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		m := newMoving(t, b)
		err := m.s.Pin(t.Context(), "p000", m.to, &shards.MoveOptions{Progress: reports(func(copied, n int) {
			if n == 4 { // closed
				m.late("late")
				began := time.Now()
				assert.Equal(t, assert.Must(m.get(t, time.Hour))(t), "late", "the reopened row has")
				if waited := time.Since(began); waited < 10*time.Second || waited > time.Minute {
					t.Errorf("the reader waited for %v", waited)
				}
			}
		})})
		assert.WantError(t, err, shards.ErrBusy)
		assert.NoError(t, m.s.Pin(t.Context(), "p000", m.to, nil))
		assert.Equal(t, assert.Must(m.get(t, time.Hour))(t), "late", "after the move the row has")
	})
}

// Two transactions arrive late, before any two of the requests of a move: one inserts a row, and the
// other changes a second row and deletes the first. If a reader has seen the first row, it is
// either still there, or the second is changed.
func TestTwoLateTransactionsAreNeverMovedInHalf(t *testing.T) {
	seen, requests, sample := 0, 2, harness.Sample(t, 3)
	for first := 1; first <= requests; first++ {
		for second := first + 1; second <= requests; second++ {
			if first > 1 && !sample(first+second) {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				var saw bool
				if saw, requests = twoLateTransactions(t, first, second); saw {
					seen++
				}
			})
		}
	}
	if seen == 0 {
		t.Error("no reader has seen the row")
	}
}

func twoLateTransactions(t *testing.T, first, second int) (saw bool, requests int) {
	var at func(request int)
	var sent atomic.Int32
	opts := harness.Accelerated()
	opts.PerCallPolicies = append(opts.PerCallPolicies, hook(func(req *http.Request) {
		if at != nil {
			at(int(sent.Add(1)))
		}
	}))
	var hooked, plain []shards.Account
	for _, name := range []string{"a", "b"} {
		account := storagetest.Start(&storagetest.Options{PageRows: 1})
		hooked = append(hooked, shards.Account{Name: name, Tables: account.TablesWith(opts)})
		plain = append(plain, shards.Account{Name: name, Tables: account.Tables()})
	}
	s, _ := create(t, hooked, nil)
	_, table := create(t, plain, nil)
	row := func(key, value string) *doc { return &doc{PartitionKey: "p", RowKey: key, A: value} }
	for _, key := range []string{"a", "b"} {
		assert.Must(table.Insert(t.Context(), row(key, "old")))(t)
	}
	home := assert.Must(s.Account(t.Context(), "p"))(t)
	to := plain[0]
	if to.Name == home.Name {
		to = plain[1]
	}
	old := assert.Must(patterns.NewTable[doc](home.Tables.NewClient("docs"), nil))(t)
	contents := func(ctx context.Context) (map[string]string, error) {
		found := map[string]string{}
		for item, err := range table.Query(ctx, query.PartitionKey.Eq("p"), nil) {
			if err != nil {
				return nil, err
			}
			found[item.Key.Row] = item.Value.A
		}
		return found, nil
	}
	var seen atomic.Bool
	at = func(request int) {
		switch request {
		case first:
			assert.MayFail(old.Batch().Insert(row("c", "late")).Commit(t.Context()))
			ctx, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			found, err := contents(ctx)
			seen.Store(err == nil && found["c"] != "")
		case second:
			assert.MayFail(old.Batch().Upsert(row("a", "new"), patterns.Replace).Delete(keys.Key{Partition: "p", Row: "c"}, azcore.ETagAny).Commit(t.Context()))
		}
	}
	assert.NoError(t, s.Pin(t.Context(), "p", to.Name, &shards.MoveOptions{Parallel: 1}))
	at = nil
	found := assert.Must(contents(t.Context()))(t)
	if seen.Load() && found["c"] == "" && found["a"] != "new" {
		t.Errorf("late at requests %d and %d: a reader has seen c, and the rows are now %v", first, second, found)
	}
	return seen.Load(), int(sent.Load())
}
