package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// memo is a row of a table that also contains rows to keep.
type memo struct {
	PartitionKey, RowKey string
	Old                  bool
	Text                 string
}

func memos(t testing.TB, client *aztables.Client) *patterns.Table[memo] {
	t.Helper()
	return harness.NewTable[memo](t, client, nil)
}

func storeMemos(t testing.TB, table *patterns.Table[memo], rows ...memo) {
	t.Helper()
	_, err := table.Bulk(t.Context(), func(yield func(patterns.Op[memo]) bool) {
		for i := range rows {
			if !yield(patterns.InsertOp(&rows[i])) {
				return
			}
		}
	}, nil)
	assert.NoError(t, err)
}

// oldMemos returns n old notes of a partition.
func oldMemos(partition string, n int) []memo {
	rows := make([]memo, n)
	for i := range rows {
		rows[i] = memo{PartitionKey: partition, RowKey: fmt.Sprintf("%06d", i), Old: true, Text: "text"}
	}
	return rows
}

var (
	wholeTable = patterns.QueryOptions{Allow: query.TableScan}
	oneByOne   = patterns.QueryOptions{Allow: query.TableScan, Parallel: 1}
)

var isOld = query.Prop("Old").Eq(true)

// left returns the keys of the rows of a table.
func memosLeft(t testing.TB, table *patterns.Table[memo]) []string {
	t.Helper()
	var got []string
	for page, err := range table.Scan(t.Context(), query.Filter{}, "", nil) {
		assert.NoError(t, err)
		for _, item := range page.Items {
			got = append(got, item.Key.Partition+"/"+item.Key.Row)
		}
	}
	slices.Sort(got)
	return got
}

func TestDeleteWhereSendsFullTransactions(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := memos(t, b.Table(t))
		// 551 rows: three pages that end within partitions.
		storeMemos(t, table, slices.Concat(oldMemos("a", 250), oldMemos("b", 130), oldMemos("c", 1), oldMemos("d", 170))...)
		b.Fault(storagetest.On("Table.Query").ShortPage(200))
		storeMemos(t, table, memo{PartitionKey: "a", RowKey: "keep"}, memo{PartitionKey: "e", RowKey: "keep"})
		b.ResetRequests()

		dry, err := table.DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{QueryOptions: wholeTable, DryRun: true})
		if err != nil || dry.Found != 551 || dry.Done != 551 || dry.Requests != 3 {
			t.Errorf("dry run: %+v, %v", dry, err)
		}
		b.WantRequests(t, map[string]int{"Table.Query": 3})

		steps, overlap := 0, sync.Mutex{}
		p, err := table.DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{
			QueryOptions: wholeTable,
			Progress: func(patterns.Progress) {
				if !overlap.TryLock() {
					t.Error("calls of Progress overlap")
				}
				steps++
				overlap.Unlock()
			},
		})
		if err != nil || p.Found != 551 || p.Done != 551 || p.Skipped != 0 || p.Requests != 3+8 || p.Cursor != "" || steps != 8 {
			t.Errorf("%+v, %d steps, %v", p, steps, err)
		}
		for _, q := range b.Requests() {
			if b.InProcess() && q.Op == "Table.Query" && q.ReplyBytes > 300*int64(q.Returned) {
				t.Errorf("more than keys was read: %v", q)
			}
		}
		b.ClearFaults()
		b.WantRequests(t, map[string]int{"Table.Query": 3, "Table.Batch": 8})
		assert.EqualSlices(t, memosLeft(t, table), []string{"a/keep", "e/keep"}, "left")
		b.ResetRequests()

		assert.Equal(t, assert.Must(table.DeleteWhere(t.Context(), query.And(query.PartitionKey.Eq("a"), isOld), "", nil))(t).Found, 0)
		b.WantRequests(t, map[string]int{"Table.Query": 1})
	})
}

