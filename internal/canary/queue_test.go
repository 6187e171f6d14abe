package canary_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// payload is a message that can be impossible to write.
type payload struct {
	Text    string
	Quoting quoting
}

func outbox(e *env) *eventual.Outbox {
	o, err := eventual.NewOutbox(e.main, "")
	must(e.t, err)
	return o
}

func poisonQueue(e *env) *eventual.PoisonQueue {
	p, err := eventual.NewPoisonQueue(e.main, e.poison, nil)
	must(e.t, err)
	return p
}

var moves = []eventual.Row{
	{PartitionKey: bird, RowKey: bird, ETag: etag}, {PartitionKey: bird, RowKey: "foreign", Where: "Name eq '" + bird},
	{PartitionKey: bird, RowKey: badKey.Row}, {PartitionKey: bird, RowKey: "missing"}, {PartitionKey: bird, RowKey: "foreign-N"}, {PartitionKey: bird, RowKey: "foreign", Where: "Name eq 'x'"},
}

var queueCalls = []call{
	{"eventual.Cancel", func(*env) []any { return results(eventual.Cancel(&quotingError{bird}), eventual.Cancel(nil)) }},
	{"eventual.BlobName", func(*env) []any {
		return results(failure(eventual.BlobName(badKey)), failure(eventual.BlobName(keys.Key{Partition: repeated(900), Row: repeated(900)})))
	}},
	{"eventual.Enqueue", func(e *env) []any {
		ctx := e.t.Context()
		return results(eventual.Enqueue(ctx, e.main, "kind", payload{bird, bird}, nil), eventual.Enqueue(ctx, e.main, bird+" ", payload{}, nil),
			eventual.Enqueue(ctx, e.main, "kind", repeated(1<<16), nil), eventual.Enqueue(ctx, e.main, "kind", repeated(1<<16), &eventual.EnqueueOptions{Container: e.bin}),
			eventual.Enqueue(ctx, e.main, "kind", payload{bird, "fine"}, nil), eventual.Enqueue(ctx, e.main, "kind", payload{}, &eventual.EnqueueOptions{ID: bird + "\xff"}),
			eventual.Enqueue(ctx, e.main, "kind", any(func() {}), nil))
	}},
	{"eventual.Outbox.Sign", func(e *env) []any { return results(failure(outbox(e).Sign([][]byte{[]byte(bird)}))) }},
	{"eventual.NewOutbox", func(e *env) []any { return results(failure(eventual.NewOutbox(e.main, bird+" "))) }},
	{"eventual.Outbox.Put", func(e *env) []any {
		return results(failure(outbox(e).Put(e.t.Context(), patterns.OutboxMessage{Partition: bird, ID: bird, Row: repeated(1 << 16)}, 0)), failure(outbox(e).Put(e.t.Context(), patterns.OutboxMessage{Partition: bird, ID: "x"}, 0)))
	}},
	{"eventual.Outbox.Create", func(e *env) []any {
		return results(outbox(e).Create(e.t.Context()), new(eventual.Outbox).Create(e.t.Context()))
	}},
	{"eventual.Outbox.Delete", func(e *env) []any {
		return results(outbox(e).Delete(e.t.Context(), patterns.Receipt{ID: bird, PopReceipt: bird}))
	}},
	{"eventual.NewPoisonQueue", func(e *env) []any { return results(failure(eventual.NewPoisonQueue(e.main, e.main, nil))) }},
	{"eventual.Worker.PoisonQueue", func(e *env) []any { return results(failure(new(eventual.Worker).PoisonQueue())) }},
	{"eventual.PoisonQueue.Peek", func(e *env) []any { return results(failure(poisonQueue(e).Peek(e.t.Context(), 32))) }},
	{"eventual.PoisonQueue.Take", func(e *env) []any { return results(failures(poisonQueue(e).Take(e.t.Context()))) }},
	{"eventual.PoisonQueue.Replay", func(e *env) []any {
		_, _ = e.poison.EnqueueMessage(e.t.Context(), bird, nil)
		found := results(poisonQueue(e).Replay(e.t.Context(), &eventual.PoisonMessage{Payload: []byte(bird)}))
		for m, err := range poisonQueue(e).Take(e.t.Context()) {
			if err != nil {
				return append(found, err)
			}
			found = append(found, poisonQueue(e).Replay(e.t.Context(), m))
		}
		return found
	}},
	{"eventual.PoisonQueue.Discard", func(e *env) []any {
		_, _ = e.poison.EnqueueMessage(e.t.Context(), bird, nil)
		found := results(poisonQueue(e).Discard(e.t.Context(), &eventual.PoisonMessage{Payload: []byte(bird)}))
		for m, err := range poisonQueue(e).Take(e.t.Context()) {
			if err != nil {
				return append(found, err)
			}
			found = append(found, poisonQueue(e).Discard(e.t.Context(), m))
		}
		return found
	}},
	{"eventual.Move", func(e *env) []any {
		return each(moves, func(row eventual.Row) error {
			return eventual.Move(e.t.Context(), e.people.Client(), e.people.Client(), row)
		})
	}},
	{"eventual.MoveToBlob", func(e *env) []any {
		return each(moves, func(row eventual.Row) error { return eventual.MoveToBlob(e.t.Context(), e.people.Client(), e.bin, row) })
	}},
	{"eventual.SweepClaims", func(e *env) []any {
		report, err := eventual.SweepClaims(e.t.Context(), e.bin, nil)
		return results(report, err, failure(eventual.SweepClaims(e.t.Context(), e.bin, &eventual.SweepOptions{OlderThan: -1})))
	}},
	{"eventual.NewWorker", func(e *env) []any {
		return results(failure(eventual.NewWorker(e.main, &eventual.Options{Poison: e.main})), failure(eventual.NewWorker(nil, nil)))
	}},
	{"eventual.Worker.Create", func(e *env) []any {
		w, err := eventual.NewWorker(e.main, nil)
		must(e.t, err)
		return results(w.Create(e.t.Context()))
	}},
	{"eventual.Worker.Run", func(e *env) []any {
		var log bytes.Buffer
		var found []any
		events := make(chan eventual.Event, 1<<16)
		w, err := eventual.NewWorker(e.main, &eventual.Options{Poison: e.poison, Container: e.bin, MaxAttempts: 2,
			Backoff: func(int) time.Duration { return time.Second }, Observe: func(event eventual.Event) { events <- event },
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		must(e.t, err)
		eventual.Handle(w, "kind", func(_ context.Context, j eventual.Job[payload]) error { return &quotingError{j.Message.Text + bird} })
		eventual.HandleMove(w, "move", e.people.Client(), e.people.Client())
		eventual.HandleMoveToBlob(w, "archive", e.people.Client(), e.bin)
		eventual.HandleOutbox(w, "", e.store)
		eventual.HandleSweep(w, time.Minute, e.store, nil)
		eventual.Every(w, "task", time.Minute, func(context.Context) error { return &quotingError{bird} })
		for _, row := range moves {
			_ = eventual.Enqueue(e.t.Context(), e.main, "move", row, nil)
			_ = eventual.Enqueue(e.t.Context(), e.main, "archive", row, nil)
		}
		_ = eventual.Enqueue(e.t.Context(), e.main, "kind", payload{bird, "fine"}, nil)
		_, _ = outbox(e).Put(e.t.Context(), patterns.OutboxMessage{Partition: bird, ID: "0f"}, 0)
		ctx, cancel := context.WithTimeout(e.t.Context(), 5*time.Minute)
		defer cancel()
		found = append(found, w.Run(ctx))
		close(events)
		for event := range events {
			found = append(found, event, event.Err)
		}
		for _, line := range strings.Split(log.String(), "\n") {
			found = append(found, line)
		}
		if ms, err := poisonQueue(e).Peek(e.t.Context(), 32); err == nil {
			for _, m := range ms { // the rest of a PoisonMessage is the payload itself
				found = append(found, m.Reason)
			}
		}
		return found
	}},
	{"eventual.Worker.Process", func(e *env) []any {
		w, err := eventual.NewWorker(e.main, &eventual.Options{Poison: e.poison, Decode: func(string) (string, []byte, error) {
			return "", nil, &quotingError{bird}
		}})
		must(e.t, err)
		eventual.Handle(w, "kind", func(_ context.Context, j eventual.Job[payload]) error { return &quotingError{j.Message.Text + bird} })
		return results(w.Process(e.t.Context(), bird, 1), w.Process(e.t.Context(), bird, 7),
			w.Process(e.t.Context(), `{"azp":1,"id":"`+bird+`","kind":"kind","body":{"Text":"`+bird+`"}}`, 1),
			w.Process(e.t.Context(), `{"azp":1,"id":"`+bird+`","kind":"kind","body":"`+bird+`"}`, 1))
	}},
}
