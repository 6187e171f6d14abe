package reindex_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// emailStore is a Store whose view "email" has rows in the table index.
func emailStore(t *testing.T, primaries, index *aztables.Client) *patterns.Store[person] {
	email := harness.Must(secondaryindex.Inter("email", index, func(p *person) (string, bool) { return p.Email, true }, nil))(t)
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
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v does not name the table %s", what, err, name)
		}
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
		harness.NoError(t, first.Create(t.Context()))
		harness.Must(first.Put(t.Context(), personOf(1)))(t)
		reserved := `{"PartitionKey":"email_dept0000","RowKey":"p000002@contoso.com","azp_pk":"dept0000","azp_rk":"id_000002","azp_view":"email","azp_op":"LOST","azp_state":"reserved"}`
		harness.Must(index.AddEntity(t.Context(), []byte(reserved), nil))(t)
		time.Sleep(time.Hour)
		before := harness.Rows(t, index)

		second := emailStore(t, tables.NewClient("Contractors"), index)
		wantRefused(t, "create", second.Create(t.Context()))
		for what, call := range map[string]func() error{
			"sweep":    func() error { return harness.ErrorOf(second.Sweep(t.Context(), nil)) },
			"dry run":  func() error { return harness.ErrorOf(second.Sweep(t.Context(), &patterns.SweepOptions{DryRun: true})) },
			"repair":   func() error { return harness.ErrorOf(reindex.Repair(t.Context(), second, nil)) },
			"backfill": func() error { return harness.ErrorOf(reindex.Backfill(t.Context(), second, "email", nil)) },
			"verify":   func() error { return harness.Failure(t, reindex.Verify(t.Context(), second, nil)) },
		} {
			wantRefused(t, what, call())
		}
		if after := harness.Rows(t, index); len(after) != len(before) {
			t.Errorf("%d rows, there were %d", len(after), len(before))
		}
		states := harness.Must(second.ViewStates(t.Context()))(t)
		if states[0].State != "" {
			t.Errorf("a refused backfill has recorded the state %q", states[0].State)
		}
		harness.Must(first.Put(t.Context(), personOf(1)))(t)

		// An operator moves the view to the second Store.
		harness.Must(index.DeleteEntity(t.Context(), "~azp", "~azp_owner_email", nil))(t)
		harness.NoError(t, second.Create(t.Context()))
		wantRefused(t, "the former owner", emailStore(t, tables.NewClient("Employees"), index).Create(t.Context()))
	})
}

// Whichever of the processes is first records the owner, also if its reply is lost, and a Store asks once.
func TestTheOwnerOfAViewIsRecordedOnce(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		primaries, index := b.Table(t), b.Table(t)
		b.Fault(fault.On("Table.Insert").LoseReply())
		errs := make(chan error)
		for range 4 {
			s := emailStore(t, primaries, index)
			go func() { errs <- s.Create(t.Context()) }()
		}
		for range 4 {
			harness.NoError(t, <-errs)
		}
		b.ClearFaults()
		if rows := harness.Rows(t, index); len(rows) != 1 {
			t.Errorf("%d rows", len(rows))
		}
		s := emailStore(t, primaries, index)
		b.ResetRequests()
		harness.Must(s.Sweep(t.Context(), nil))(t)
		b.WantRequests(t, map[string]int{"Table.Query": 3, "Table.Get": 1})
		harness.Must(s.Within("p").Sweep(t.Context(), nil))(t)
		b.WantRequests(t, map[string]int{"Table.Query": 2})
		harness.NoError(t, s.Create(t.Context()))
		b.WantRequests(t, map[string]int{"Table.CreateTable": 2})

		local := harness.NewStore[person](t, b.Table(t), nil)
		b.ResetRequests()
		harness.NoError(t, local.Create(t.Context()))
		harness.Must(local.Sweep(t.Context(), nil))(t)
		b.WantRequests(t, map[string]int{"Table.CreateTable": 1, "Table.Query": 1})
	})
}

// A dry run and a verification record no owner.
func TestAReadOnlyRunRecordsNoOwner(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := b.Table(t)
		s := emailStore(t, b.Table(t), index)
		harness.Must(s.Sweep(t.Context(), &patterns.SweepOptions{DryRun: true}))(t)
		harness.All(t, reindex.Verify(t.Context(), s, nil))
		if rows := harness.Rows(t, index); len(rows) != 0 {
			t.Errorf("%d rows", len(rows))
		}
		harness.Must(s.Sweep(t.Context(), nil))(t)
		if rows := harness.Rows(t, index); len(rows) != 1 {
			t.Errorf("%d rows", len(rows))
		}
	})
}
