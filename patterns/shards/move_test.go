package shards_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

var everything = &patterns.QueryOptions{Allow: query.TableScan}

// rowsIn returns the number of rows of each account, without the markers that late requests leave.
func rowsIn(t testing.TB, list []shards.Account) (n []int) {
	for _, a := range list {
		rows := harness.Rows(t, a.Tables.NewClient(a.Table))
		n = append(n, len(slices.DeleteFunc(rows, func(row []byte) bool { return strings.Contains(string(row), "~azpmove") })))
	}
	return n
}

func TestAddMovesTheShareOfTheNewAccountAndDeletesItFromTheOld(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 3)
		o.Lease = time.Millisecond // in real time on Azurite
		s, table := create(t, list[:2], o)
		all := fill(t, table, 12, 3)
		owners := map[string]string{}
		for p := range 12 {
			partition := fmt.Sprintf("p%03d", p)
			owners[partition] = assert.Must(s.Account(t.Context(), partition))(t).Name
		}
		var last patterns.Progress
		opts := &shards.MoveOptions{Rows: 6, Progress: func(p patterns.Progress) { last = p }}
		assert.NoError(t, s.Add(t.Context(), list[2], opts))

		moved := 0
		for partition, was := range owners {
			if now := assert.Must(s.Account(t.Context(), partition))(t).Name; now == list[2].Name {
				moved++
			} else if now != was {
				t.Errorf("partition %s moved from %s to %s", partition, was, now)
			}
		}
		n := rowsIn(t, list)
		if moved == 0 || n[2] != 3*moved || n[0]+n[1]+n[2] != len(all) {
			t.Errorf("%d partitions moved, and the accounts have %v rows", moved, n)
		}
		if last.Found != 3*moved || last.Done != 3*moved || last.Requests < 20*moved {
			t.Errorf("the progress is %+v", last)
		}
		assert.EqualSlices(t, keysOf(assert.All(t, table.Query(t.Context(), query.Filter{}, everything))), all, "the query returned")
		b.ResetRequests()
		assert.NoError(t, s.Add(t.Context(), list[2], opts)) // it is there
		b.WantRequests(t, map[string]int{"Table.CreateTable": 1, "Table.Get": 1})
	})
}

func TestAPinMovesOnePartitionThereAndBack(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		o.Lease = time.Millisecond
		s, table := create(t, list, o)
		all := fill(t, table, 4, 2)
		before := rowsIn(t, list)
		home := assert.Must(s.Account(t.Context(), "p000"))(t).Name
		other := list[0].Name
		if home == other {
			other = list[1].Name
		}
		for _, pin := range []string{other, other, ""} {
			assert.NoError(t, s.Pin(t.Context(), "p000", pin, nil))
			want := other
			if pin == "" {
				want = home
			}
			assert.Equal(t, assert.Must(s.Account(t.Context(), "p000"))(t).Name, want, "pinned to", pin, "the partition is in")
			assert.EqualSlices(t, keysOf(assert.All(t, table.Query(t.Context(), query.Filter{}, everything))), all, "the query returned")
		}
		assert.EqualSlices(t, before, rowsIn(t, list), "rows before and", "after")
		assert.WantError(t, s.Pin(t.Context(), "p000", "unknown", nil), shards.ErrUnknownAccount)
		assert.WantError(t, s.Pin(t.Context(), "p/", home, nil), patterns.ErrBadKey)
	})
}

// A row with properties of all types, also those of which the program knows nothing, is the same
// after it was moved.
func TestARowKeepsItsPropertiesAndTypes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		o.Lease = time.Millisecond
		s := assert.Must(shards.New(list, "docs", o))(t)
		assert.NoError(t, s.Create(t.Context()))
		people := assert.Must(shards.NewTable[harness.Person](s, nil))(t)
		p := harness.NewPerson("Jones")
		assert.Must(people.Insert(t.Context(), &p))(t)
		home := assert.Must(s.Account(t.Context(), p.Dept))(t)
		other := list[0]
		if other.Name == home.Name {
			other = list[1]
		}
		body := fmt.Sprintf(`{"PartitionKey":%q,"RowKey":"open","G@odata.type":"Edm.Guid","G":"a455c695-df98-5678-aaaa-81d3367e5a34","I":1,"azp_view":"v"}`, p.Dept)
		assert.Must(home.Tables.NewClient(home.Table).AddEntity(t.Context(), []byte(body), nil))(t)
		assert.NoError(t, s.Pin(t.Context(), p.Dept, other.Name, nil))
		if got := assert.Must(people.Get(t.Context(), p.Key()))(t).Value; fmt.Sprint(got) != fmt.Sprint(p) {
			t.Errorf("the row is now %+v", got)
		}
		row := assert.Must(patterns.NewTable[patterns.Row](other.Tables.NewClient(other.Table), nil))(t)
		item := assert.Must(row.Get(t.Context(), keys.Key{Partition: p.Dept, Row: "open"}))(t)
		for name, want := range map[string]string{"G": "[16]uint8", "I": "int32", "azp_view": "string"} {
			if v, ok := item.Property(name); !ok || fmt.Sprintf("%T", v) != want {
				t.Errorf("%s is a %T", name, v)
			}
		}
	})
}

