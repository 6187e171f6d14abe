package highvolumedelete_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAnEventIsStoredInTheTableOfItsTime(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Day, nil)
		west := time.FixedZone("west", -8*3600)
		insert(t, s, "donh", time.Date(2014, 8, 1, 23, 30, 0, 0, west)) // in UTC the second
		b.WantRequests(t, map[string]int{"Table.Insert": 2, "Table.CreateTable": 1})
		insert(t, s, "junc", day(3).Add(-1))
		b.WantRequests(t, map[string]int{"Table.Insert": 1})
		insert(t, s, "junc", day(3))
		b.WantRequests(t, map[string]int{"Table.Insert": 2, "Table.CreateTable": 1})

		again := newTables(t, b, prefix, highvolumedelete.Day, nil)
		insert(t, again, "kenk", day(3))
		b.WantRequests(t, map[string]int{"Table.Insert": 1})

		tables := assert.Must(s.List(t.Context(), time.Time{}, time.Time{}))(t)
		want(t, "tables", names(tables, prefix), "20140802", "20140803")
		if !tables[0].From.Equal(day(2)) || !tables[0].To.Equal(day(3)) {
			t.Errorf("the first is %v", tables[0])
		}
		item, err := s.Get(t.Context(), day(2), keys.Key{Partition: "donh", Row: "20140802T073000.000000000"})
		if err != nil || !item.Value.At.Equal(time.Date(2014, 8, 2, 7, 30, 0, 0, time.UTC)) {
			t.Errorf("got %v, %v", item.Value, err)
		}
		assert.WantError(t, assert.ErrorOf(s.Get(t.Context(), day(9), item.Key)), patterns.ErrNotFound, "of a period without a table")
		assert.WantError(t, assert.ErrorOf(s.Insert(t.Context(), &login{User: "junc", At: day(3)})), patterns.ErrExists, "a second time")
		assert.Equal(t, assert.ErrorOf(s.Upsert(t.Context(), &login{User: "junc", At: day(3), Address: "::1"}, patterns.Replace)), nil)
	})
}

func TestInvalidValuesAreRefusedWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, nil)
		for what, c := range map[string]struct {
			value *login
			want  error
		}{
			"nil":             {nil, patterns.ErrNil},
			"no time":         {&login{User: "a"}, patterns.ErrBadKey},
			"the year 1":      {&login{User: "a", At: time.Time{}.Add(time.Hour)}, patterns.ErrBadKey},
			"the year 10000":  {&login{User: "a", At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, patterns.ErrBadKey},
			"a bad key":       {&login{User: "a/b", At: day(1)}, patterns.ErrBadKey},
			"a large address": {&login{User: "a", At: day(1), Address: string(make([]byte, 1<<17))}, patterns.ErrTooLarge},
		} {
			assert.WantError(t, assert.ErrorOf(s.Insert(t.Context(), c.value)), c.want, what)
		}
		far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		assert.WantError(t, assert.ErrorOf(s.Open(t.Context(), far)), patterns.ErrBadKey, "open")
		assert.WantError(t, assert.ErrorOf(s.DropBefore(t.Context(), time.Time{}, nil)), patterns.ErrBadKey, "drop before the zero time")
		assert.WantError(t, assert.ErrorOf(s.DropBefore(t.Context(), far, nil)), patterns.ErrBadKey, "drop before the year 10000")
		b.WantRequests(t, nil)
	})
}

func TestConcurrentWritersCreateATableOnce(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Hour, nil)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				assert.Equal(t, assert.ErrorOf(s.Insert(t.Context(), &login{User: "u", At: day(1).Add(time.Duration(i))})), nil)
			})
		}
		all.Wait()
		assert.Equal(t, b.Requests().Count("Table.CreateTable"), 1, "requests to create it")
	})
}

