package reindex_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// emailStore is a Store whose view "email" has rows in the table index.
func emailStore(t *testing.T, primaries, index *aztables.Client) *patterns.Store[person] {
	email := secondaryindex.Inter("email", index, func(p *person) (string, bool) { return p.Email, true }, nil)
	return harness.NewStore(t, primaries, &patterns.StoreOptions[person]{Views: []patterns.View[person]{email}, Outbox: &harness.OutboxQueue{}, Grace: time.Minute})
}

// wantRefused checks the error of a Store whose view has rows of another Store's entities.
func wantRefused(t *testing.T, what string, err error) {
	t.Helper()
	var v *patterns.ViewError
	if !errors.Is(err, patterns.ErrBadView) || !errors.As(err, &v) || v.View != "email" {
		t.Fatalf("%s: %v", what, err)
	}
	for _, name := range []string{"Employees", "Contractors", "Index"} {
		assert.Contains(t, err.Error(), name, what, err, "does not name the table")
	}
}

// Employees and Contractors have a view of the same name in the table Index. Without the refusal, a
// sweep of the second Store looks for the operations of the first in its own table, does not find
// them, and releases their reservations; a repair deletes the rows of the first as orphans.
func TestASecondStoreWithTheSameViewNameIsRefused(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		tables := b.Service(t)
		index := tables.NewClient("Index")
		first := emailStore(t, tables.NewClient("Employees"), index)
		assert.NoError(t, first.Create(t.Context()))
		assert.Must(first.Put(t.Context(), personOf(1)))(t)
		reserved := `{"PartitionKey":"email_dept0000","RowKey":"p000002@contoso.com","azp_pk":"dept0000","azp_rk":"id_000002","azp_view":"email","azp_op":"LOST","azp_state":"reserved"}`
		assert.Must(index.AddEntity(t.Context(), []byte(reserved), nil))(t)
		time.Sleep(time.Hour)
		before := harness.Rows(t, index)

		second := emailStore(t, tables.NewClient("Contractors"), index)
		wantRefused(t, "create", second.Create(t.Context()))
		for what, call := range map[string]func() error{
			"sweep":    func() error { return assert.ErrorOf(second.Sweep(t.Context(), nil)) },
			"dry run":  func() error { return assert.ErrorOf(second.Sweep(t.Context(), &patterns.SweepOptions{DryRun: true})) },
			"repair":   func() error { return assert.ErrorOf(reindex.Repair(t.Context(), second, "", nil)) },
			"backfill": func() error { return assert.ErrorOf(reindex.Backfill(t.Context(), second, "email", "", nil)) },
			"verify":   func() error { return assert.Failure(t, reindex.Verify(t.Context(), second, "", nil)) },
		} {
			wantRefused(t, what, call())
		}
		assert.Equal(t, len(harness.Rows(t, index)), len(before), "rows, there were")
		states := assert.Must(second.ViewStates(t.Context()))(t)
		assert.Equal(t, states[0].State, "", "a refused backfill has recorded the state")
		assert.Must(first.Put(t.Context(), personOf(1)))(t)

		// An operator moves the view to the second Store.
		assert.Must(index.DeleteEntity(t.Context(), "~azp", "~azp_owner_email", nil))(t)
		assert.NoError(t, second.Create(t.Context()))
		wantRefused(t, "the former owner", emailStore(t, tables.NewClient("Employees"), index).Create(t.Context()))
	})
}

// Whichever of the processes is first records the owner, also if its reply is lost, and a Store asks once.
func TestTheOwnerOfAViewIsRecordedOnce(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		primaries, index := b.Table(t), b.Table(t)
		b.Fault(storagetest.On("Table.Insert").LoseReply())
		errs := make(chan error)
		for range 4 {
			s := emailStore(t, primaries, index)
			go func() { errs <- s.Create(t.Context()) }()
		}
		for range 4 {
			assert.NoError(t, <-errs)
		}
		b.ClearFaults()
		assert.Equal(t, len(harness.Rows(t, index)), 1, "rows")
		s := emailStore(t, primaries, index)
		b.ResetRequests()
		assert.Must(s.Sweep(t.Context(), nil))(t)
		b.WantRequests(t, map[string]int{"Table.Query": 3, "Table.Get": 1})
		assert.Must(s.Within("p").Sweep(t.Context(), nil))(t)
		b.WantRequests(t, map[string]int{"Table.Query": 2})
		assert.NoError(t, s.Create(t.Context()))
		b.WantRequests(t, map[string]int{"Table.CreateTable": 2})

		local := harness.NewStore[person](t, b.Table(t), nil)
		b.ResetRequests()
		assert.NoError(t, local.Create(t.Context()))
		assert.Must(local.Sweep(t.Context(), nil))(t)
		b.WantRequests(t, map[string]int{"Table.CreateTable": 1, "Table.Query": 1})
	})
}

