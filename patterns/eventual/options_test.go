package eventual_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
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
	assert.WantError(t, assert.ErrorOf(eventual.NewWorker(nil, nil)), patterns.ErrNil)
	assert.Failed(t, assert.ErrorOf(eventual.NewPoisonQueue(queue, queue, nil)), "a queue is its own poison queue")
	assert.WantError(t, assert.ErrorOf(eventual.NewPoisonQueue(queue, nil, nil)), patterns.ErrNil)
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
		w := assert.Must(eventual.NewWorker(newQueueClient(t), nil))(t)
		register(w)
		assert.WantError(t, w.Run(t.Context()), eventual.ErrBadKind, name)
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
			assert.Failed(t, eventual.Enqueue(t.Context(), queue, "k", 1, o), name)
		}
		assert.WantError(t, eventual.Enqueue(t.Context(), nil, "k", 1, nil), patterns.ErrNil)
		assert.Failed(t, eventual.Enqueue(t.Context(), queue, "k", make(chan int), nil), "a channel was enqueued")
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
			assert.WantError(t, err, patterns.ErrNil, name, "worker", call)
		}
	}
	for name, p := range map[string]*eventual.PoisonQueue{"nil": nil, "zero": {}} {
		_, peek := p.Peek(ctx, 1)
		var take error
		for _, take = range p.Take(ctx) {
		}
		for call, err := range map[string]error{"Peek": peek, "Take": take, "Replay": p.Replay(ctx, nil), "Discard": p.Discard(ctx, nil)} {
			assert.WantError(t, err, patterns.ErrNil, name, "poison queue", call)
		}
	}
	queue := newQueueClient(t)
	poison := assert.Must(eventual.NewPoisonQueue(queue, storagetest.New(t).Queue("poison"), nil))(t)
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
		assert.WantError(t, err, patterns.ErrNil, call)
	}
	for name, pm := range map[string]*eventual.PoisonMessage{"zero": {}} {
		assert.WantError(t, poison.Replay(ctx, pm), eventual.ErrNotLeased, name, "message")
	}
}