func TestPrepareCreatesFutureTables(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Month, nil)
		assert.NoError(t, s.Prepare(t.Context(), 5))
		b.WantRequests(t, map[string]int{"Table.CreateTable": 6})
		assert.NoError(t, s.Prepare(t.Context(), 5))
		b.WantRequests(t, nil)
		if err := newTables(t, b, prefix, highvolumedelete.Month, nil).Prepare(t.Context(), 0); err != nil {
			t.Fatal(err) // it exists
		}
		b.WantRequests(t, map[string]int{"Table.CreateTable": 1})
		insert(t, s, "donh", time.Now())
		b.WantRequests(t, map[string]int{"Table.Insert": 1})
		tables, err := s.List(t.Context(), time.Now(), time.Time{})
		assert.NoError(t, err)
		assert.Equal(t, len(tables), 6)
	})
}

func TestLostRepliesStoreOneRow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, rule := range []storagetest.Rule{
			storagetest.On("Table.Insert").Nth(1).LoseReply(),
			storagetest.On("Table.Insert").Nth(2).LoseReply(),
			storagetest.On("Table.CreateTable").Nth(1).LoseReply(),
			storagetest.On("Table.CreateTable").Nth(1).LoseRequest(),
		} {
			prefix := uniquePrefix()
			s := newTables(t, b, prefix, highvolumedelete.Week, nil)
			b.Fault(rule)
			_, err := s.Insert(t.Context(), &login{User: "donh", At: day(1)})
			if err != nil && !errors.Is(err, patterns.ErrOutcomeUnknown) { // the rows have no stamps
				t.Errorf("%v: %v", rule, err)
			}
			b.ClearFaults()
			want(t, rule.String(), read(t, s.Query(t.Context(), day(1), day(9), filterAll, scan(false))), "donh 01 00")
		}
	})
}

// Another client could have stored equal content, so only a stamp shows whose the row is.
func TestOnlyAStampShowsThatALostInsertWasApplied(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, stamped := range []bool{false, true} {
			s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, &highvolumedelete.Options[login]{Table: patterns.TableOptions[login]{StampWrites: stamped}})
			insert(t, s, "first", day(1)) // creates the table
			for op, write := range map[string]func() error{
				"Table.Insert": func() error { return assert.ErrorOf(s.Insert(t.Context(), &login{User: "donh", At: day(1)})) },
				"Table.Batch": func() error {
					events := []login{{User: "junc", At: day(1)}, {User: "junc", At: day(1).Add(time.Hour)}}
					report, err := s.Bulk(t.Context(), slices.Values(events), patterns.InsertOp[login], nil)
					for _, f := range report.Failures {
						assert.WantError(t, f.Err, patterns.ErrOutcomeUnknown)
					}
					if !stamped && len(report.Failures) != 2 {
						t.Errorf("report %+v", report)
					}
					return err
				},
			} {
				b.Fault(storagetest.On(op).Nth(1).LoseReply())
				if err := write(); stamped != (err == nil) || !stamped && !errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("%s, stamped %v: %v", op, stamped, err)
				}
				b.ClearFaults()
			}
		}
	})
}

