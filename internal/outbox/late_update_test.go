package outbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// isCopy selects writes of jones's copy in another table.
func isCopy(method, path string) bool {
	return method != http.MethodGet && strings.Contains(path, "/other(") && strings.Contains(path, "name_Ann")
}

// setAge changes the age of jones, which is part of a copy in another table.
func (r *race) setAge(p *process, age int32) {
	_, err := p.Update(r.ctx, jones().key(), func(h *hire) error { h.Age = age; return nil })
	r.must(err)
}

// Both attempts to update a copy have no reply. Another process takes the change back before
// the copy is read again, which then needs no change.
func TestALateUpdateOfACopyIsCorrected(t *testing.T) {
	testRace(t, func(r *race) {
		setup := r.process()
		_, err := setup.Insert(r.ctx, jones())
		r.must(err)
		a, network := r.behind(isCopy)
		undone := false
		a.loseRequest = func(method, path string) bool {
			if network.late == nil || undone || !isCopy(method, path) {
				return false
			}
			undone = true
			r.setAge(setup, jones().Age)
			return true
		}
		r.setAge(a, jones().Age+1)
		if !undone {
			t.Error("the second attempt was not made")
		}
		network.arrive(r)
	})
}

// A server, or a gateway, answers that it does not know what became of the transaction, which
// arrives later.
func TestALateInsertAfterAnErrorOfTheServerIsNotApplied(t *testing.T) {
	const ofService = `{"odata.error":{"code":"OperationTimedOut","message":{"value":""}}}`
	for _, reply := range []string{ofService, "<html>Gateway Timeout</html>"} {
		for _, plain := range []bool{true, false} {
			testRace(t, func(r *race) {
				r.plain = plain
				a, network := r.behind(isTransaction)
				network.reply = reply
				_, err := a.Insert(r.ctx, withBadge("B7"))
				r.must(err)
				r.must(a.Delete(r.ctx, jones().key()))
				network.arrive(r)
				r.absent()
			})
		}
	}
}

// The copy of an operation in its late check is missing. A worker inserts it and is killed;
// its request arrives after the entity was deleted and another worker has done the check.
func TestALateInsertOfAKilledLateCheckIsCorrected(t *testing.T) {
	testRace(t, func(r *race) {
		a, _ := r.behind(isTransaction) // its record stays
		_, err := a.Insert(r.ctx, jones())
		r.must(err)
		time.Sleep(2 * testGrace)
		work := func(p *process) {
			_, err := r.queue.WorkOne(r.ctx, p, workerHides)
			r.must(err)
		}
		work(r.process())
		_, err = r.other.DeleteEntity(r.ctx, "name_Ann Jones", "Sales_000223", nil)
		r.must(err)
		time.Sleep(testExpiry + time.Minute)

		insertsCopy := func(method, path string) bool { return method == http.MethodPost && strings.HasSuffix(path, "/other") }
		killed, network := r.behind(insertsCopy)
		killed.loseRequest = func(string, string) bool { return network.late != nil }
		_, _ = r.queue.WorkOne(r.ctx, killed, workerHides)
		killed.Kill()
		r.must(a.Delete(r.ctx, jones().key()))
		time.Sleep(2 * workerHides)
		work(r.process())
		network.arrive(r)
	})
}
