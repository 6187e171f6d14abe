package outbox_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// countingQueue counts the requests that its methods would make.
type countingQueue struct {
	harness.OutboxQueue
	requests atomic.Int64
}

func (q *countingQueue) Put(ctx context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	q.requests.Add(1)
	return q.OutboxQueue.Put(ctx, m, after)
}

func (q *countingQueue) Delete(ctx context.Context, r patterns.Receipt) error {
	q.requests.Add(1)
	return q.OutboxQueue.Delete(ctx, r)
}

type hireStore = patterns.Store[hire]

// explainedOps are all operations of a Store on the entity jones, which is stored before
// unless missing is set. now is what they store.
var explainedOps = map[string]struct {
	missing bool
	op      func(stored patterns.Item[hire], now *hire) patterns.StoreOp[hire]
	do      func(ctx context.Context, s *hireStore, stored patterns.Item[hire], now *hire) error
}{
	"Insert": {true, insertOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return drop(s.Insert(ctx, now))
	}},
	"Insert, exists": {false, insertOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return drop(s.Insert(ctx, now))
	}},
	"Put, new": {true, putOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return drop(s.Put(ctx, now))
	}},
	"Put": {false, putOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return drop(s.Put(ctx, now))
	}},
	"PutItem": {false, putItemOf, func(ctx context.Context, s *hireStore, stored patterns.Item[hire], now *hire) error {
		return drop(s.PutItem(ctx, stored, now))
	}},
	"Update": {false, updateOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return drop(s.Update(ctx, now.key(), func(h *hire) error { *h = *now; return nil }))
	}},
	"Update, missing": {true, updateOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return drop(s.Update(ctx, now.key(), func(h *hire) error { *h = *now; return nil }))
	}},
	"UpdateItem": {false, updateItemOf, func(ctx context.Context, s *hireStore, stored patterns.Item[hire], now *hire) error {
		return drop(s.UpdateItem(ctx, stored, func(h *hire) error { *h = *now; return nil }))
	}},
	"Delete": {false, deleteOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return s.Delete(ctx, now.key())
	}},
	"Delete, missing": {true, deleteOf, func(ctx context.Context, s *hireStore, _ patterns.Item[hire], now *hire) error {
		return s.Delete(ctx, now.key())
	}},
	"DeleteItem": {false, deleteItemOf, func(ctx context.Context, s *hireStore, stored patterns.Item[hire], _ *hire) error {
		return s.DeleteItem(ctx, stored)
	}},
	"DeleteItem, missing": {true, deleteItemOf, func(ctx context.Context, s *hireStore, stored patterns.Item[hire], _ *hire) error {
		return s.DeleteItem(ctx, stored)
	}},
}

func insertOf(_ patterns.Item[hire], now *hire) patterns.StoreOp[hire] {
	return patterns.InsertEntity(now)
}
func putOf(_ patterns.Item[hire], now *hire) patterns.StoreOp[hire] { return patterns.PutEntity(now) }
func putItemOf(stored patterns.Item[hire], now *hire) patterns.StoreOp[hire] {
	return putOf(stored, now).Was(stored)
}
func updateOf(_ patterns.Item[hire], now *hire) patterns.StoreOp[hire] {
	return patterns.UpdateEntity(now.key(), func(h *hire) error { *h = *now; return nil })
}
func updateItemOf(stored patterns.Item[hire], now *hire) patterns.StoreOp[hire] {
	return updateOf(stored, now).Was(stored)
}
func deleteOf(_ patterns.Item[hire], now *hire) patterns.StoreOp[hire] {
	return patterns.DeleteEntity[hire](now.key())
}
func deleteItemOf(stored patterns.Item[hire], now *hire) patterns.StoreOp[hire] {
	return deleteOf(stored, now).Was(stored)
}

func drop[R any](_ R, err error) error { return err }

// hireVersions are changes of jones: of no row's key, of all rows' keys, of nothing.
func hireVersions() map[string]*hire {
	older, other := jones(), jones()
	older.Age = 35
	other.Name, other.Email, other.Badge, other.Last, other.Head = "Ann Smith", "smitha@contoso.com", "B8", "Smith", true
	return map[string]*hire{"older": older, "other keys": other, "equal": jones()}
}

func TestExplainPredictsTheRequestsOfEveryOperation(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		versions := hireVersions()
		if !b.InProcess() {
			versions = map[string]*hire{"other keys": versions["other keys"]} // the requests are the same
		}
		for _, views := range [][]string{nil, {"byEmail"}, {"lastHere"}, {"department"}, {"byBadge"}, {"byName"}, {"lastAll"}, {"company"}, everyView} {
			for version, now := range versions {
				for name, c := range explainedOps {
					what := fmt.Sprintf("%s with %v, %s", name, views, version)
					s, queue, item := storedHire(t, b, views, c.missing)
					var stored *hire
					if !c.missing {
						stored = &item.Value
					}
					plan, planned := s.Explain(c.op(item, now), stored)
					b.WantRequestCount(t, 0)
					queue.requests.Store(0)
					err := c.do(t.Context(), s, item, now)
					requests := len(b.Requests()) + int(queue.requests.Load())
					switch {
					case planned != nil:
						assert.WantError(t, err, planned.(interface{ Unwrap() error }).Unwrap())
					case err != nil:
						t.Errorf("%s: %v", what, err)
					case requests != plan.Requests:
						t.Errorf("%s: %d requests\n%v\n%v", what, requests, plan, b.Requests())
					}
				}
			}
		}
	})
}

func TestExplainWithoutTheStoredVersion(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		now := hireVersions()["older"] // jones with other properties, which is what a put assumes
		for _, view := range []string{"byEmail", "lastHere", "byName", "lastAll", "company"} {
			for _, name := range []string{"Put", "PutItem", "UpdateItem"} {
				c := explainedOps[name]
				s, queue, item := storedHire(t, b, []string{view}, false)
				plan := assert.Must(s.Explain(c.op(item, now)))(t)
				queue.requests.Store(0)
				assert.NoError(t, c.do(t.Context(), s, item, now))
				assert.Equal(t, len(b.Requests())+int(queue.requests.Load()), plan.Requests, name, "with", view, "requests", plan, b.Requests())
			}
			s, _, item := storedHire(t, b, []string{view}, false)
			assert.WantError(t, assert.ErrorOf(s.Explain(updateOf(item, now))), patterns.ErrNil)
		}
	})
}

// storedHire returns a new Store with some views. Other entities are in its lists and
// counters, and jones is stored unless missing is set.
func storedHire(t *testing.T, b *harness.Backend, views []string, missing bool) (*hireStore, *countingQueue, patterns.Item[hire]) {
	t.Helper()
	queue := &countingQueue{}
	s := assert.Must(newHires(b.Table(t), patterns.StoreOptions[hire]{Views: someViews(b.Table(t), views), Outbox: queue}))(t)
	for _, last := range []string{"Jones", "Smith"} {
		assert.NoError(t, assert.ErrorOf(s.Insert(t.Context(), &hire{Dept: "Sales", ID: "other" + last, Last: last})))
	}
	item := patterns.Item[hire]{Value: *jones(), Key: jones().key(), ETag: `W/"x"`}
	if !missing {
		item = assert.Must(s.Insert(t.Context(), jones()))(t)
	}
	b.ResetRequests()
	return s, queue, item
}
