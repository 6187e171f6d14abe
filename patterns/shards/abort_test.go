package shards_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// interrupted stores eight rows in two accounts, and lets the run that adds the third end after so many
// reports of its progress.
func interrupted(ctx context.Context, account *storagetest.Account, after int) ([]shards.Account, error) {
	list := accounts(account.TablesWith(harness.Accelerated()), 3)
	s, err := shards.New(list[:2], "docs", nil)
	if err != nil {
		return nil, err
	}
	if err := s.Create(ctx); err != nil {
		return nil, err
	}
	table, err := shards.NewTable[doc](s, nil)
	if err != nil {
		return nil, err
	}
	for i := range 8 {
		if _, err := table.Insert(ctx, &doc{PartitionKey: fmt.Sprint("p", i/2), RowKey: fmt.Sprint(i)}); err != nil {
			return nil, err
		}
	}
	list[2].Weight = 9
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = s.Add(ctx, list[2], &shards.MoveOptions{Rows: 3, Parallel: 1, Progress: reports(func(_, n int) {
		if n == after {
			stop()
		}
	})})
	if err == nil {
		return nil, fmt.Errorf("the run has ended before report %d", after)
	}
	return list, nil
}

// everyRow checks that all rows are found.
func everyRow(t *testing.T, table *shards.Table[doc]) {
	t.Helper()
	items := assert.All(t, table.Query(t.Context(), query.Filter{}, everything))
	assert.Equal(t, len(items), 8, "the query returned", "of 8 rows")
	for _, item := range items {
		assert.Must(table.Get(t.Context(), item.Key))(t)
	}
}

func TestAbortMovesBackWhatHasMoved(t *testing.T) {
	moved := 0
	for after := 1; after <= 12; after++ {
		synctest.Test(t, func(t *testing.T) {
			account := storagetest.Start(nil)
			list, err := interrupted(t.Context(), account, after)
			assert.NoError(t, err)
			if rowsIn(t, list)[2] > 0 {
				moved++
			}
			s := assert.Must(shards.New(list, "docs", nil))(t)
			table := assert.Must(shards.NewTable[doc](s, nil))(t)
			assert.NoError(t, s.Abort(t.Context(), &shards.MoveOptions{Rows: 3, Parallel: 1}))
			everyRow(t, table)
			writeAll(t, table, 4)
			if n := rowsIn(t, list); n[2] != 0 || n[0]+n[1] != 8 {
				t.Errorf("report %d: the accounts have %v rows", after, n)
			}
			account.ResetLog()
			assert.NoError(t, s.Abort(t.Context(), nil)) // nothing moves
			assert.Equal(t, len(account.Log()), 1)
			assert.NoError(t, s.Add(t.Context(), list[2], nil))
			everyRow(t, table)
			if n := rowsIn(t, list); n[2] == 0 || n[0]+n[1]+n[2] != 8 {
				t.Errorf("report %d: then the accounts have %v rows", after, n)
			}
		})
	}
	if moved < 3 {
		t.Errorf("%d moves were aborted late", moved)
	}
}

func TestAbortSurvivesACrashAtEveryRequest(t *testing.T) {
	open := func(account *storagetest.Account) (*shards.Shards, []shards.Account) {
		list := accounts(account.TablesWith(harness.Accelerated()), 3)
		s, err := shards.New(list, "docs", nil)
		if err != nil {
			panic(err)
		}
		return s, list
	}
	opts := &shards.MoveOptions{Rows: 3, Parallel: 1}
	storagetest.CrashPoints(t, func(ctx context.Context, account *storagetest.Account) error {
		if _, err := interrupted(ctx, account, 9); err != nil {
			return err
		}
		s, _ := open(account)
		account.Arm()
		return s.Abort(ctx, opts)
	}, func(t *testing.T, account *storagetest.Account) {
		s, list := open(account)
		table := assert.Must(shards.NewTable[doc](s, nil))(t)
		everyRow(t, table)
		writeAll(t, table, 4)
		assert.NoError(t, s.Abort(t.Context(), opts))
		everyRow(t, table)
		if n := rowsIn(t, list); n[2] != 0 || n[0]+n[1] != 8 {
			t.Errorf("the accounts have %v rows", n)
		}
	})
}

