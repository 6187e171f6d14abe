package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/query"
)

func byPartition(p string) query.Filter { return query.PartitionKey.Eq(p) }

func TestWrongUseIsRefusedWithItsName(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		queue := b.Queue(t)
		for want, o := range map[string]eventual.Options{
			"Poison":      {Poison: queue},
			"Parallel":    {Parallel: -1},
			"Visibility":  {Visibility: time.Millisecond},
			"MaxAttempts": {MaxAttempts: -1},
			"PollMin":     {PollMin: -1},
			"PollMax":     {PollMin: time.Hour, PollMax: time.Minute},
		} {
			if _, err := eventual.NewWorker(queue, &o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
		if _, err := eventual.NewWorker(nil, nil); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("got %v", err)
		}
		if _, err := eventual.NewPoisonQueue(queue, queue, nil); err == nil {
			t.Error("a queue is its own poison queue")
		}
		nothing := func(context.Context, eventual.Job[int]) error { return nil }
		for name, register := range map[string]func(*eventual.Worker){
			"empty":    func(w *eventual.Worker) { eventual.Handle(w, "", nothing) },
			"long":     func(w *eventual.Worker) { eventual.Handle(w, strings.Repeat("k", 129), nothing) },
			"reserved": func(w *eventual.Worker) { eventual.Handle(w, "azp.outbox", nothing) },
			"blank":    func(w *eventual.Worker) { eventual.Handle(w, "a b", nothing) },
			"taken":    func(w *eventual.Worker) { eventual.Handle(w, "k", nothing); eventual.Handle(w, "k", nothing) },
			"nil":      func(w *eventual.Worker) { eventual.Handle[int](w, "k", nil) },
		} {
			w, err := eventual.NewWorker(queue, nil)
			if err != nil {
				t.Fatal(err)
			}
			register(w)
			if err := w.Run(t.Context()); !errors.Is(err, eventual.ErrBadKind) {
				t.Errorf("%s: %v", name, err)
			}
		}
		b.ResetRequests()
		for name, o := range map[string]*eventual.EnqueueOptions{
			"ID":     {ID: strings.Repeat("x", 129)},
			"UTF-8":  {ID: "\xff"},
			"Delay":  {Delay: 8 * 24 * time.Hour},
			"before": {Delay: -1},
			"TTL":    {Delay: time.Minute, TTL: time.Minute},
			"whole":  {Delay: 1200 * time.Millisecond, TTL: 1500 * time.Millisecond},
		} {
			if err := eventual.Enqueue(t.Context(), queue, "k", 1, o); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if err := eventual.Enqueue(t.Context(), nil, "k", 1, nil); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("got %v", err)
		}
		if err := eventual.Enqueue(t.Context(), queue, "k", make(chan int), nil); err == nil {
			t.Error("a channel was put")
		}
		wantRequests(t, b, nil)
	})
}

func TestRunFailsAtOnceWhereItCannotWork(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil)
		if _, err := s.queue.Delete(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		err := s.worker.Run(t.Context())
		var e *patterns.Error
		var refused *azcore.ResponseError
		if !errors.As(err, &e) || e.Code != "QueueNotFound" || !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
		if text := err.Error(); strings.Contains(text, "http") {
			t.Errorf("the message tells too much: %s", text)
		}
		if text := fmt.Sprintf("%+v", e); !strings.Contains(text, "http") {
			t.Errorf("%%+v tells too little: %s", text)
		}
	})
}

func TestCreateMakesBothQueues(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil) // there are both already
		if err := s.worker.Create(t.Context()); err != nil {
			t.Error(err)
		}
		wantRequests(t, b, map[string]int{"Queue.CreateQueue": 2})
	})
}

func TestNoGoroutineIsLeftBehind(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Visibility = time.Second })
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if job.Message.To == "slow" {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		eventual.Every(s.worker, "chore", time.Hour, func(context.Context) error { return nil })
		for range 20 {
			s.put(t, "letter", letter{}, nil)
		}
		s.put(t, "letter", letter{To: "slow"}, nil)
		stop := s.start(t)
		s.next(t, 20)
		s.worker.Abort()
		stop()
		// Run has waited for them; what ends a goroutine after that takes a moment.
		var left string
		for range 1000 {
			if left = ours(); left == "" {
				return
			}
			runtime.Gosched()
		}
		t.Errorf("left behind:\n%s", left)
	})
}

// ours are the stacks of the goroutines that the package has started.
func ours() string {
	buf := make([]byte, 1<<20)
	var left []string
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "patterns/eventual.(") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}