// A dry run and a verification record no owner.
func TestAReadOnlyRunRecordsNoOwner(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := b.Table(t)
		s := emailStore(t, b.Table(t), index)
		assert.Must(s.Sweep(t.Context(), &patterns.SweepOptions{DryRun: true}))(t)
		assert.All(t, reindex.Verify(t.Context(), s, "", nil))
		assert.Equal(t, len(harness.Rows(t, index)), 0, "rows")
		assert.Must(s.Sweep(t.Context(), nil))(t)
		assert.Equal(t, len(harness.Rows(t, index)), 1, "rows")
	})
}

// A run that finds out whose the views are counts these requests: with and without a recorded owner,
// for a Store that knows its owner, and in a Backfill.
func TestTheRequestsForOwnersAreCounted(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		tables := b.Service(t)
		for _, name := range []string{"Employees", "Index"} {
			assert.Must(tables.NewClient(name).CreateTable(t.Context(), nil))(t)
		}
		open := func() *patterns.Store[person] {
			return emailStore(t, tables.NewClient("Employees"), tables.NewClient("Index"))
		}
		want := func(what string, owners int, run func() (reindex.Report, error)) {
			t.Helper()
			b.ResetRequests()
			r := assert.Must(run())(t)
			if sent := len(b.Requests()); r.Requests.Owners != owners || r.Requests.Total() != sent {
				t.Errorf("%s: %d requests, reported %+v, want %d for the owners", what, sent, r.Requests, owners)
			}
		}
		verify := func(s *patterns.Store[person]) func() (reindex.Report, error) {
			return func() (r reindex.Report, err error) {
				for _, err = range reindex.Verify(t.Context(), s, "", &reindex.Options{Report: &r}) {
				}
				return r, err
			}
		}
		s := open()
		want("no owner", 2+1, verify(s)) // the scan of the second table begins with a second look
		assert.NoError(t, open().Create(t.Context()))
		s = open()
		want("an owner", 2, verify(s))
		want("known", 0, verify(s))
		want("backfill", 2, func() (reindex.Report, error) { return reindex.Backfill(t.Context(), open(), "email", "", nil) })
	})
}

// A process that creates the Store is killed at each request: before and after it is carried out, and while
// it is on its way. Whatever arrived, the next process records the owner or finds it, and the Store
// of another table is refused.
func TestTheOwnerIsRecordedWhereverCreateIsKilled(t *testing.T) {
	open := func(t *testing.T, acct *storagetest.Account, primaries string) *patterns.Store[person] {
		tables := acct.TablesWith(harness.Accelerated())
		return emailStore(t, tables.NewClient(primaries), tables.NewClient("Index"))
	}
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		return open(t, acct, "Employees").Create(ctx)
	}, func(t *testing.T, acct *storagetest.Account) {
		assert.NoError(t, open(t, acct, "Employees").Create(t.Context()))
		time.Sleep(2 * time.Minute) // a late request arrives
		assert.NoError(t, open(t, acct, "Employees").Create(t.Context()))
		wantRefused(t, "another table", open(t, acct, "Contractors").Create(t.Context()))
		assert.Equal(t, len(harness.Rows(t, acct.Tables().NewClient("Index"))), 1, "rows")
	})
}

// Two Stores over different tables are created at the same time, and one of them is killed. One owns the
// view; the other one is refused, also if the owner lost its reply.
func TestOneOfTwoStoresOwnsAViewWhereverOneIsKilled(t *testing.T) {
	open := func(t *testing.T, acct *storagetest.Account, primaries string) *patterns.Store[person] {
		return emailStore(t, acct.Tables().NewClient(primaries), acct.Tables().NewClient("Index"))
	}
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		return open(t, acct, "Employees").Create(ctx)
	}, func(t *testing.T, acct *storagetest.Account) {
		second := open(t, acct, "Contractors").Create(t.Context())
		time.Sleep(2 * time.Minute)
		first := open(t, acct, "Employees").Create(t.Context())
		if (first == nil) == (second == nil) {
			t.Fatalf("%v, %v", first, second)
		}
		wantRefused(t, "the other one", cmp.Or(first, second))
		assert.WantError(t, open(t, acct, map[bool]string{true: "Contractors", false: "Employees"}[first == nil]).Create(t.Context()), patterns.ErrBadView)
	})
}
