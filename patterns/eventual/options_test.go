package eventual_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestInvalidOptionsAreRefusedByName(t *testing.T) {
	queue := newQueueClient(t)
	for want, o := range map[string]eventual.Options{
		"Poison":     {Poison: queue},
		"Parallel":   {Parallel: -1},
		"Visibility": {Visibility: time.Millisecond},
		"Tries":      {Tries: -1},
		"PollMin":    {PollMin: -1},
		"PollMax":    {PollMin: time.Hour, PollMax: time.Minute},
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
	if _, err := eventual.NewPoisonQueue(queue, nil, nil); !errors.Is(err, patterns.ErrNil) {
		t.Errorf("got %v", err)
	}
}

func TestInvalidHandlersAreRefusedByRun(t *testing.T) {
	nothing := func(context.Context, eventual.Job[int]) error { return nil }
	for name, register := range map[string]func(*eventual.Worker){
		"empty":     func(w *eventual.Worker) { eventual.Handle(w, "", nothing) },
		"long":      func(w *eventual.Worker) { eventual.Handle(w, strings.Repeat("k", 129), nothing) },
		"reserved":  func(w *eventual.Worker) { eventual.Handle(w, "azp.outbox", nothing) },
		"space":     func(w *eventual.Worker) { eventual.Handle(w, "a b", nothing) },
		"duplicate": func(w *eventual.Worker) { eventual.Handle(w, "k", nothing); eventual.Handle(w, "k", nothing) },
		"nil":       func(w *eventual.Worker) { eventual.Handle[int](w, "k", nil) },
		"nil store": func(w *eventual.Worker) { eventual.HandleOutbox(w, "", nil) },
		"move":      func(w *eventual.Worker) { eventual.HandleMove(w, "a b", nil, nil) },
	} {
		w, err := eventual.NewWorker(newQueueClient(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		register(w)
		if err := w.Run(t.Context()); !errors.Is(err, eventual.ErrBadKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidEnqueueIsRefusedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		queue := b.Queue(t)
		b.ResetRequests()
		for name, o := range map[string]*eventual.EnqueueOptions{
			"ID too long":            {ID: strings.Repeat("x", 129)},
			"ID not UTF-8":           {ID: "\xff"},
			"Delay too long":         {Delay: 8 * 24 * time.Hour},
			"negative Delay":         {Delay: -1},
			"TTL not after Delay":    {Delay: time.Minute, TTL: time.Minute},
			"TTL in the same second": {Delay: 1200 * time.Millisecond, TTL: 1500 * time.Millisecond},
		} {
			if err := eventual.Enqueue(t.Context(), queue, "k", 1, o); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if err := eventual.Enqueue(t.Context(), nil, "k", 1, nil); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("got %v", err)
		}
		if err := eventual.Enqueue(t.Context(), queue, "k", make(chan int), nil); err == nil {
			t.Error("a channel was enqueued")
		}
		b.WantRequests(t, nil)
	})
}

func TestZeroAndNilValuesReturnErrors(t *testing.T) {
	ctx := t.Context()
	nothing := func(context.Context) error { return nil }
	for name, w := range map[string]*eventual.Worker{"nil": nil, "zero": {}} {
		eventual.Handle(w, "k", func(context.Context, eventual.Job[int]) error { return nil })
		eventual.HandleMove(w, "move", nil, nil)
		eventual.HandleOutbox(w, "", nil)
		eventual.HandleSweep(w, time.Hour, nil, nil)
		eventual.Every(w, "task", time.Hour, nothing)
		w.Abort()
		if w.Queue() != nil {
			t.Errorf("%s worker: it has a queue", name)
		}
		_, poison := w.PoisonQueue()
		for call, err := range map[string]error{"Run": w.Run(ctx), "Create": w.Create(ctx), "PoisonQueue": poison} {
			if !errors.Is(err, patterns.ErrNil) {
				t.Errorf("%s worker: %s: %v", name, call, err)
			}
		}
	}
	for name, p := range map[string]*eventual.PoisonQueue{"nil": nil, "zero": {}} {
		_, peek := p.Peek(ctx, 1)
		var take error
		for _, take = range p.Take(ctx) {
		}
		for call, err := range map[string]error{"Peek": peek, "Take": take, "Replay": p.Replay(ctx, nil), "Discard": p.Discard(ctx, nil)} {
			if !errors.Is(err, patterns.ErrNil) {
				t.Errorf("%s poison queue: %s: %v", name, call, err)
			}
		}
	}
	queue := newQueueClient(t)
	poison, err := eventual.NewPoisonQueue(queue, storagetest.New(t).Queue("poison"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, claims := eventual.NewClaims(nil, nil)
	_, sweep := new(eventual.Claims).Sweep(ctx, nil)
	for call, err := range map[string]error{
		"Replay":     poison.Replay(ctx, nil),
		"Discard":    poison.Discard(ctx, nil),
		"Move":       eventual.Move(ctx, nil, nil, eventual.Row{}),
		"MoveToBlob": eventual.MoveToBlob(ctx, nil, nil, eventual.Row{}),
		"NewClaims":  claims,
		"Sweep":      sweep,
	} {
		if !errors.Is(err, patterns.ErrNil) {
			t.Errorf("%s: %v", call, err)
		}
	}
	for name, pm := range map[string]*eventual.PoisonMessage{"zero": {}} {
		if err := poison.Replay(ctx, pm); !errors.Is(err, eventual.ErrNotLeased) {
			t.Errorf("%s message: %v", name, err)
		}
	}
}
