package storagetest

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/fakeaccount"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// attempt is one request in progress, with the effect of the rules on it.
type attempt struct {
	t      *transport
	r      *request.Request
	q      *Request // its entry in the log
	effect effect
}

func (a *attempt) lost() error { return &LostError{a.q.Op} }

func (a *attempt) run(req *http.Request) (*http.Response, error) {
	if err := wait(req.Context(), a.effect.delay); err != nil {
		closeBody(req)
		return nil, err
	}
	switch a.effect.outcome {
	case loseRequest:
		calls.TraceRequest(req)
		closeBody(req)
		return nil, a.lost()
	case lateRequest:
		calls.TraceRequest(req)
		if err := a.t.network.hold(a, req, a.effect.lateMin, math.MaxInt); err != nil {
			return nil, err
		}
		return nil, a.lost()
	case refuse:
		calls.TraceRequest(req)
		calls.TraceReply(req)
		return a.refuse(req), nil
	}
	res, err := a.send(req)
	if err != nil {
		return nil, err
	}
	if err := wait(req.Context(), a.effect.replyDelay); err != nil {
		drop(res)
		return nil, err
	}
	switch a.effect.outcome {
	case loseReply:
		drop(res)
		return nil, a.lost()
	case cutReply:
		res.Body = &cutBody{body: res.Body, left: a.effect.cut}
	}
	return res, nil
}

// send carries the request out, once or twice.
func (a *attempt) send(req *http.Request) (*http.Response, error) {
	out := *req
	if res := a.shape(&out); res != nil {
		calls.TraceRequest(req)
		calls.TraceReply(req)
		closeBody(req)
		res.Request = req
		a.t.note(func() { a.q.Status, a.q.ReplyBytes = res.StatusCode, res.ContentLength })
		return res, nil
	}
	last := &out
	if a.effect.outcome == repeat {
		again, err := rewindable(&out)
		if err != nil {
			return nil, err
		}
		if first, err := a.carryOut(&out); err == nil {
			drop(first)
		}
		last = again
	}
	res, err := a.carryOut(last)
	if err != nil {
		return nil, err
	}
	res.Request = req
	a.t.note(func() { a.q.record(a.r.Result, res); a.t.warn(a.q) })
	if a.effect.redeliver && a.r.Op == op.QueueGet && res.StatusCode == http.StatusOK {
		if err := a.keepReply(res); err != nil {
			return nil, err
		}
	}
	if res.ContentLength < 0 && res.Body != nil {
		res.Body = &countedBody{ReadCloser: res.Body, attempt: a}
	}
	return res, nil
}

// carryOut passes the request, with its parsed form, to the inner transport.
func (a *attempt) carryOut(req *http.Request) (*http.Response, error) {
	a.t.note(func() { a.q.Sent = true })
	*a.r.Result = request.Result{}
	res, before, err := a.t.network.do(request.Bind(req, a.r))
	for _, l := range before {
		a.t.note(func() { a.q.Fault += fmt.Sprintf(".After(%s #%d)", l.attempt.q.Op, l.attempt.q.Seq) })
	}
	if errors.Is(err, fakeaccount.ErrDown) {
		a.t.note(func() { a.q.Sent, a.q.Fault = false, a.q.Fault+".Down" })
		err = a.lost()
	}
	return res, err
}

// shape changes a read as the rules require. It returns the reply if the request is not
// to be carried out.
func (a *attempt) shape(req *http.Request) *http.Response {
	e := a.effect
	if a.r.Op == op.TableGet { // which no effect changes
		return nil
	}
	shaped := *a.r // a copy, because an outer transport may send its request again
	a.r = &shaped
	shaped.Page = e.page.WithDefaults(shaped.Page)
	shaped.Page.Empty = shaped.Page.Empty || e.empty // of a list; the reply to a query is created below
	switch a.r.Op {
	case op.TableQuery, op.TableList:
		if again := a.shapeQuery(req); e.empty && !again {
			return a.emptyPage(req)
		}
	case op.QueueGet:
		if res := a.t.repeated(a.q.Resource); res != nil {
			a.t.note(func() { a.q.Fault += ".Redelivered" })
			return res
		}
		fallthrough
	case op.QueuePeek:
		if e.noMessages {
			return newReply(req, http.StatusOK, http.Header{"Content-Type": {"application/xml"}}, []byte(noMessages))
		}
	}
	return nil
}
