package highvolumedelete_test

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

// note is a row of a table that also contains rows to keep.
type note struct {
	PartitionKey, RowKey string
	Old                  bool
	Text                 string
}

func notes(t testing.TB, client *aztables.Client) *patterns.Table[note] {
	t.Helper()
	return harness.NewTable[note](t, client, nil)
}

func store(t testing.TB, table *patterns.Table[note], rows ...note) {
	t.Helper()
	_, err := table.Bulk(t.Context(), func(yield func(patterns.Op[note]) bool) {
		for i := range rows {
			if !yield(patterns.InsertOp(&rows[i])) {
				return
			}
		}
	}, nil)
	assert.NoError(t, err)
}

// oldNotes returns n old notes of a partition.
func oldNotes(partition string, n int) []note {
	rows := make([]note, n)
	for i := range rows {
		rows[i] = note{PartitionKey: partition, RowKey: fmt.Sprintf("%06d", i), Old: true, Text: "text"}
	}
	return rows
}

var old = query.Prop("Old").Eq(true)

// left returns the keys of the rows of a table.
func left(t testing.TB, table *patterns.Table[note]) []string {
	t.Helper()
	var got []string
	for page, err := range table.Scan(t.Context(), filterAll, "", nil) {
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
		table := notes(t, b.Table(t))
		// 551 rows: three pages that end within partitions.
		store(t, table, slices.Concat(oldNotes("a", 250), oldNotes("b", 130), oldNotes("c", 1), oldNotes("d", 170))...)
		b.Fault(storagetest.On("Table.Query").ShortPage(200))
		store(t, table, note{PartitionKey: "a", RowKey: "keep"}, note{PartitionKey: "e", RowKey: "keep"})
		b.ResetRequests()

		dry, err := table.DeleteWhere(t.Context(), old, &patterns.DeleteOptions{Allow: query.TableScan, DryRun: true})
		if err != nil || dry.Found != 551 || dry.Deleted != 551 || dry.Pages != 3 || dry.Transactions != 3+2+1+2 {
			t.Errorf("dry run: %+v, %v", dry, err)
		}
		b.WantRequests(t, map[string]int{"Table.Query": 3})

		steps, overlap := 0, sync.Mutex{}
		p, err := table.DeleteWhere(t.Context(), old, &patterns.DeleteOptions{
			Allow: query.TableScan,
			Progress: func(patterns.DeleteProgress) {
				if !overlap.TryLock() {
					t.Error("calls of Progress overlap")
				}
				steps++
				overlap.Unlock()
			},
		})
		if err != nil || p.Found != 551 || p.Deleted != 551 || p.Gone+p.Changed != 0 || p.Pages != 3 || p.Transactions != 8 || p.Cursor != "" || steps != 8 {
			t.Errorf("%+v, %d steps, %v", p, steps, err)
		}
		for _, q := range b.Requests() {
			if b.InProcess() && q.Op == "Table.Query" && q.ReplyBytes > 300*int64(q.Returned) {
				t.Errorf("more than keys was read: %v", q)
			}
		}
		b.ClearFaults()
		b.WantRequests(t, map[string]int{"Table.Query": 3, "Table.Batch": 8})
		want(t, "left", left(t, table), "a/keep", "e/keep")
		b.ResetRequests()

		assert.Equal(t, assert.Must(table.DeleteWhere(t.Context(), query.And(query.PartitionKey.Eq("a"), old), nil))(t).Found, 0)
		b.WantRequests(t, map[string]int{"Table.Query": 1})
	})
}

func TestDeleteWhereRefusesInvalidArgumentsWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := notes(t, b.Table(t))
		for what, c := range map[string]struct {
			f    query.Filter
			want error
		}{
			"everything":          {filterAll, query.ErrScan},
			"a property":          {old, query.ErrScan},
			"an unknown property": {query.And(query.PartitionKey.Eq("a"), query.Prop("No").Eq(1)), nil},
			"an invalid filter":   {query.Prop("1").Eq(1), nil},
		} {
			if _, err := table.DeleteWhere(t.Context(), c.f, nil); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := table.DeleteWhere(t.Context(), query.PartitionKey.Eq("a"), &patterns.DeleteOptions{Cursor: "x"})
		assert.WantError(t, err, patterns.ErrBadCursor, "a bad cursor")
		assert.WantError(t, assert.ErrorOf((*patterns.Table[note])(nil).DeleteWhere(t.Context(), old, nil)), patterns.ErrNil, "no table")
		b.WantRequests(t, nil)
	})
}