func TestAMissingTableIsCreatedAgainUnlessItWasDropped(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		now := time.Now()
		past := now.Add(-72 * time.Hour)
		kept := newTables(t, b, "Kept", highvolumedelete.Day, &highvolumedelete.Options[login]{Keep: 100 * time.Hour})
		free := newTables(t, b, "Free", highvolumedelete.Day, nil)
		vanish := func(s *highvolumedelete.Tables[login], at time.Time) {
			table := assert.Must(s.Table(at))(t)
			assert.NoError(t, table.Drop(t.Context()))
		}
		for _, s := range []*highvolumedelete.Tables[login]{kept, free} {
			for _, at := range []time.Time{past, now} {
				insert(t, s, "donh", at)
				vanish(s, at)
			}
		}
		// The service blocks the name for 40 seconds.
		for i, s := range []*highvolumedelete.Tables[login]{kept, free} {
			_, err := s.Insert(t.Context(), &login{User: "a", At: now})
			var dropped *highvolumedelete.DroppedError
			if !errors.Is(err, highvolumedelete.ErrDropped) || !errors.As(err, &dropped) || !dropped.Deleting || !errors.Is(err, patterns.ErrTableNotFound) {
				t.Errorf("%d: while it is being deleted: %v", i, err)
			}
			want(t, "while it is being deleted", read(t, s.Query(t.Context(), now, now.Add(1), filterAll, scan(false))))
		}
		time.Sleep(time.Minute)
		for _, s := range []*highvolumedelete.Tables[login]{kept, free} {
			assert.Equal(t, assert.ErrorOf(s.Insert(t.Context(), &login{User: "b", At: now})), nil, "the current table")
		}
		assert.Equal(t, assert.ErrorOf(kept.Insert(t.Context(), &login{User: "b", At: past})), nil, "a table that must be kept")
		b.ResetRequests()
		for range 2 {
			_, err := free.Insert(t.Context(), &login{User: "b", At: past})
			var dropped *highvolumedelete.DroppedError
			if !errors.As(err, &dropped) || dropped.Deleting || !dropped.Limit.IsZero() {
				t.Errorf("a table of the past that is gone: %v", err)
			}
		}
		b.WantRequests(t, map[string]int{"Table.Insert": 1})
	})
}

func TestKeepRefusesLateWritesInEveryProcess(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		keep := 60 * 24 * time.Hour
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, &highvolumedelete.Options[login]{Keep: keep})
		limit := highvolumedelete.Day.Start(time.Now().Add(-keep))
		if got := s.Limit(); !got.Equal(limit) {
			t.Errorf("limit %v, want %v", got, limit)
		}
		_, err := s.Insert(t.Context(), &login{User: "a", At: limit.Add(-1)})
		var dropped *highvolumedelete.DroppedError
		if !errors.As(err, &dropped) || !dropped.Limit.Equal(limit) || !dropped.To.Equal(limit) || dropped.Table == "" {
			t.Errorf("got %v", err)
		}
		assert.WantError(t, assert.ErrorOf(s.Open(t.Context(), limit.Add(-1))), highvolumedelete.ErrDropped, "open")
		b.WantRequests(t, map[string]int{"Table.Get": 1}) // for the time of the service
		insert(t, s, "a", limit)
	})
}

// A table that was forgotten costs one request.
func TestTheOldestOfTooManyTableStatesIsForgotten(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Hour, nil)
		const known = 1024
		hour := func(n int) time.Time { return day(1).Add(time.Duration(n) * time.Hour) }
		open := func(what string, n, requests int) {
			t.Helper()
			assert.NoError(t, assert.ErrorOf(s.Open(t.Context(), hour(n))))
			b.WantRequests(t, map[string]int{"Table.CreateTable": requests})
		}
		for n := range known {
			open("a new table", n, 1)
		}
		open("the oldest known table", 0, 0)
		open("one more", known, 1)
		open("the second oldest", 1, 0)
		open("the oldest, forgotten", 0, 1)
		open("the second oldest, forgotten for the oldest", 1, 1)
		open("the newest", known, 0)
	})
}

// The first attempt gets no reply and may still arrive; the next one finds no table, which
// cannot be created either.
func TestAnInsertThatMayStillArriveIsNotReportedAsRefused(t *testing.T) {
	for name, creation := range map[string]storagetest.Rule{
		"no reply":  storagetest.On("Table.CreateTable").LoseReply(),
		"forbidden": storagetest.On("Table.CreateTable").Status(403, "AuthorizationFailure"),
	} {
		t.Run(name, func(t *testing.T) {
			harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
				s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
				b.Fault(storagetest.On("Table.Insert").Nth(1).LoseRequest(), creation)
				_, err := s.Insert(t.Context(), &login{User: "donh", At: day(1)})
				assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			})
		})
	}
}
