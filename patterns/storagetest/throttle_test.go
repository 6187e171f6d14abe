package storagetest_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// accepted calls do until it fails with ServerBusy, and returns how often it succeeded.
func accepted(t *testing.T, do func() error) int {
	t.Helper()
	for n := 0; ; n++ {
		if err := do(); err != nil {
			wantCode(t, err, http.StatusServiceUnavailable, "ServerBusy")
			return n
		}
		if n > 50_000 {
			t.Fatal("not throttled")
		}
	}
}

func TestAPartitionAndAQueueAndAnAccountAcceptTheirTargetsPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		table(t, acct, "people")
		people := acct.TablesWith(once()).NewClient("people")
		put(t, people, "p", "1")
		if _, err := acct.Queue("jobs").Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		jobs := acct.QueueWith("jobs", &azqueue.ClientOptions{ClientOptions: once().ClientOptions})
		get := func(partition string) func() error {
			return func() error {
				_, err := people.GetEntity(t.Context(), partition, "1", nil)
				return err
			}
		}
		send := func() error {
			_, err := jobs.EnqueueMessage(t.Context(), "m", nil)
			return err
		}
		check := func(what string, got, want int) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %d accepted, want %d", what, got, want)
			}
		}

		acct.Throttle(nil)
		time.Sleep(time.Second) // the test does not start at the begin of a second
		check("a partition", accepted(t, get("p")), 2_000)
		if err := get("q")(); err == nil {
			t.Error("a row that does not exist was read")
		} else {
			wantCode(t, err, http.StatusNotFound, "ResourceNotFound")
		}
		check("a queue", accepted(t, send), 2_000)
		time.Sleep(time.Second)
		check("the next second", accepted(t, get("p")), 2_000)

		acct.Throttle(&storagetest.Targets{Partition: 4_000, Account: 4_500, Queue: -1})
		check("the same second after the target doubled", accepted(t, get("p")), 2_000)
		check("the account", accepted(t, send), 500)

		acct.Throttle(&storagetest.Targets{Partition: -1, Queue: -1, Account: -1})
		for range 5_000 {
			if err := send(); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(acct.Log().Only("Queue.Put")); n != 2_000+1+500+1+5_000 {
			t.Errorf("%d requests to the queue are in the log", n)
		}
	})
}

func TestABatchAndAPageCountForEachRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		table(t, acct, "people")
		people := acct.TablesWith(once()).NewClient("people")
		batch := func(partition string) func() error {
			acts := make([]aztables.TransactionAction, 40)
			for i := range acts {
				acts[i] = aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity(t, partition, fmt.Sprint(i))}
			}
			return func() error {
				_, err := people.SubmitTransaction(t.Context(), acts, nil)
				return err
			}
		}
		filter := "PartitionKey eq 'p'"
		page := func() error {
			_, err := people.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}).NextPage(t.Context())
			return err
		}
		acct.Throttle(&storagetest.Targets{Partition: 100})
		if n := accepted(t, batch("p")); n != 3 { // 120 rows: 20 of them in the next second
			t.Errorf("%d batches of 40 were accepted, want 3", n)
		}
		time.Sleep(time.Second)
		if n := accepted(t, page); n != 2 { // 20 + 2 * 40 rows
			t.Errorf("%d pages of 40 rows were accepted, want 2", n)
		}
		if err := batch("q")(); err != nil {
			t.Errorf("another partition: %v", err)
		}
	})
}

func TestTheSDKRetriesUntilTheNextSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		people := table(t, acct, "people")
		acct.Throttle(&storagetest.Targets{Partition: 10})
		for i := range 25 {
			if _, err := people.AddEntity(t.Context(), entity(t, "p", fmt.Sprint(i)), nil); err != nil {
				t.Fatal(err)
			}
		}
		log := acct.Log().Only("Table.Insert")
		busy, rows := 0, map[int64]int{}
		for _, q := range log {
			if q.Code == "ServerBusy" {
				busy++
			} else {
				rows[q.Start.Unix()] += q.Written
			}
		}
		if busy == 0 || len(log) != 25+busy {
			t.Errorf("%d of %d requests were refused", busy, len(log))
		}
		for second, n := range rows {
			if n > 10 {
				t.Errorf("%d rows were inserted in second %d", n, second)
			}
		}
	})
}
