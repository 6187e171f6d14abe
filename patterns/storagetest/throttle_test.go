package storagetest_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
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
		assert.NoError(t, assert.ErrorOf(acct.Queue("jobs").Create(t.Context(), nil)))
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
			assert.Equal(t, got, want, what, "accepted")
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
			assert.NoError(t, send())
		}
		assert.Equal(t, len(acct.Log().Only("Queue.Put")), 2_000+1+500+1+5_000, "requests to the queue are in the log")
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
		assert.Equal(t, batch("q")(), nil, "another partition")
	})
}

// Several clients send as much as they can while the target changes. The first value is ten times
// the second, which shows that the smaller one is not owed what the larger one permitted.
func TestAsMuchIsAcceptedAsTheTargetWhileItChanges(t *testing.T) {
	const clients, seconds = 4, 10
	filter := "PartitionKey eq 'p'"
	for _, c := range []struct {
		name    string
		targets func(n int) *storagetest.Targets
		send    func(t *testing.T, acct *storagetest.Account, client int) (int, error)
	}{
		{"point reads of a partition", func(n int) *storagetest.Targets { return &storagetest.Targets{Partition: n} },
			func(t *testing.T, acct *storagetest.Account, _ int) (int, error) {
				_, err := acct.TablesWith(once()).NewClient("people").GetEntity(t.Context(), "p", "1", nil)
				return 1, err
			}},
		{"pages of a partition", func(n int) *storagetest.Targets { return &storagetest.Targets{Partition: n} },
			func(t *testing.T, acct *storagetest.Account, _ int) (int, error) {
				page, err := acct.TablesWith(once()).NewClient("people").NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}).NextPage(t.Context())
				return len(page.Entities), err
			}},
		{"batches of a partition", func(n int) *storagetest.Targets { return &storagetest.Targets{Partition: n} },
			func(t *testing.T, acct *storagetest.Account, _ int) (int, error) {
				acts := make([]aztables.TransactionAction, 7)
				for i := range acts {
					acts[i] = aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity(t, "p", fmt.Sprint(i))}
				}
				_, err := acct.TablesWith(once()).NewClient("people").SubmitTransaction(t.Context(), acts, nil)
				return len(acts), err
			}},
		{"messages of a queue", func(n int) *storagetest.Targets { return &storagetest.Targets{Queue: n} },
			func(t *testing.T, acct *storagetest.Account, _ int) (int, error) {
				_, err := acct.QueueWith("jobs", &azqueue.ClientOptions{ClientOptions: once().ClientOptions}).EnqueueMessage(t.Context(), "m", nil)
				return 1, err
			}},
		{"everything in an account", func(n int) *storagetest.Targets { return &storagetest.Targets{Account: n} },
			func(t *testing.T, acct *storagetest.Account, client int) (int, error) {
				var err error
				if client%2 == 0 {
					_, err = acct.QueueWith("jobs", &azqueue.ClientOptions{ClientOptions: once().ClientOptions}).PeekMessage(t.Context(), nil)
				} else {
					_, err = acct.TablesWith(once()).NewClient("people").UpsertEntity(t.Context(), entity(t, fmt.Sprint(client), "1"), nil)
				}
				return 1, err
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				acct := storagetest.New(t)
				people := table(t, acct, "people")
				for i := range 7 {
					put(t, people, "p", fmt.Sprint(i))
				}
				assert.NoError(t, assert.ErrorOf(acct.Queue("jobs").Create(t.Context(), nil)))
				for _, target := range []int{200, 20, 100} {
					acct.Throttle(c.targets(target))
					time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
					end := time.Now().Add(seconds * time.Second)
					var sum atomic.Int64
					var group sync.WaitGroup
					for client := range clients {
						group.Go(func() {
							for time.Now().Before(end) {
								n, err := c.send(t, acct, client)
								if err != nil {
									wantCode(t, err, http.StatusServiceUnavailable, "ServerBusy")
									time.Sleep(100 * time.Millisecond)
									continue
								}
								sum.Add(int64(n))
							}
						})
					}
					group.Wait()
					// Each client may exceed the target by its last request; the next second is shorter by that.
					if got, want := sum.Load(), int64(target*seconds); got < want-7*clients || got > want+7*clients {
						t.Errorf("%d accepted in %d seconds with a target of %d", got, seconds, target)
					}
				}
			})
		})
	}
}

func TestTheSDKRetriesUntilTheNextSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		people := table(t, acct, "people")
		acct.Throttle(&storagetest.Targets{Partition: 10})
		for i := range 25 {
			assert.NoError(t, assert.ErrorOf(people.AddEntity(t.Context(), entity(t, "p", fmt.Sprint(i)), nil)))
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
