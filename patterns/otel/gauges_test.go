package otel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	otelapi "go.opentelemetry.io/otel"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheBacklogTakesTwoRequestsUntilItIsUnregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		backlog := assert.Must(w.telemetry.ObserveQueue(w.queue))(t)
		w.acct.ResetLog()
		w.collect(t)
		if ops := strings.Join(w.acct.Log().Ops(), " "); ops != "Queue.GetMetadata Queue.Peek" {
			t.Error(ops)
		}
		must(t, backlog.Unregister())
		w.acct.ResetLog()
		w.collect(t)
		if n := len(w.acct.Log()); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestABacklogThatCannotBeReadIsReportedAndOtherMetricsAreKept(t *testing.T) {
	var reported atomic.Pointer[error]
	otelapi.SetErrorHandler(otelapi.ErrorHandlerFunc(func(err error) { reported.Store(&err) }))
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		backlog := assert.Must(w.telemetry.ObserveQueue(w.queue))(t)
		w.acct.Fault(storagetest.On("Queue.GetMetadata").Status(403, "AuthorizationFailure"))
		got := w.collect(t)
		if _, counted := got["azpatterns.queue.messages"]; counted || got["db.client.operation.duration"] != 1 {
			t.Errorf("got %v", got)
		}
		if _, peeked := got["azpatterns.queue.age"]; !peeked {
			t.Error("the failure of one gauge is one of the other")
		}
		var e *patterns.Error
		if err := reported.Load(); err == nil || !errors.As(*err, &e) || e.Code != "AuthorizationFailure" {
			t.Errorf("reported %v", err)
		}

		// A service that does not reply does not delay the collection for longer than its limit.
		reported.Store(nil)
		w.acct.Fault(storagetest.On("*").Times(storagetest.Forever).Delay(time.Hour))
		began := time.Now()
		w.collect(t)
		if err := reported.Load(); err == nil || !errors.Is(*err, context.DeadlineExceeded) {
			t.Errorf("reported %v", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %v", took)
		}
		must(t, backlog.Unregister())
	})
}
