package outbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// delay makes the next request that rule selects late: the process gets an error, and tries
// again.
func (c *cluster) delay(rule storagetest.Rule) error {
	const after = 10 * time.Minute // longer than any test here waits before it calls arrive
	return c.account.Fault(rule.LateRequest(after, after))
}

// arrive carries out the delayed request.
func (c *cluster) arrive() error {
	if n := c.account.Arrive(); n != 1 {
		return fmt.Errorf("%d requests were delayed", n)
	}
	return nil
}

var transaction = storagetest.On("Table.Batch").Nth(1)

func isTransaction(_, path string) bool { return strings.HasSuffix(path, "$batch") }

// absent checks that jones does not exist.
func (r *race) absent() {
	if _, err := r.process().Get(r.ctx, jones().key()); !errors.Is(err, patterns.ErrNotFound) {
		r.must(errors.New("the deleted entity exists again"))
	}
}

func TestALateInsertDoesNotTakeBackAUniqueValue(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		r.must(r.delay(transaction))
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		r.must(a.Delete(r.ctx, jones().key()))
		_, err = r.process().Insert(r.ctx, rival())
		r.must(err)
		r.must(r.arrive())
		r.absent()
	})
}

func TestALateInsertOfARemoteRowIsCorrected(t *testing.T) {
	other := storagetest.On("Table.*").Resource("other").Nth(1)
	for _, rule := range []storagetest.Rule{
		other.Where(func(q storagetest.Request) bool { return q.Op == "Table.Insert" }),
		other.Where(func(q storagetest.Request) bool {
			return q.Op != "Table.Insert" && q.Op != "Table.Get" && q.Op != "Table.Query"
		}),
	} {
		testRace(t, func(r *race) {
			a := r.process()
			r.must(r.delay(rule))
			_, err := a.Insert(r.ctx, withBadge("B7"))
			r.must(err)
			r.must(a.Delete(r.ctx, jones().key()))
			r.must(r.arrive())
		})
	}
}

// The only attempt to add an entity to a list has no reply. The entity is deleted before its
// writer reads the list again, so nothing changes the list until the attempt arrives.
func TestALateUpdateOfARemoteRowIsCorrected(t *testing.T) {
	testRace(t, func(r *race) {
		_, err := r.process().Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: jones().Last})
		r.must(err)
		a, err := r.start(&process{again: -1})
		r.must(err)
		r.must(r.delay(storagetest.On("Table.Replace").Resource("other").Nth(1)))
		written, deleted := false, false
		a.sending = func(method, path string) {
			if !strings.HasSuffix(path, "(PartitionKey='lastnames',RowKey='Jones')") || deleted {
				return
			}
			deleted = written && method == http.MethodGet
			written = written || method == http.MethodPut
			if deleted {
				r.must(r.process().Delete(r.ctx, jones().key()))
			}
		}
		_, err = a.Insert(r.ctx, jones())
		r.must(err)
		r.must(r.arrive())
	})
}

func TestALateInsertOfAReservationIsCorrected(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		r.must(r.delay(storagetest.On("Table.Insert").Nth(1)))
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		r.must(a.Delete(r.ctx, jones().key()))
		r.must(r.arrive())
	})
}

// The operation is refused, and a delayed attempt of its reservation arrives afterwards.
func TestALateReservationOfARefusedOperationIsReleased(t *testing.T) {
	testRace(t, func(r *race) {
		_, err := r.process().Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email})
		r.must(err)
		r.must(r.delay(storagetest.On("Table.Insert").Nth(1)))
		_, err = r.process().Insert(r.ctx, withBadge("B7"))
		r.refused("the taken address", err)
		r.must(r.arrive())
	})
}