func TestMoveSurvivesACrashAtEveryRequest(t *testing.T) {
	open := func(account *storagetest.Account) (*shards.Shards, []shards.Account) {
		list := accounts(account.TablesWith(harness.Accelerated()), 3)
		s, err := shards.New(list, "docs", nil)
		if err != nil {
			panic(err)
		}
		return s, list
	}
	opts := &shards.MoveOptions{Rows: 3, Parallel: 1}
	storagetest.CrashPoints(t, func(ctx context.Context, account *storagetest.Account) error {
		list := accounts(account.TablesWith(harness.Accelerated()), 3)
		s, err := shards.New(list[:2], "docs", nil)
		if err != nil {
			return err
		}
		if err := s.Create(ctx); err != nil {
			return err
		}
		table, err := shards.NewTable[doc](s, nil)
		if err != nil {
			return err
		}
		for i := range 8 {
			if _, err := table.Insert(ctx, &doc{PartitionKey: fmt.Sprint("p", i/2), RowKey: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		account.Arm()
		return s.Move(ctx, list[1].Name, list[2], opts)
	}, func(t *testing.T, account *storagetest.Account) {
		s, list := open(account)
		table := assert.Must(shards.NewTable[doc](s, nil))(t)
		everyRow(t, table)
		writeAll(t, table, 4)
		before := rowsIn(t, list[:1])[0]
		assert.NoError(t, s.Move(t.Context(), list[1].Name, list[2], opts))
		everyRow(t, table)
		if n := rowsIn(t, list); n[0] != before || n[1] != 0 || n[0]+n[2] != 8 {
			t.Errorf("the accounts have %v rows", n)
		}
	})
}

// A table moves to another account while programs write and read it.
func TestATableMovesToAnotherAccountWhileProgramsWrite(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		harness.WithoutTargets(b.Account)
		list, o := onBackend(t, b, 3)
		s, table := create(t, list[:1], o)
		all := fill(t, table, 5, 4)
		other := assert.Must(shards.NewTable[doc](assert.Must(shards.New(list, "docs", o))(t), nil))(t)
		var stop atomic.Bool
		var programs sync.WaitGroup
		written := make([]int, len(all))
		for i, key := range all {
			programs.Go(func() {
				for !stop.Load() {
					assert.Must(other.Update(t.Context(), key, func(d *doc) error { d.B = fmt.Sprint(written[i] + 1); return nil }))(t)
					written[i]++
					item := assert.Must(table.Get(t.Context(), key))(t)
					assert.Equal(t, item.Value.B, fmt.Sprint(written[i]))
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		assert.NoError(t, s.Move(t.Context(), list[0].Name, list[1], &shards.MoveOptions{Rows: 8}))
		assert.NoError(t, s.Move(t.Context(), list[0].Name, list[1], nil)) // it has moved
		stop.Store(true)
		programs.Wait()
		assert.EqualSlices(t, rowsIn(t, list[:2]), []int{0, len(all)}, "the accounts have rows")
		for i, key := range all {
			assert.Equal(t, assert.Must(table.Get(t.Context(), key))(t).Value.B, fmt.Sprint(written[i]))
		}
		assert.WantError(t, s.Move(t.Context(), "unknown", list[2], nil), shards.ErrUnknownAccount)
		assert.WantError(t, s.Add(t.Context(), list[0], nil), patterns.ErrBadOption) // its place is taken
		assert.NoError(t, s.Add(t.Context(), list[2], nil))
		assert.WantError(t, s.Move(t.Context(), list[1].Name, list[2], nil), patterns.ErrBadOption)
		assert.NoError(t, s.Move(t.Context(), list[1].Name, list[0], nil)) // back
		n := rowsIn(t, list)
		if n[1] != 0 || n[0]+n[2] != len(all) {
			t.Errorf("the accounts have %v rows", n)
		}
	})
}

// An account takes exactly the partitions of the one whose place it takes, with its pins.
func TestAnAccountTakesThePlaceOfAnother(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 4)
		s, table := create(t, list[:3], o)
		fill(t, table, 30, 1)
		assert.NoError(t, s.Pin(t.Context(), "p000", list[1].Name, nil))
		before := rowsIn(t, list)
		owned := harness.Rows(t, list[1].Tables.NewClient(list[1].Table))
		assert.NoError(t, s.Move(t.Context(), list[1].Name, list[3], nil))
		after := rowsIn(t, list)
		assert.EqualSlices(t, after, []int{before[0], 0, before[2], before[1]})
		assert.Equal(t, len(harness.Rows(t, list[3].Tables.NewClient(list[3].Table))), len(owned))
		assert.Equal(t, assert.Must(s.Account(t.Context(), "p000"))(t).Name, list[3].Name)
		list[3].Weight = 2
		assert.NoError(t, s.Add(t.Context(), list[3], nil))
		if now := rowsIn(t, list); now[3] <= after[3] || now[3] == 30 {
			t.Errorf("with twice the weight: %v, then %v", after, now)
		}
	})
}

// TestALargePartitionCannotBeWrittenForSeconds moves a partition of 30,000 rows, with requests of 20 ms,
// and measures how long the longest write in it takes.
func TestALargePartitionCannotBeWrittenForSeconds(t *testing.T) {
	rows := 30_000
	if testing.Short() {
		rows = 3_000
	}
	synctest.Test(t, func(t *testing.T) {
		account := storagetest.Start(nil)
		list := accounts(account.TablesWith(harness.Accelerated()), 2)
		s, table := create(t, list, nil)
		assert.NoError(t, table.WriteWithin(t.Context(), "p", func(at *patterns.Table[doc]) error {
			ops := func(yield func(patterns.Op[doc]) bool) {
				for i := range rows {
					if !yield(patterns.InsertOp(&doc{PartitionKey: "p", RowKey: fmt.Sprintf("%06d", i), A: "some text of a row"})) {
						return
					}
				}
			}
			return assert.ErrorOf(at.Bulk(t.Context(), ops, nil))
		}))
		assert.NoError(t, account.Fault(storagetest.On("Table.*").Times(storagetest.Forever).Delay(20*time.Millisecond)))
		home := assert.Must(s.Account(t.Context(), "p"))(t).Name
		to := list[slices.IndexFunc(list, func(a shards.Account) bool { return a.Name != home })].Name
		var stop atomic.Bool
		var longest time.Duration
		var writes, last int
		var writer sync.WaitGroup
		writer.Go(func() {
			for !stop.Load() {
				began := time.Now()
				assert.Must(table.Upsert(t.Context(), &doc{PartitionKey: "p", RowKey: fmt.Sprintf("%06d", writes%rows), A: fmt.Sprint(writes)}, patterns.Replace))(t)
				last, writes = writes, writes+1
				longest = max(longest, time.Since(began))
				time.Sleep(50 * time.Millisecond)
			}
		})
		began := time.Now()
		assert.NoError(t, s.Pin(t.Context(), "p", to, nil))
		took := time.Since(began)
		stop.Store(true)
		writer.Wait()
		t.Logf("%d rows moved in %v; no write for %v", rows, took, longest)
		if longest > 10*time.Second || writes < 100 {
			t.Errorf("no write for %v, and %d writes", longest, writes)
		}
		item := assert.Must(table.Get(t.Context(), keys.Key{Partition: "p", Row: fmt.Sprintf("%06d", last%rows)}))(t)
		assert.Equal(t, item.Value.A, fmt.Sprint(last))
		account.ClearFaults()
		n := rowsIn(t, list)
		if n[0]+n[1] != rows {
			t.Errorf("the accounts have %v rows", n)
		}
	})
}
