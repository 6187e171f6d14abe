package patterns_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A transaction that is committed again after an unknown outcome meets itself.
func TestBatchCommittedAgainRecognisesItself(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		for what, rule := range map[string]fault.Rule{"lost reply": fault.On("Table.Batch").Times(4).LoseReply(), "lost request": fault.On("Table.Batch").Times(4).LoseRequest()} {
			name := testbed.UniqueName()
			table := newTable(t, b.NamedTable(t, name), &patterns.TableOptions[counter]{StampWrites: true})
			direct := newTable[counter](t, b.Direct(t, name), nil)
			batch := table.Batch().Insert(&counter{"hits", "0", 1}).Insert(&counter{"hits", "1", 1})
			b.ClearFaults()
			b.Fault(rule, fault.On("Table.Get").LoseRequest())
			_, err := batch.Commit(t.Context())
			wantError(t, err, patterns.ErrOutcomeUnknown)
			b.ClearFaults()
			result, err := batch.Commit(t.Context())
			if err != nil || len(result.ETags) != 2 || result.ETags[0] != etagOf(t, direct, tally) {
				t.Errorf("%s: %v, %v", what, result, err)
			}
			_, err = batch.Commit(t.Context())
			wantError(t, err, patterns.ErrCommitted)
			other := table.Batch().Insert(&counter{"hits", "0", 1})
			_, err = other.Commit(t.Context())
			if !errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: another transaction gets %v", what, err)
			}
			b.ResetRequests()
			_, err = other.Commit(t.Context())
			wantError(t, err, patterns.ErrExists)
			cost(t, b, 1)
		}
	})
}

func TestThrottlingIsSaidSo(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		insert(t, table, counter{"hits", "0", 1})
		b.Fault(fault.On("Table.*").Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, insertErr := table.Insert(t.Context(), &counter{"hits", "1", 1})
		_, getErr := table.Get(t.Context(), tally)
		_, batchErr := table.Batch().Upsert(&counter{"hits", "1", 1}, patterns.Merge).Commit(t.Context())
		for what, err := range map[string]error{"insert": insertErr, "get": getErr, "batch": batchErr} {
			if !errors.Is(err, patterns.ErrThrottled) || b.Accelerated && errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// A shared access signature stands in the address of every request.
func TestSharedAccessSignaturesGoThroughEveryOperation(t *testing.T) {
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			acct := storagetest.New(t)
			owner := acct.Tables()
			name := testbed.UniqueName()
			if _, err := owner.CreateTable(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
			all := aztables.AccountSASPermissions{Read: true, Write: true, Delete: true, List: true, Add: true, Create: true, Update: true}
			address, err := owner.GetAccountSASURL(aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true}, all, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			opts := &aztables.ClientOptions{}
			opts.Transport = acct.Transport()
			if accelerate {
				opts = patterns.Accelerate(opts)
			}
			service, err := aztables.NewServiceClientWithNoCredential(address, opts)
			if err != nil {
				t.Fatal(err)
			}
			table := newTable[counter](t, service.NewClient(name), nil)
			for round := range 2 { // the first request may be of any kind
				v := counter{"hits", string(rune('a' + round)), 1}
				if _, err := table.Batch().Upsert(&v, patterns.Replace).Commit(t.Context()); err != nil {
					t.Fatalf("%+v", err)
				}
				if _, err := table.Update(t.Context(), v.key(), addOne); err != nil {
					t.Fatal(err)
				}
				if err := table.Delete(t.Context(), v.key(), ""); err != nil {
					t.Fatal(err)
				}
			}
			if base, ok := table.URL(); ok && base != storagetest.TablesURL+"/"+name {
				t.Errorf("the table is at %s", base)
			}
		})
	}
}
