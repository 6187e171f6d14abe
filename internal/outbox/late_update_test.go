package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/harness"
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

// network is the network between a process and the account. It delays the first attempt
// that hold selects: the process gets an error, and tries again.
type network struct {
	policy.Transporter
	hold func(method, path string) bool
	late *http.Request

	// reply is the body of the reply with status 500 that the process gets for the delayed
	// attempt; "" for no reply.
	reply string
}

func (n *network) Do(req *http.Request) (*http.Response, error) {
	if n.late != nil || !n.hold(req.Method, req.URL.Path) {
		return n.Transporter.Do(req)
	}
	n.late = req.Clone(context.WithoutCancel(req.Context()))
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		n.late.Body = io.NopCloser(bytes.NewReader(body))
	}
	if n.reply != "" {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: io.NopCloser(strings.NewReader(n.reply)), Request: req}, nil
	}
	return nil, harness.ErrLost
}

// arrive carries out the delayed attempt.
func (n *network) arrive(r *race) {
	if n.late == nil {
		r.must(errors.New("no request was delayed"))
		return
	}
	res, err := n.Transporter.Do(n.late)
	r.must(err)
	if err == nil {
		_ = res.Body.Close()
	}
}

// behind starts a process whose first attempt of a request that hold selects is delayed.
func (r *race) behind(hold func(method, path string) bool) (*process, *network) {
	p := r.process()
	n := &network{Transporter: p.inner, hold: hold}
	p.inner = n
	return p, n
}
