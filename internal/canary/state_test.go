package canary_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// call is a call that needs a certain state. Its results are searched.
type call struct {
	name string // package, type and method, as in "patterns.Table.Get"
	run  func(e *env) []any
}

// early are calls that need more than arguments. They are made before the calls that change the rows.
var early = []call{
	{"patterns.Decode", func(e *env) []any {
		rows := assert.Must(patterns.NewTable(e.people.Client(), &patterns.TableOptions[patterns.Row]{Keyless: true}))(e.t)
		return each(someKeys, func(k keys.Key) error {
			row, err := rows.Get(e.t.Context(), k)
			if err != nil {
				return err
			}
			return assert.ErrorOf(patterns.Decode[person](row))
		})
	}},
	{"patterns.Discriminate", func(e *env) []any {
		rows := assert.Must(patterns.NewTable[patterns.Row](e.people.Client(), nil))(e.t)
		_, unset := patterns.Discriminate(rows, patterns.Discriminator{Property: bird})
		r := assert.Must(patterns.Discriminate(rows, patterns.Discriminator{Property: bird, Type: func(_, _ []byte, _ bool) any { return new(person) }}))(e.t)
		return append(each(someKeys, func(k keys.Key) error { return assert.ErrorOf(r.Get(e.t.Context(), k)) }), unset, failures(r.Query(e.t.Context(), byName, nil)))
	}},
	{"largeentity.Table.Load", func(e *env) []any {
		return each(papers, func(k keys.Key) error {
			item, err := documents(e).GetMeta(e.t.Context(), k)
			if err != nil {
				return err
			}
			return assert.ErrorOf(documents(e).Load(e.t.Context(), item, "Text"))
		})
	}},
	{"largeentity.Table.FromRow", func(e *env) []any {
		return each([]string{"{" + bird, bird, `{"Text":{"name":"` + bird + `"}}`}, func(text string) error {
			row, err := documents(e).Table().Do(e.t.Context(), patterns.UpsertOp(somePapers()[0], patterns.Replace).With("azp_blobs", text))
			if err != nil {
				return err
			}
			return assert.ErrorOf(documents(e).FromRow(row))
		})
	}},
	{"largeentity.Stream.Open", func(e *env) []any {
		item, err := documents(e).Get(e.t.Context(), papers[1])
		found := results(err, assert.ErrorOf(largeentity.Stream{}.Open(e.t.Context())))
		body, err := item.Value.Video.Open(e.t.Context())
		if err == nil {
			_, err = io.ReadAll(body)
		}
		return append(found, err)
	}},
	{"logdata.Writer.Write", func(e *env) []any {
		w := logWriter(e)
		defer w.Close(e.t.Context())
		return each(records, func(r logdata.Record) error { return w.Write(e.t.Context(), r) })
	}},
	{"logdata.Writer.Flush", func(e *env) []any {
		w := logWriter(e)
		defer w.Close(e.t.Context())
		return results(w.Write(e.t.Context(), records[0]), w.Flush(e.t.Context()))
	}},
	{"logdata.Writer.Close", func(e *env) []any {
		w := logWriter(e)
		return results(w.Write(e.t.Context(), records[0]), w.Close(e.t.Context()), w.Close(e.t.Context()), w.Write(e.t.Context(), records[0]))
	}},
	{"logdata.Handler.Handle", func(e *env) []any {
		w := logWriter(e)
		h := assert.Must(logdata.NewHandler(w, nil))(e.t)
		first := h.Handle(e.t.Context(), slog.NewRecord(someTime, slog.LevelInfo, bird, 0))
		closed := w.Close(e.t.Context())
		return results(first, closed, h.Handle(e.t.Context(), slog.NewRecord(farTime, slog.LevelInfo, bird, 0)))
	}},
	{"logdata.Reader.Query", func(e *env) []any {
		name := "service/2031/07/08/0900/x-000000.log"
		_, _ = e.bin.NewBlockBlobClient(name).UploadBuffer(e.t.Context(), []byte(bird+" "+bird+"\n"+day+" \""+bird), nil)
		r := assert.Must(logdata.NewReader(e.bin, "service", nil))(e.t)
		return results(failures(r.Query(e.t.Context(), someTime.Add(-1e13), someTime.Add(1e13), "", nil)), failures(r.Query(e.t.Context(), someTime, farTime, "", nil)),
			failures(r.Query(e.t.Context(), someTime.Add(-1e13), someTime.Add(1e13), bird, nil)))
	}},
}

// late are calls like early that change the rows and messages of the others.
var late = []call{
	{"patterns.Table.Drop", func(e *env) []any {
		gone := assert.Must(patterns.NewTable[person](e.service.NewClient(bird), nil))(e.t)
		return results(gone.Drop(e.t.Context()))
	}},
	{"eventual.PoisonQueue.Replay", withPoisoned((*eventual.PoisonQueue).Replay)},
	{"eventual.PoisonQueue.Discard", withPoisoned((*eventual.PoisonQueue).Discard)},
	{"eventual.Worker.Create", func(e *env) []any {
		w := assert.Must(eventual.NewWorker(e.main, nil))(e.t)
		return results(w.Create(e.t.Context()))
	}},
	{"eventual.Worker.Run", func(e *env) []any {
		var log bytes.Buffer
		var found []any
		events := make(chan eventual.Event, 1<<16)
		w, err := eventual.NewWorker(e.main, &eventual.Options{Poison: e.poison, Container: e.bin, Tries: 2,
			Backoff: func(int) time.Duration { return time.Second }, Observe: func(event eventual.Event) { events <- event },
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		assert.NoError(e.t, err)
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
		assert.NoError(e.t, err)
		eventual.Handle(w, "kind", func(_ context.Context, j eventual.Job[payload]) error { return &quotingError{j.Message.Text + bird} })
		return results(w.Process(e.t.Context(), bird, 1), w.Process(e.t.Context(), bird, 7),
			w.Process(e.t.Context(), `{"azp":1,"id":"`+bird+`","kind":"kind","body":{"Text":"`+bird+`"}}`, 1),
			w.Process(e.t.Context(), `{"azp":1,"id":"`+bird+`","kind":"kind","body":"`+bird+`"}`, 1))
	}},
}

// withPoisoned calls do with a message that does not exist, and with each poison message.
func withPoisoned(do func(*eventual.PoisonQueue, context.Context, *eventual.PoisonMessage) error) func(*env) []any {
	return func(e *env) []any {
		_, _ = e.poison.EnqueueMessage(e.t.Context(), bird, nil)
		found := results(do(poisonQueue(e), e.t.Context(), &eventual.PoisonMessage{Payload: []byte(bird)}))
		for m, err := range poisonQueue(e).Take(e.t.Context()) {
			if err != nil {
				return append(found, err)
			}
			found = append(found, do(poisonQueue(e), e.t.Context(), m))
		}
		return found
	}
}

// each calls do with every value that can be refused.
func each[V any](values []V, do func(V) error) (found []any) {
	for _, v := range values {
		found = append(found, do(v))
	}
	return found
}

// results returns the arguments.
func results(v ...any) []any { return v }

// failures returns the errors of a sequence.
func failures[V any](seq iter.Seq2[V, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}