// The process that adds an account is killed before and after each of its requests, and while
// the request is in flight. The next process finishes, and all rows are there once.
func TestAddSurvivesACrashAtEveryRequest(t *testing.T) {
	open := func(account *storagetest.Account) (*shards.Shards, *shards.Table[doc], []shards.Account) {
		list := accounts(account.TablesWith(harness.Accelerated()), 3)
		s, err := shards.New(list, "docs", nil)
		if err != nil {
			panic(err)
		}
		table, err := shards.NewTable[doc](s, nil)
		if err != nil {
			panic(err)
		}
		return s, table, list
	}
	opts := &shards.MoveOptions{Rows: 3, Parallel: 1}
	storagetest.CrashPoints(t, func(ctx context.Context, account *storagetest.Account) error {
		_, _, list := open(account)
		s, err := shards.New(list[:2], "docs", nil)
		if err != nil {
			return err
		}
		table, err := shards.NewTable[doc](s, nil)
		if err != nil {
			return err
		}
		if err := s.Create(ctx); err != nil {
			return err
		}
		for i := range 8 {
			if _, err := table.Insert(ctx, &doc{PartitionKey: fmt.Sprint("p", i/2), RowKey: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		account.Arm()
		list[2].Weight = 3
		return s.Add(ctx, list[2], opts)
	}, func(t *testing.T, account *storagetest.Account) {
		s, table, list := open(account)
		check := func() {
			items := assert.All(t, table.Query(t.Context(), query.Filter{}, everything))
			assert.Equal(t, len(items), 8, "the query returned", "of 8 rows")
			for _, item := range items {
				assert.Must(table.Get(t.Context(), item.Key))(t)
			}
		}
		check()
		writeAll(t, table, 4)
		list[2].Weight = 3
		assert.NoError(t, s.Add(t.Context(), list[2], opts))
		check()
		if n := rowsIn(t, list); n[2] == 0 {
			t.Errorf("the accounts have %v rows", n)
		}
		writeAll(t, table, 4)
	})
}

// writeAll writes in each of n partitions, without another run of the move, within 30 seconds.
func writeAll(t *testing.T, table *shards.Table[doc], n int) {
	t.Helper()
	began := time.Now()
	for p := range n {
		assert.Must(table.Upsert(t.Context(), &doc{PartitionKey: fmt.Sprint("p", p), RowKey: fmt.Sprint(2 * p), A: "again"}, patterns.Replace))(t)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the writes took %v", took)
	}
}

// hook is a policy that calls before each request.
type hook func(*http.Request)

func (h hook) Do(req *policy.Request) (*http.Response, error) {
	h(req.Raw())
	return req.Next()
}

// A transaction that is carried out late, between two pages of the copy, is copied as a whole or
// not at all.
func TestALateTransactionIsNeverCopiedInHalf(t *testing.T) {
	for page := 1; ; page++ {
		var late func()
		var pages atomic.Int32 // of the partition
		opts := harness.Accelerated()
		opts.PerCallPolicies = append(opts.PerCallPolicies, hook(func(req *http.Request) {
			if late != nil && req.Method == http.MethodGet && strings.Contains(req.URL.Query().Get("$filter"), "eq 'p'") {
				if int(pages.Add(1)) == page {
					late()
				}
			}
		}))
		list := make([]shards.Account, 2) // two accounts of a page per row
		for i := range list {
			list[i] = shards.Account{Name: fmt.Sprint("account", i), Tables: storagetest.Start(&storagetest.Options{PageRows: 1}).TablesWith(opts)}
		}
		s, table := create(t, list, &shards.Options{Lease: time.Millisecond})
		transaction := func(at *patterns.Table[doc], value string) error {
			b := at.Batch()
			for _, row := range []string{"a", "b", "c"} {
				b.Upsert(&doc{PartitionKey: "p", RowKey: row, A: value}, patterns.Replace)
			}
			_, err := b.Commit(context.Background())
			return err
		}
		assert.NoError(t, table.WriteWithin(t.Context(), "p", func(at *patterns.Table[doc]) error { return transaction(at, "acknowledged") }))
		home := assert.Must(s.Account(t.Context(), "p"))(t)
		to := list[0].Name
		if to == home.Name {
			to = list[1].Name
		}
		old := assert.Must(patterns.NewTable[doc](home.Tables.NewClient("docs"), nil))(t)
		late = func() { assert.NoError(t, transaction(old, "late")) }
		assert.NoError(t, s.Pin(t.Context(), "p", to, &shards.MoveOptions{Parallel: 1}))
		late = nil
		values := map[string]int{}
		for _, item := range assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("p"), nil)) {
			values[item.Value.A]++
		}
		assert.Equal(assert.Now(t), len(values), 1)
		assert.Equal(t, values["acknowledged"]+values["late"], 3)
		if int(pages.Load()) < page {
			return
		}
	}
}

// A transaction of a copy that arrives after the partition has moved does not restore rows that
// were deleted since.
func TestALateTransactionOfACopyIsNotCarriedOut(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		o.Lease = time.Millisecond
		s, table := create(t, list, o)
		fill(t, table, 1, 3)
		home := assert.Must(s.Account(t.Context(), "p000"))(t).Name
		to := list[0].Name
		if to == home {
			to = list[1].Name
		}
		b.Fault(storagetest.On("Table.Batch").Nth(1).LateRequest(30*time.Minute, time.Hour))
		assert.NoError(t, s.Pin(t.Context(), "p000", to, nil))
		for r := range 3 {
			assert.NoError(t, table.Delete(t.Context(), keys.Key{Partition: "p000", Row: fmt.Sprintf("r%03d", r)}, azcore.ETagAny))
		}
		if n := b.Arrive(); n == 0 {
			t.Error("no request was late")
		}
		if got := assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("p000"), nil)); len(got) > 0 {
			t.Errorf("the rows are back: %v", keysOf(got))
		}
	})
}