func TestDeleteWhereReadsAgainIfRowsAreGoneOrChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, unchanged := range []bool{false, true} {
			client := b.Table(t)
			table := notes(t, client)
			store(t, table, oldNotes("a", 100)...)
			raced := false
			options := &patterns.DeleteOptions{IfUnchanged: unchanged}
			page := assert.Must(table.Page(t.Context(), query.PartitionKey.Eq("a"), "", nil))(t)
			race := func() {
				raced = true
				for _, i := range []int{3, 50, 99} {
					assert.Equal(t, table.Delete(t.Context(), page.Items[i].Key, ""), nil)
				}
				for _, i := range []int{4, 60} {
					if _, err := table.Upsert(t.Context(), &note{PartitionKey: "a", RowKey: page.Items[i].Key.Row, Old: true, Text: "new"}, patterns.Replace); err != nil {
						t.Error(err)
					}
				}
			}
			between := notes(t, b.AfterEachTry(t, name(t, table), func(try int) {
				if try == 1 { // after the page of keys
					race()
				}
			}))
			b.ResetRequests()
			p, err := between.DeleteWhere(t.Context(), query.PartitionKey.Eq("a"), options)
			if err != nil || !raced || p.Found != 100 || p.Gone != 3 {
				t.Errorf("%+v, %v", p, err)
			}
			switch rest := left(t, table); {
			case unchanged && (p.Changed != 2 || p.Deleted != 95 || len(rest) != 2):
				t.Errorf("unchanged rows only: %+v, left %v", p, rest)
			case !unchanged && (p.Changed != 0 || p.Deleted != 97 || len(rest) != 0):
				t.Errorf("%+v, left %v", p, rest)
			}
			// The first transaction fails, the second deletes the other rows.
			assert.Equal(t, p.Transactions, 2, "transactions, want 2")
		}
	})
}

// name returns the name of a table that was used before.
func name(t testing.TB, table *patterns.Table[note]) string {
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
		store(t, notes(t, client), slices.Concat(oldNotes("a", 250), oldNotes("b", 120), oldNotes("c", 99))...)
		var sums [2]patterns.DeleteProgress
		var both sync.WaitGroup
		for i := range sums {
			both.Go(func() {
				var err error
				if sums[i], err = notes(t, client).DeleteWhere(t.Context(), old, &patterns.DeleteOptions{Allow: query.TableScan}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		assert.Equal(t, sums[0].Deleted+sums[1].Deleted, 469, "the two runs deleted", "rows", sums)
		want(t, "left", left(t, notes(t, client)))
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
				table := notes(t, b.Table(t))
				store(t, table, slices.Concat(oldNotes("a", 30), oldNotes("b", 20))...)
				b.Fault(rule)
				p, err := table.DeleteWhere(t.Context(), old, &patterns.DeleteOptions{
					Allow: query.TableScan, IfUnchanged: unchanged, Parallel: 1})
				b.ClearFaults()
				if err != nil || p.Deleted+p.Gone != 50 || p.Changed != 0 {
					t.Errorf("%v, unchanged %v: %+v, %v", rule, unchanged, p, err)
				}
				want(t, rule.String(), left(t, table))
			}
		}
	})
}

// The attempts of the first transaction may still arrive when the second is refused.
func TestARefusalAfterALostDeletionIsNotCertain(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := notes(t, b.Table(t))
		store(t, table, oldNotes("a", 30)...)
		b.Fault(storagetest.On("Table.Batch").Nth(1).Times(4).LoseRequest(),
			storagetest.On("Table.Batch").Nth(5).Times(storagetest.Forever).Status(403, "AuthorizationFailure"))
		_, err := table.DeleteWhere(t.Context(), old, &patterns.DeleteOptions{Allow: query.TableScan, Parallel: 1})
		assert.WantError(t, err, patterns.ErrOutcomeUnknown)
	})
}

func TestDeleteWhereContinuesFromItsCursor(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := notes(t, b.Table(t))
		store(t, table, slices.Concat(oldNotes("a", 310), oldNotes("b", 310), oldNotes("c", 310))...)
		options := &patterns.DeleteOptions{Allow: query.TableScan, Parallel: 1}
		b.Fault(storagetest.On("Table.Query").ShortPage(400), storagetest.On("Table.Batch").Nth(6).Times(storagetest.Forever).Status(403, "AuthorizationFailure"))
		p, err := table.DeleteWhere(t.Context(), old, options)
		var refused *patterns.Error
		if !errors.As(err, &refused) || refused.Status != 403 || p.Deleted != 410 || p.Cursor == "" {
			t.Fatalf("%+v, %v", p, err)
		}
		b.ClearFaults()
		b.Fault(storagetest.On("Table.Query").ShortPage(400))
		b.ResetRequests()
		options.Cursor = p.Cursor
		q, err := table.DeleteWhere(t.Context(), old, options)
		assert.NoError(t, err)
		assert.Equal(t, q.Deleted, 520)
		// The first page is done and is not read again.
		b.WantRequests(t, map[string]int{"Table.Query": 2, "Table.Batch": 7})
		b.ClearFaults()
		want(t, "left", left(t, table))
	})
}

