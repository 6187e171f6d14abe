package outbox_test

import (
	"net/http"
	"strings"
	"testing"
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