// While a partition is copied it can be read and not be written: a write waits, until its context
// ends, and is then certainly not carried out.
func TestAWriteWaitsUntilThePartitionHasMoved(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		s, table := create(t, list, o)
		fill(t, table, 1, 1)
		home := assert.Must(s.Account(t.Context(), "p000"))(t).Name
		to := list[0].Name
		if to == home {
			to = list[1].Name
		}
		ctx, stop := context.WithCancel(t.Context())
		err := s.Pin(ctx, "p000", to, &shards.MoveOptions{Progress: reports(func(copied, n int) {
			if copied == 1 && n == 3 {
				stop() // the partition cannot be written, and the move is not finished
			}
		})})
		assert.WantError(t, err, context.Canceled)

		key := keys.Key{Partition: "p000", Row: "r000"}
		time.Sleep(time.Second) // the lease of the version before
		short, end := context.WithTimeout(t.Context(), 10*time.Second)
		defer end()
		_, err = table.Update(short, key, func(d *doc) error { d.A = "never"; return nil })
		assert.WantError(t, err, shards.ErrMoving)
		assert.WantError(t, err, context.DeadlineExceeded)
		if errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("the outcome is unknown: %v", err)
		}
		assert.Equal(t, assert.Must(table.Get(t.Context(), key))(t).Value.A, "0/0", "the row has")
		var wrote sync.WaitGroup
		wrote.Go(func() {
			assert.MayFail(table.Update(t.Context(), key, func(d *doc) error { d.A = "moved"; return nil }))
		})
		assert.NoError(t, s.Pin(t.Context(), "p000", to, nil))
		wrote.Wait()
		assert.Equal(t, assert.Must(table.Get(t.Context(), key))(t).Value.A, "moved", "the row has")
		assert.Equal(t, assert.Must(s.Account(t.Context(), "p000"))(t).Name, to, "the partition is in")
	})
}

// A write that takes longer than the lease, and during which its partition has moved, may have
// been carried out after its rows were copied.
func TestAWriteThatIsOvertakenByAMoveHasAnUnknownOutcome(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		s, table := create(t, list, o)
		fill(t, table, 1, 1)
		home := assert.Must(s.Account(t.Context(), "p000"))(t).Name
		to := list[0].Name
		if to == home {
			to = list[1].Name
		}
		err := table.WriteWithin(t.Context(), "p000", func(*patterns.Table[doc]) error { return s.Pin(t.Context(), "p000", to, nil) })
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
		calls := 0
		assert.NoError(t, table.ReadWithin(t.Context(), "p000", func(*patterns.Table[doc]) error {
			if calls++; calls == 1 {
				return s.Pin(t.Context(), "p000", home, nil)
			}
			return nil
		}))
		assert.Equal(t, calls, 2, "the read was called", "times")

		// There and back: what was written first may have been copied, and deleted there.
		err = table.WriteWithin(t.Context(), "p000", func(*patterns.Table[doc]) error {
			assert.NoError(t, s.Pin(t.Context(), "p000", to, nil))
			return s.Pin(t.Context(), "p000", home, nil)
		})
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
	})
}