func TestDeleteWhereStopsWhenItsContextEnds(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, at := range []int{1, 7, 15} {
			table := notes(t, b.Table(t))
			var rows []note
			for i := range 10 {
				rows = append(rows, oldNotes(fmt.Sprintf("p%02d", i), 120)...)
			}
			store(t, table, rows...)
			ctx, cancel := context.WithCancel(t.Context())
			p, err := table.DeleteWhere(ctx, old, &patterns.DeleteOptions{
				Allow: query.TableScan,
				Progress: func(p patterns.DeleteProgress) {
					if p.Transactions >= at {
						cancel()
					}
				},
			})
			cancel()
			assert.WantError(t, err, context.Canceled, p)
			if rest := len(left(t, table)); rest > 1200-p.Deleted {
				t.Errorf("%d rows are left of %d, %d deleted", rest, 1200, p.Deleted)
			}
		}
	})
}

func TestDeleteWhereDeletesKeysWithQuotes(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := notes(t, b.Table(t))
		rows := append(oldNotes("O'Brien", 3), oldNotes("p", 5)...)
		rows[6].RowKey = "it's"
		store(t, table, rows...)
		b.ResetRequests()
		p, err := table.DeleteWhere(t.Context(), old, &patterns.DeleteOptions{Allow: query.TableScan})
		assert.NoError(t, err)
		assert.Equal(t, p.Deleted, 8)
		want(t, "left", left(t, table))
	})
}

// Page boundaries, keys and Parallel must make no difference to the deleted rows and to the
// number of transactions.
func TestDeleteWhereDeletesExactlyTheMatchingRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		rapid.Check(t, func(rt *rapid.T) {
			b.ClearFaults()
			table := notes(t, b.Table(t))
			var rows []note
			var keep []string
			transactions := 0
			for p := range rapid.IntRange(0, 3).Draw(rt, "partitions") {
				name, matched := string(rune('a'+p)), 0
				for i := range rapid.IntRange(0, 150).Draw(rt, "rows") {
					n := note{PartitionKey: name, RowKey: fmt.Sprintf("%04d", i), Old: i%7 != 3}
					rows = append(rows, n)
					if n.Old {
						matched++
					} else {
						keep = append(keep, n.PartitionKey+"/"+n.RowKey)
					}
				}
				transactions += (matched + 99) / 100
			}
			store(t, table, rows...)
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
			p, err := table.DeleteWhere(t.Context(), old, &patterns.DeleteOptions{
				Allow: query.TableScan, Parallel: rapid.IntRange(1, 4).Draw(rt, "parallel")})
			if err != nil || p.Deleted != len(rows)-len(keep) || p.Found != p.Deleted {
				rt.Fatalf("%+v, %v", p, err)
			}
			log := b.Requests()
			if p.Transactions != transactions || log.Count("Table.Batch") != transactions || log.Count("Table.Query") != p.Pages || len(log) != transactions+p.Pages {
				rt.Fatalf("%+v, want %d transactions:\n%v", p, transactions, log)
			}
			b.ClearFaults()
			assert.EqualSlices(assert.Now(rt), left(t, table), keep, "left")
		})
	})
}

func TestTheNextDeleteWhereCompletesAnInterruptedOne(t *testing.T) {
	open := func(acct *storagetest.Account) (*patterns.Table[note], error) {
		return patterns.NewTable[note](acct.TablesWith(nil).NewClient("Notes"), nil)
	}
	options := patterns.DeleteOptions{Allow: query.TableScan, Parallel: 1}
	var cursor string
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		table, err := open(acct)
		if err != nil {
			return err
		}
		if err := table.Create(ctx); err != nil {
			return err
		}
		for _, n := range slices.Concat(oldNotes("a", 5), oldNotes("b", 3), oldNotes("c", 4)) {
			if _, err := table.Insert(ctx, &n); err != nil {
				return err
			}
		}
		if _, err := table.Insert(ctx, &note{PartitionKey: "b", RowKey: "keep"}); err != nil {
			return err
		}
		cursor = ""
		acct.Fault(storagetest.On("Table.Query").ShortPage(4))
		acct.Arm()
		o := options
		o.Progress = func(p patterns.DeleteProgress) { cursor = p.Cursor }
		_, err = table.DeleteWhere(ctx, old, &o)
		return err
	}, func(t *testing.T, acct *storagetest.Account) {
		table := assert.Must(open(acct))(t)
		o := options
		o.Cursor = cursor // the last one reported
		assert.NoError(t, assert.ErrorOf(table.DeleteWhere(t.Context(), old, &o)))
		want(t, "left", left(t, table), "b/keep")
	})
}
