package outbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// twoBadges are entities with remote rows.
func twoBadges() (a, b *hire) {
	return &hire{Dept: "Sales", ID: "1", Badge: "B1"}, &hire{Dept: "Sales", ID: "2", Badge: "B2"}
}

// A worker fences one operation of a transaction before it is sent. The writer starts over
// with new ids, whichever operation it was.
func TestAFenceOfAnyOperationMakesTheTransactionStartOver(t *testing.T) {
	for which := range 2 {
		testRace(t, func(r *race) {
			a, sent := r.process(), 0
			a.sending = func(method, path string) {
				if !isTransaction(method, path) {
					return
				}
				if sent++; sent == 1 {
					m := r.queue.Message(0)
					one := append(m.Others, m)[1-which]
					one.Partition, one.Others = m.Partition, nil
					_, err := r.process().Handle(r.ctx, one)
					r.must(err)
				}
			}
			x, y := twoBadges()
			_, err := a.Batch().Insert(x).Insert(y).Commit(r.ctx)
			r.must(err)
			if sent != 3 { // and the delete of the outbox rows
				r.must(fmt.Errorf("%d transactions", sent))
			}
		})
	}
}

// The transaction arrives once more after its entities were deleted.
func TestALateBatchIsNotAppliedAgain(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		x, y := twoBadges()
		r.must(r.delay(transaction))
		_, err := a.Batch().Insert(x).Insert(y).Commit(r.ctx)
		r.must(err)
		_, err = a.Batch().Delete(x.key()).Delete(y.key()).Commit(r.ctx)
		r.must(err)
		r.must(r.arrive())
		for _, h := range []*hire{x, y} {
			if _, err := a.Get(r.ctx, h.key()); !errors.Is(err, patterns.ErrNotFound) {
				r.must(fmt.Errorf("%s exists again: %w", h.ID, err))
			}
		}
	})
}

// A sweep, which knows nothing of messages, removes the record of one operation before the
// message is due.
func TestARecordThatASweepRemovedDoesNotKeepTheMessage(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		x, y := twoBadges()
		a.changed = a.Kill
		_, _ = a.Batch().Insert(x).Insert(y).Commit(r.ctx)
		r.handle(0)
		m := r.queue.Message(0)
		_, err := r.own.DeleteEntity(r.ctx, "Sales", "~azp_outbox_"+m.Others[0].ID, nil)
		r.must(err)
		for range 4 {
			time.Sleep(testExpiry + time.Minute)
			_, err := r.queue.WorkOne(r.ctx, r.process(), workerHides)
			r.must(err)
		}
		if r.queue.Len() != 0 {
			r.must(errors.New("the message remains"))
		}
	})
}

// The reply to a transaction without an outbox row is lost. One entity that is unchanged
// since, or whose stamps contain the transaction, shows what became of all.
func TestOneEntityShowsTheOutcomeOfABatch(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		x, y := &hire{Dept: "Sales", ID: "1", Email: "e1"}, &hire{Dept: "Sales", ID: "2", Email: "e2"}
		setup := r.process()
		_, err := setup.Batch().Insert(x).Insert(y).Commit(r.ctx)
		r.must(err)
		r.stamped = true
		a, err := r.start(&process{})
		r.must(err)
		lost := false
		a.loseReply = func(method, path string) bool {
			if lost || !isTransaction(method, path) {
				return false
			}
			lost = true
			r.must(setup.Delete(r.ctx, x.key())) // and its row shows nothing
			return true
		}
		again := func(h *hire) error { h.Age++; return nil }
		items, err := a.Batch().Update(x.key(), again).Update(y.key(), again).Commit(r.ctx)
		r.must(err)
		now, err := a.Get(r.ctx, y.key())
		r.must(err)
		if now.Value.Age != y.Age+1 || len(items) != 2 || items[1].ETag != now.ETag {
			r.must(fmt.Errorf("%+v is stored, the result is %+v", now, items))
		}
	}, "byEmail")
}

// Nothing shows whether the transaction was applied, and its first attempt may still arrive.
func TestABatchWithAnUnknownOutcomeIsNotCommittedAgain(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a, steps := r.process(), 0
		setup := r.process()
		rival := &hire{Dept: "Sales", ID: "2"}
		_, err := setup.Insert(r.ctx, rival)
		r.must(err)
		r.must(r.delay(transaction))
		b := a.Batch().Insert(&hire{Dept: "Sales", ID: "1"}).Insert(rival)
		for range 2 {
			if _, err := b.Commit(r.ctx); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) {
				r.must(fmt.Errorf("not unknown: %w", err))
			}
			if steps == 0 {
				steps = a.steps
			}
		}
		if a.steps != steps {
			r.must(errors.New("the second commit sent a request"))
		}
		r.must(setup.Delete(r.ctx, rival.key()))
		r.must(r.arrive()) // and is applied
		_, err = setup.Get(r.ctx, keys.Key{Partition: "Sales", Row: "id_1"})
		r.must(err)
	}, "byEmail")
}

// Messages of one operation look as they did before transactions had several.
func TestStoredFormOfMessages(t *testing.T) {
	one := patterns.OutboxMessage{Partition: "Sales", ID: "1", Row: "id_1", Reserved: []patterns.RowRef{{View: "byBadge", Partition: "badge", Row: "B1"}}}
	two := one
	two.Others = []patterns.OutboxMessage{{ID: "2"}}
	for want, m := range map[string]patterns.OutboxMessage{
		`{"p":"Sales","id":"1","r":[{"v":"byBadge","p":"badge","r":"B1"}],"k":"id_1"}`:                         one,
		`{"p":"Sales","id":"1","r":[{"v":"byBadge","p":"badge","r":"B1"}],"k":"id_1","o":[{"p":"","id":"2"}]}`: two,
	} {
		if text, err := json.Marshal(m); err != nil || string(text) != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
	}
}