func TestDeleteWhereRefusesInvalidArgumentsWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := memos(t, b.Table(t))
		for what, c := range map[string]struct {
			f    query.Filter
			want error
		}{
			"everything":          {query.Filter{}, query.ErrScan},
			"a property":          {isOld, query.ErrScan},
			"an unknown property": {query.And(query.PartitionKey.Eq("a"), query.Prop("No").Eq(1)), nil},
			"an invalid filter":   {query.Prop("1").Eq(1), nil},
		} {
			if _, err := table.DeleteWhere(t.Context(), c.f, "", nil); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := table.DeleteWhere(t.Context(), query.PartitionKey.Eq("a"), "x", nil)
		assert.WantError(t, err, patterns.ErrBadCursor, "a bad cursor")
		assert.WantError(t, assert.ErrorOf((*patterns.Table[memo])(nil).DeleteWhere(t.Context(), isOld, "", nil)), patterns.ErrNil, "no table")
		b.WantRequests(t, nil)
	})
}

func TestDeleteWhereReadsAgainIfRowsAreGoneOrChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, unchanged := range []bool{false, true} {
			client := b.Table(t)
			table := memos(t, client)
			storeMemos(t, table, oldMemos("a", 100)...)
			raced := false
			options := &patterns.DeleteOptions{IfUnchanged: unchanged}
			page := assert.Must(table.Page(t.Context(), query.PartitionKey.Eq("a"), "", nil))(t)
			race := func() {
				raced = true
				for _, i := range []int{3, 50, 99} {
					assert.Equal(t, table.Delete(t.Context(), page.Items[i].Key, ""), nil)
				}
				for _, i := range []int{4, 60} {
					if _, err := table.Upsert(t.Context(), &memo{PartitionKey: "a", RowKey: page.Items[i].Key.Row, Old: true, Text: "new"}, patterns.Replace); err != nil {
						t.Error(err)
					}
				}
			}
			between := memos(t, b.AfterEachTry(t, memoTable(t, table), func(try int) {
				if try == 1 { // after the page of keys
					race()
				}
			}))
			b.ResetRequests()
			p, err := between.DeleteWhere(t.Context(), query.PartitionKey.Eq("a"), "", options)
			if err != nil || !raced || p.Found != 100 {
				t.Errorf("%+v, %v", p, err)
			}
			switch rest := memosLeft(t, table); {
			case unchanged && (p.Skipped != 2 || p.Done != 98 || len(rest) != 2):
				t.Errorf("unchanged rows only: %+v, left %v", p, rest)
			case !unchanged && (p.Skipped != 0 || p.Done != 100 || len(rest) != 0):
				t.Errorf("%+v, left %v", p, rest)
			}
			// The first transaction fails, another read finds the other rows, and the second deletes these.
			assert.Equal(t, p.Requests, 2+2, "requests")
		}
	})
}

// name returns the name of a table that was used before.
func memoTable(t testing.TB, table *patterns.Table[memo]) string {
	t.Helper()
	url, ok := table.URL()
	if !ok {
		t.Fatal("the table was not used")
	}
	for i := len(url) - 1; ; i-- {
		if url[i] == '/' {
			return url[i+1:]
		}
	}
}

