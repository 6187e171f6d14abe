package secondaryindex_test

import (
	"context"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A repair that dies at any request leaves nothing that a worker and the next repair
// do not put right.
func TestARepairMayDieAnywhere(t *testing.T) {
	var wakeups *queue // outlives the process; the runs come one after the other
	open := func(account *storagetest.Account) *world {
		w := &world{account: account, queue: wakeups}
		tables := account.TablesWith(patterns.Accelerate(nil))
		w.x = newIndexes(tables.NewClient("Badges"))
		table := must(patterns.NewTable[employee](tables.NewClient("Employees"), nil))
		w.store = must(patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: w.x.views(), Outbox: w.queue}))
		return w
	}
	storagetest.CrashPoints(t,
		func(ctx context.Context, account *storagetest.Account) error {
			wakeups = &queue{}
			w := open(account)
			for _, name := range []string{"Employees", "Badges"} {
				if _, err := account.Tables().CreateTable(ctx, name, nil); err != nil {
					return err
				}
			}
			gone, changed := jones(), newEmployee("Sales", "000152", "Ann", "Lee", "ann@contoso.com")
			gone.Badge, changed.Badge = "17", "18"
			for _, e := range []*employee{gone, changed} {
				if _, err := w.store.Insert(ctx, e); err != nil {
					return err
				}
			}
			if err := w.store.Table().Delete(ctx, gone.key(), ""); err != nil {
				return err
			}
			if _, err := w.store.Table().Update(ctx, changed.key(), func(e *employee) error { e.Age++; return nil }); err != nil {
				return err
			}
			account.Arm()
			return w.repair(ctx)
		},
		func(t *testing.T, account *storagetest.Account) {
			w := open(account)
			for !w.queue.empty() {
				time.Sleep(time.Minute)
				if err := w.queue.work(t.Context(), w.store); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.repair(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.check(t.Context()); err != nil {
				t.Error(err)
			}
			r := on(t, w.x.badge, w.store)
			wantIDs(t, r.Range(t.Context(), "", "", "", &secondaryindex.ReadOptions{}), "000152")
			if _, err := w.store.Get(t.Context(), keys.Key{Partition: "Sales", Row: "empid_000152"}); err != nil {
				t.Error(err)
			}
		})
}
