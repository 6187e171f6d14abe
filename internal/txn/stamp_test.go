package txn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// randomFaults makes some of the requests fail, in every way.
func randomFaults(op string) []storagetest.Rule {
	return []storagetest.Rule{
		storagetest.On(op).Probability(0.15).LoseReply(),
		storagetest.On(op).Probability(0.15).LoseRequest(),
		storagetest.On(op).Probability(0.1).Status(http.StatusServiceUnavailable, "ServerBusy"),
		storagetest.On(op).Probability(0.05).Status(http.StatusInternalServerError, "InternalError"),
	}
}

// Each successful update has incremented the counter once, an update of unknown outcome at
// most once.
func TestStampedUpdatesAreAppliedOnce(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		rapid.Check(t, func(rt *rapid.T) {
			writers := rapid.IntRange(1, 4).Draw(rt, "writers")
			each := rapid.IntRange(1, 12).Draw(rt, "updates of each")
			name := harness.UniqueName()
			client := b.NamedTable(t, name)
			stamped := &patterns.TableOptions[counter]{StampWrites: true, Tries: 100}
			direct := harness.NewTable(t, b.Direct(t, name), stamped)
			harness.Insert(t, direct, counter{"hits", "0", 0})
			b.ClearFaults()
			b.Fault(randomFaults("Table.Replace")...)

			var mu sync.Mutex
			var group sync.WaitGroup
			var won, unknown int64
			for range writers {
				group.Go(func() {
					table := harness.NewTable(t, client, stamped)
					for range each {
						_, err := table.Update(t.Context(), tally, addOne)
						mu.Lock()
						if err == nil {
							won++
						} else if errors.Is(err, patterns.ErrOutcomeUnknown) {
							unknown++
						}
						mu.Unlock()
					}
				})
			}
			group.Wait()
			if n := harness.Get(t, direct, tally).Value.N; n < won || n > won+unknown {
				rt.Errorf("%d updates succeeded and %d are unknown, the counter is %d\n%v", won, unknown, n, b.Requests())
			}
		})
	})
}

// The rows are equal, so that only the stamp shows which insert was applied.
func TestOfConcurrentStampedInsertsOneSucceeds(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		rapid.Check(t, func(rt *rapid.T) {
			const rows = 10
			inserters := rapid.IntRange(2, 5).Draw(rt, "inserters")
			client := b.Table(t)
			b.ClearFaults()
			b.Fault(randomFaults("Table.Insert")...)
			var mu sync.Mutex
			var group sync.WaitGroup
			won, unknown := make(map[int]int), make(map[int]int)
			for range inserters {
				group.Go(func() {
					table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
					for row := range rows {
						_, err := table.Insert(t.Context(), &counter{"hits", fmt.Sprint(row), 1})
						mu.Lock()
						if err == nil {
							won[row]++
						} else if errors.Is(err, patterns.ErrOutcomeUnknown) {
							unknown[row]++
						}
						mu.Unlock()
					}
				})
			}
			group.Wait()
			table := harness.NewTable[counter](t, client, nil)
			for row := range rows {
				there := harness.ETagOf(t, table, keys.Key{Partition: "hits", Row: fmt.Sprint(row)}) != ""
				if won[row] > 1 || there && won[row]+unknown[row] == 0 || !there && won[row] > 0 {
					rt.Errorf("row %d: stored %v, %d winners, %d unknown\n%v", row, there, won[row], unknown[row], b.Requests())
				}
			}
		})
	})
}

func TestTheStampIsBoundedAndNotAmongTheProperties(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		stamped := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		harness.Insert(t, stamped, counter{"hits", "0", 1})
		for range 20 {
			assert.NoError(t, assert.ErrorOf(stamped.Update(t.Context(), tally, addOne)))
		}
		reply := assert.Must(client.GetEntity(t.Context(), "hits", "0", nil))(t)
		var row struct {
			Stamp string `json:"azp_stamp"`
		}
		if err := json.Unmarshal(reply.Value, &row); err != nil || len(row.Stamp) < 8*12 || len(row.Stamp) > 110 {
			t.Errorf("the stamp has %d bytes: %q, %v", len(row.Stamp), row.Stamp, err)
		}
		maps := harness.NewTable(t, client, &patterns.TableOptions[map[string]any]{Key: func(*map[string]any) (keys.Key, error) { return tally, nil }})
		if v := harness.Get(t, maps, tally).Value; v["azp_stamp"] != nil {
			t.Errorf("the stamp shows among the properties: %v", v)
		}
	})
}

// Two writes of one version without stamps exclude each other: each shows by its stamps which version it has changed.
func TestAVersionWithoutStampsIsIdentifiedByItsETag(t *testing.T) {
	first, again, other := txn.BaseStamps("etag 1", ""), txn.BaseStamps("etag 1", ""), txn.BaseStamps("etag 2", "")
	if first == "" || first != again || first == other {
		t.Errorf("the versions have the stamps %q, %q and %q", first, again, other)
	}
}