func TestDeleteWhereCanRunConcurrently(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		storeMemos(t, memos(t, client), slices.Concat(oldMemos("a", 250), oldMemos("b", 120), oldMemos("c", 99))...)
		var sums [2]patterns.Progress
		var both sync.WaitGroup
		for i := range sums {
			both.Go(func() {
				var err error
				if sums[i], err = memos(t, client).DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{QueryOptions: wholeTable}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		for _, p := range sums {
			assert.Equal(t, p.Done, p.Found, "rows done")
		}
		assert.EqualSlices(t, memosLeft(t, memos(t, client)), []string{}, "left")
	})
}

func TestDeleteWhereResolvesLostReplies(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, unchanged := range []bool{false, true} {
			for _, rule := range []storagetest.Rule{
				storagetest.On("Table.Batch").Nth(1).LoseReply(),
				storagetest.On("Table.Batch").Nth(2).LoseRequest(),
				storagetest.On("Table.Batch").Nth(2).Times(4).LoseReply(), // of all attempts of a call
				storagetest.On("Table.Batch").Nth(1).Twice(),
			} {
				table := memos(t, b.Table(t))
				storeMemos(t, table, slices.Concat(oldMemos("a", 30), oldMemos("b", 20))...)
				b.Fault(rule)
				p, err := table.DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{
					QueryOptions: oneByOne, IfUnchanged: unchanged})
				b.ClearFaults()
				if err != nil || p.Done != 50 || p.Skipped != 0 {
					t.Errorf("%v, unchanged %v: %+v, %v", rule, unchanged, p, err)
				}
				assert.EqualSlices(t, memosLeft(t, table), []string{}, rule.String())
			}
		}
	})
}

// The attempts of the first transaction may still arrive when the second is refused.
func TestARefusalAfterALostDeletionIsNotCertain(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := memos(t, b.Table(t))
		storeMemos(t, table, oldMemos("a", 30)...)
		b.Fault(storagetest.On("Table.Batch").Nth(1).Times(4).LoseRequest(),
			storagetest.On("Table.Batch").Nth(5).Times(storagetest.Forever).Status(403, "AuthorizationFailure"))
		_, err := table.DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{QueryOptions: oneByOne})
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
	})
}

func TestDeleteWhereContinuesFromItsCursor(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := memos(t, b.Table(t))
		storeMemos(t, table, slices.Concat(oldMemos("a", 310), oldMemos("b", 310), oldMemos("c", 310))...)
		options := &patterns.DeleteOptions{QueryOptions: oneByOne}
		b.Fault(storagetest.On("Table.Query").ShortPage(400), storagetest.On("Table.Batch").Nth(6).Times(storagetest.Forever).Status(403, "AuthorizationFailure"))
		p, err := table.DeleteWhere(t.Context(), isOld, "", options)
		var refused *patterns.Error
		if !errors.As(err, &refused) || refused.Status != 403 || p.Done != 410 || p.Cursor == "" {
			t.Fatalf("%+v, %v", p, err)
		}
		b.ClearFaults()
		b.Fault(storagetest.On("Table.Query").ShortPage(400))
		b.ResetRequests()
		q, err := table.DeleteWhere(t.Context(), isOld, p.Cursor, options)
		assert.NoError(t, err)
		assert.Equal(t, q.Done, 520)
		// The first page is done and is not read again.
		b.WantRequests(t, map[string]int{"Table.Query": 2, "Table.Batch": 7})
		b.ClearFaults()
		assert.EqualSlices(t, memosLeft(t, table), []string{}, "left")
	})
}

func TestDeleteWhereStopsWhenItsContextEnds(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, at := range []int{1, 7, 15} {
			table := memos(t, b.Table(t))
			var rows []memo
			for i := range 10 {
				rows = append(rows, oldMemos(fmt.Sprintf("p%02d", i), 120)...)
			}
			storeMemos(t, table, rows...)
			ctx, cancel := context.WithCancel(t.Context())
			transactions := 0
			p, err := table.DeleteWhere(ctx, isOld, "", &patterns.DeleteOptions{
				QueryOptions: wholeTable,
				Progress: func(patterns.Progress) {
					if transactions++; transactions >= at {
						cancel()
					}
				},
			})
			cancel()
			assert.WantError(t, err, context.Canceled, p)
			if rest := len(memosLeft(t, table)); rest > 1200-p.Done {
				t.Errorf("%d rows are left of %d, %d deleted", rest, 1200, p.Done)
			}
		}
	})
}