// A worker inserts a missing row when it is about to remove the record. The first attempt is
// delayed, and arrives after the entity was deleted.
func TestALateCorrectionIsCorrected(t *testing.T) {
	testRace(t, func(r *race) {
		a := r.process()
		a.changed = a.Kill
		_, _ = a.Insert(r.ctx, withBadge("B7"))
		r.handle(0)
		_, err := r.other.DeleteEntity(r.ctx, "name_Ann Jones", "Sales_000223", nil)
		r.must(err)
		time.Sleep(testExpiry + time.Minute)
		r.must(r.delay(storagetest.On("Table.Insert").Resource("other").Nth(1)))
		_, err = r.process().Handle(r.ctx, r.queue.Message(0))
		r.must(err)
		r.must(r.process().Delete(r.ctx, jones().key()))
		r.must(r.arrive())
	})
}

func TestAGuardedInsertDoesNotUndoADelete(t *testing.T) {
	for _, late := range []bool{true, false} { // the request is late, or the reply is lost
		testRaceInPartition(t, func(r *race) {
			a, err := r.start(&process{guard: true})
			r.must(err)
			deleted := late
			a.loseReply = func(method, path string) bool {
				if deleted || !isTransaction(method, path) {
					return false
				}
				deleted = true
				r.must(r.process().Delete(r.ctx, jones().key()))
				return true
			}
			if late {
				r.must(r.delay(transaction))
			}
			_, err = a.Insert(r.ctx, jones())
			r.must(err)
			if late {
				r.must(r.process().Delete(r.ctx, jones().key()))
				r.must(r.arrive())
			}
			r.absent()
			r.must(r.recover(r.ctx))
			r.absent()
		})
	}
}

// A transaction is refused because of a copy, after an attempt that was not answered.
func TestADuplicateIsUncertainWhileAnAttemptMayArrive(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		setup := r.process()
		smith := &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email}
		_, err := setup.Insert(r.ctx, smith)
		r.must(err)
		a := r.process()
		r.must(r.delay(transaction))
		_, err = a.Insert(r.ctx, jones())
		if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) {
			t.Errorf("insert: got %v", err)
		}
		r.must(setup.Delete(r.ctx, smith.key()))
		r.must(r.arrive()) // and is applied
		_, err = r.process().Get(r.ctx, jones().key())
		r.must(err)

		_, err = setup.Insert(r.ctx, &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: "taken"})
		r.must(err)
		b := r.process()
		r.must(r.delay(transaction))
		_, err = b.Update(r.ctx, jones().key(), func(h *hire) error { h.Email = "taken"; return nil })
		if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("update: got %v", err)
		}
		r.must(setup.Delete(r.ctx, smith.key()))
		r.must(r.arrive())
	}, "byEmail")
}

// With an outbox row the same is certain.
func TestADuplicateIsCertainIfTheOutboxRowDecides(t *testing.T) {
	testRace(t, func(r *race) {
		setup := r.process()
		smith := &hire{Dept: "Sales", ID: "3", Last: "Smith", Email: jones().Email}
		_, err := setup.Insert(r.ctx, smith)
		r.must(err)
		a := r.process()
		r.must(r.delay(transaction))
		_, err = a.Insert(r.ctx, withBadge("B7"))
		r.refused("the taken address", err)
		r.must(setup.Delete(r.ctx, smith.key()))
		r.must(r.arrive())
		r.absent()
	})
}

// The reply to an insert is lost. Another client deletes the entity and inserts its own.
func TestAnotherClientsEntityDoesNotRuleOutAnInsert(t *testing.T) {
	testRaceInPartition(t, func(r *race) {
		a, b := r.process(), r.process()
		replaced := false
		a.loseReply = func(method, path string) bool {
			if replaced || !isTransaction(method, path) {
				return false
			}
			replaced = true
			r.must(b.Delete(r.ctx, jones().key()))
			other := jones()
			other.Age++
			_, err := b.Insert(r.ctx, other)
			r.must(err)
			return true
		}
		if _, err := a.Insert(r.ctx, jones()); !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) {
			t.Errorf("got %v", err)
		}
	})
}
