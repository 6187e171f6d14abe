package otel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func (w *world) rows(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		assert.NoError(t, assert.ErrorOf(w.table.Insert(t.Context(), &employee{"Sales" + secret, fmt.Sprint(i, secret), secret})))
	}
	w.spans.Reset()
}

func TestASpanEndsIfTheLoopIsLeft(t *testing.T) {
	for name, leave := range map[string]func(){"return": func() {}, "panic": func() { panic("of the loop") }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.rows(t, 3)
				for _, loop := range []func(){
					func() {
						for range w.table.Query(t.Context(), query.PartitionKey.Eq("Sales"+secret), &patterns.QueryOptions{PageSize: 1}) {
							leave()
							return
						}
					},
					func() {
						for range w.table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 1}) {
							leave()
							return
						}
					},
				} {
					func() {
						defer func() { _ = recover() }()
						loop()
					}()
				}
				synctest.Wait()
				wantEnded(t, w, "table.query", "table.scan")
			})
		})
	}
}

func TestASpanEndsIfAFunctionOfTheCallerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.rows(t, 1)
		for _, call := range []func(){
			func() {
				_, _ = w.table.Bulk(t.Context(), func(func(patterns.Op[employee]) bool) { panic("of the sequence") }, nil)
			},
			func() {
				item := assert.Must(w.table.Insert(t.Context(), &employee{"Sales" + secret, "new" + secret, secret}))(t)
				_, _ = w.table.Update(t.Context(), item.Key, func(*employee) error { panic("of the change") })
			},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				call()
			}()
		}
		wantEnded(t, w, "table.bulk", "table.insert", "table.update")
	})
}

// wantEnded checks the names of the spans without a parent that have ended.
func wantEnded(t *testing.T, w *world, want ...string) {
	t.Helper()
	var names []string
	for _, s := range w.spans.GetSpans() {
		if !s.Parent.IsValid() {
			names = append(names, s.Name)
		}
	}
	w.tree(t)
	wantNames(t, names, want...)
}

func TestTheSpanOfATransactionHasItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ops := make([]patterns.Op[employee], 120)
		for i := range ops {
			ops[i] = patterns.UpsertOp(&employee{"Sales" + secret, fmt.Sprintf("%03d%s", i, secret), secret}, patterns.Replace)
		}
		assert.NoError(t, assert.ErrorOf(w.table.Bulk(t.Context(), slices.Values(ops), nil)))
		var sizes []string
		for _, s := range w.spans.GetSpans() {
			if s.Name == "BATCH Employees" {
				sizes = append(sizes, attributes(s.Attributes)["db.operation.batch.size"])
			}
		}
		wantNames(t, w.tree(t), "table.bulk", "  BATCH Employees", "  BATCH Employees")
		if fmt.Sprint(sizes) != "[100 20]" {
			t.Error(sizes)
		}
	})
}

// first returns the first ended span of that name.
func first(t *testing.T, w *world, name string) tracetest.SpanStub {
	t.Helper()
	for _, s := range w.spans.GetSpans() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %s", name)
	return tracetest.SpanStub{}
}

// work lets a worker process one delivery of each message that is visible.
func work(t *testing.T, queue *azqueue.QueueClient, worker *eventual.Worker) {
	t.Helper()
	resp := assert.Must(queue.DequeueMessages(t.Context(), nil))(t)
	for _, m := range resp.Messages {
		_ = worker.Process(t.Context(), *m.MessageText, int(*m.DequeueCount))
	}
}

func TestAnAttemptIsLinkedToTheSpanThatCreatedItsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		worker := assert.Must(eventual.NewWorker(w.queue, &eventual.Options{Tracing: w.provider}))(t)
		eventual.Handle(worker, "first", func(ctx context.Context, _ eventual.Job[string]) error {
			return eventual.Enqueue(ctx, w.queue, "second", secret, nil) // in the span of the attempt
		})
		eventual.Handle(worker, "second", func(context.Context, eventual.Job[string]) error { return nil })
		must(t, eventual.Enqueue(t.Context(), w.queue, "first", secret, &eventual.EnqueueOptions{Tracing: w.provider}))
		created := first(t, w, "enqueue work")
		wantNames(t, w.tree(t), "enqueue work", "  send work")
		wantAttributes(t, created.Attributes, map[string]string{
			"messaging.system": "azure.queue_storage", "messaging.operation.name": "enqueue", "messaging.operation.type": "create",
			"messaging.destination.name": "work", "azpatterns.job.kind": "first",
		})
		if created.SpanKind != trace.SpanKindProducer {
			t.Error(created.SpanKind)
		}
		for range 2 {
			work(t, w.queue, worker)
			attempt := first(t, w, "process work")
			w.tree(t)
			if len(attempt.Links) != 1 || attempt.Links[0].SpanContext.SpanID() != created.SpanContext.SpanID() ||
				attempt.SpanContext.TraceID() == created.SpanContext.TraceID() || attempt.SpanKind != trace.SpanKindConsumer {
				t.Errorf("%+v is not linked to %+v", attempt, created)
			}
			created = attempt
		}
	})
}

func TestAnAttemptIsLinkedToTheStoreOperationThatItFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		byLast := secondaryindex.Inter("byLast", w.table.Client(), func(e *employee) (string, bool) { return e.Last, e.ID != "" }, nil)
		outbox := assert.Must(eventual.NewOutbox(w.queue, "", nil))(t)
		store := assert.Must(patterns.NewStore(w.table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{byLast}, Outbox: outbox}))(t)
		worker := assert.Must(eventual.NewWorker(w.queue, &eventual.Options{Tracing: w.provider}))(t)
		eventual.HandleOutbox(worker, "", store)
		w.acct.Fault(storagetest.On("*").Nth(3).Times(storagetest.Forever).LoseRequest()) // the message is on the queue then
		_, _ = store.Insert(t.Context(), &employee{"Sales" + secret, "1" + secret, "Kwok"})
		w.acct.ClearFaults()
		written := first(t, w, "store.insert")
		w.spans.Reset()
		time.Sleep(time.Hour)
		work(t, w.queue, worker)
		attempt := first(t, w, "process work")
		if len(attempt.Links) != 1 || attempt.Links[0].SpanContext.SpanID() != written.SpanContext.SpanID() {
			t.Errorf("linked to %+v", attempt.Links)
		}
	})
}

func TestAnAttemptThatIsPostponedIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		worker := assert.Must(eventual.NewWorker(w.queue, &eventual.Options{Tracing: w.provider}))(t)
		results := []error{eventual.Snooze(time.Hour), errors.New(secret), context.DeadlineExceeded}
		eventual.Handle(worker, eventual.Raw, func(_ context.Context, job eventual.Job[string]) error { return results[job.Attempt-1] })
		for i, want := range []codes.Code{codes.Unset, codes.Error, codes.Error} {
			_ = worker.Process(t.Context(), secret, i+1)
			s := first(t, w, "process work")
			w.spans.Reset()
			kind := attributes(s.Attributes)["error.type"]
			if s.Status.Code != want || kind != []string{"", "_OTHER", "timeout"}[i] {
				t.Errorf("%v: %v %q", results[i], s.Status, kind)
			}
		}
	})
}