func TestDeleteWhereDeletesKeysWithQuotes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := memos(t, b.Table(t))
		rows := append(oldMemos("O'Brien", 3), oldMemos("p", 5)...)
		rows[6].RowKey = "it's"
		storeMemos(t, table, rows...)
		b.ResetRequests()
		p, err := table.DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{QueryOptions: wholeTable})
		assert.NoError(t, err)
		assert.Equal(t, p.Done, 8)
		assert.EqualSlices(t, memosLeft(t, table), []string{}, "left")
	})
}

// Page boundaries, keys and Parallel must make no difference to the deleted rows and to the
// number of transactions.
func TestDeleteWhereDeletesExactlyTheMatchingRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		rapid.Check(t, func(rt *rapid.T) {
			b.ClearFaults()
			table := memos(t, b.Table(t))
			var rows []memo
			var keep []string
			transactions := 0
			for p := range rapid.IntRange(0, 3).Draw(rt, "partitions") {
				name, matched := string(rune('a'+p)), 0
				for i := range rapid.IntRange(0, 150).Draw(rt, "rows") {
					n := memo{PartitionKey: name, RowKey: fmt.Sprintf("%04d", i), Old: i%7 != 3}
					rows = append(rows, n)
					if n.Old {
						matched++
					} else {
						keep = append(keep, n.PartitionKey+"/"+n.RowKey)
					}
				}
				transactions += (matched + 99) / 100
			}
			storeMemos(t, table, rows...)
			size := rapid.IntRange(1, 300).Draw(rt, "page")
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				b.Fault(storagetest.On("Table.Query").ShortPage(size))
			case 1:
				b.Fault(storagetest.On("Table.Query").EmptyPage(), storagetest.On("Table.Query").BoundaryPage())
			case 2:
				b.Fault(storagetest.On("Table.Query").CutPage(size))
			}
			b.ResetRequests()
			p, err := table.DeleteWhere(t.Context(), isOld, "", &patterns.DeleteOptions{
				QueryOptions: patterns.QueryOptions{Allow: query.TableScan, Parallel: rapid.IntRange(1, 4).Draw(rt, "parallel")}})
			if err != nil || p.Done != len(rows)-len(keep) || p.Found != p.Done {
				rt.Fatalf("%+v, %v", p, err)
			}
			log := b.Requests()
			if log.Count("Table.Batch") != transactions || log.Count("Table.Query")+transactions != len(log) || len(log) != p.Requests {
				rt.Fatalf("%+v, want %d transactions:\n%v", p, transactions, log)
			}
			b.ClearFaults()
			assert.EqualSlices(assert.Now(rt), memosLeft(t, table), keep, "left")
		})
	})
}

func TestTheNextDeleteWhereCompletesAnInterruptedOne(t *testing.T) {
	open := func(acct *storagetest.Account) (*patterns.Table[memo], error) {
		return patterns.NewTable[memo](acct.TablesWith(nil).NewClient("Notes"), nil)
	}
	options := patterns.DeleteOptions{QueryOptions: oneByOne}
	var cursor string
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		table, err := open(acct)
		if err != nil {
			return err
		}
		if err := table.Create(ctx); err != nil {
			return err
		}
		for _, n := range slices.Concat(oldMemos("a", 5), oldMemos("b", 3), oldMemos("c", 4)) {
			if _, err := table.Insert(ctx, &n); err != nil {
				return err
			}
		}
		if _, err := table.Insert(ctx, &memo{PartitionKey: "b", RowKey: "keep"}); err != nil {
			return err
		}
		cursor = ""
		acct.Fault(storagetest.On("Table.Query").ShortPage(4))
		acct.Arm()
		o := options
		o.Progress = func(p patterns.Progress) { cursor = p.Cursor }
		_, err = table.DeleteWhere(ctx, isOld, "", &o)
		return err
	}, func(t *testing.T, acct *storagetest.Account) {
		table := assert.Must(open(acct))(t)
		assert.NoError(t, assert.ErrorOf(table.DeleteWhere(t.Context(), isOld, cursor, &options))) // the last one reported
		assert.EqualSlices(t, memosLeft(t, table), []string{"b/keep"}, "left")
	})
}
