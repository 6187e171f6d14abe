package format_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

var messageGroups = []group{
	{name: "message", write: writeMessages, read: readMessages, large: true},
	{name: "signature", write: writeSignature, read: readSignature},
	{name: "poison", write: writePoison, read: readPoison, large: true},
	{name: "move", write: writeMove, read: readMove},
	{name: "late-check", write: writeLateCheck, read: readLateCheck},
}

type letter struct{ To, Text string }

func longLetter() letter { return letter{"Ann", strings.Repeat("long ", 20_000)} }

func (w *world) enqueue(queue, kind string, message any, opts *eventual.EnqueueOptions) {
	w.Helper()
	w.must(eventual.Enqueue(w.Context(), w.queue(queue), kind, message, opts))
}

func writeMessages(w *world) {
	w.enqueue("jobs", "letter.send", letter{"Ann", "short"}, nil)
	w.enqueue("jobs", "letter.send", letter{"Ken", "<named> & sent"}, &eventual.EnqueueOptions{ID: "letter 2"})
	w.enqueue("jobs", "letter.send", longLetter(), &eventual.EnqueueOptions{Container: w.container("payloads")})
	w.enqueue("jobs", "letter.later", letter{"Jun", "later"}, nil)
	w.run("jobs", nil, func(worker *eventual.Worker) {
		eventual.Handle(worker, "letter.send", func(context.Context, eventual.Job[letter]) error { return eventual.Snooze(24 * time.Hour) })
		eventual.Handle(worker, "letter.later", func(context.Context, eventual.Job[letter]) error { return eventual.Snooze(24 * time.Hour) })
	})
	ctx := calls.WithTrace(w.Context(), func(context.Context) string { return "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" })
	w.must(eventual.Enqueue(ctx, w.queue("jobs"), "letter.send", letter{"Cao", "new"}, nil))
}

// run runs a worker for an hour.
func (w *world) run(queue string, opts *eventual.Options, handle func(*eventual.Worker)) {
	w.Helper()
	if opts == nil {
		opts = &eventual.Options{}
	}
	opts.PollMax, opts.Container = 5*time.Minute, w.container("payloads")
	worker, err := eventual.NewWorker(w.queue(queue), opts)
	w.must(err)
	handle(worker)
	ctx, cancel := context.WithTimeout(w.Context(), time.Hour)
	defer cancel()
	if err := worker.Run(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		w.Error(err)
	}
}

func readMessages(w *world) {
	got := map[string]string{}
	w.run("jobs", nil, func(worker *eventual.Worker) {
		handler := func(_ context.Context, job eventual.Job[letter]) error {
			got[job.Message.To+" "+job.Kind] += job.Message.Text
			if job.Message.To == "Ken" {
				w.equal(job.ID, "letter 2")
			}
			w.equal(job.Attempt, 1)
			w.equal(job.Enqueued.Year(), 2000)
			return nil
		}
		eventual.Handle(worker, "letter.send", handler)
		eventual.Handle(worker, "letter.later", handler)
	})
	w.equal(got["Ann letter.send"] == "short"+longLetter().Text || got["Ann letter.send"] == longLetter().Text+"short", true)
	delete(got, "Ann letter.send")
	w.equal(got, map[string]string{"Ken letter.send": "<named> & sent", "Jun letter.later": "later", "Cao letter.send": "new"})
	r := w.record()
	w.equal(len(r.Queues["jobs"]), 0)
	w.equal(len(r.Blobs["payloads"]), 0)
}

var signingKeys = [][]byte{[]byte("0123456789abcdef0123456789abcdef")}

func writeSignature(w *world) {
	w.enqueue("jobs", "letter.send", letter{"Ann", "signed"}, &eventual.EnqueueOptions{ID: "1", SigningKeys: signingKeys})
}

// A worker with the key accepts the message, one without keys ignores the signature, and one with another key refuses it.
func readSignature(w *world) {
	r := w.record()
	for _, keys := range [][][]byte{signingKeys, nil, {[]byte(strings.Repeat("x", 32))}} {
		w.load(&record{Queues: r.Queues})
		handled := false
		w.run("jobs", &eventual.Options{SigningKeys: keys, Poison: w.queue("jobs-poison"), Tries: 1}, func(worker *eventual.Worker) {
			eventual.Handle(worker, "letter.send", func(_ context.Context, job eventual.Job[letter]) error {
				handled = job.Message.Text == "signed"
				return nil
			})
		})
		w.equal(handled, keys == nil || string(keys[0]) == string(signingKeys[0]))
	}
}

func writePoison(w *world) {
	w.enqueue("jobs", "letter.send", letter{"Ann", "short"}, &eventual.EnqueueOptions{ID: "short"})
	w.enqueue("jobs", "letter.send", longLetter(), &eventual.EnqueueOptions{ID: "long", Container: w.container("payloads")})
	for _, text := range []string{`{"to":"Ann"}`, "bGV0dGVy"} {
		_, err := w.queue("jobs").EnqueueMessage(w.Context(), text, nil)
		w.must(err)
	}
	w.run("jobs", &eventual.Options{Poison: w.queue("jobs-poison")}, func(worker *eventual.Worker) {
		eventual.Handle(worker, "letter.send", func(context.Context, eventual.Job[letter]) error {
			return eventual.Cancel("", errors.New("no such address"))
		})
	})
}

// Each poison message states why it is one, and goes back to the queue, where it is handled.
func readPoison(w *world) {
	poison, err := eventual.NewPoisonQueue(w.queue("jobs"), w.queue("jobs-poison"), &eventual.PoisonQueueOptions{Container: w.container("payloads")})
	w.must(err)
	found := map[string]string{}
	for m, err := range poison.Take(w.Context()) {
		w.must(err)
		found[m.ID] = m.Reason
		if m.Kind == "letter.send" {
			w.equal(m.Attempts, 1)
			w.must(poison.Replay(w.Context(), m))
		} else {
			w.must(poison.Discard(w.Context(), m))
		}
	}
	w.equal(len(found) >= 3, true)
	w.equal(found["short"] != "" && found["long"] != "", true)
	texts := map[string]bool{}
	w.run("jobs", nil, func(worker *eventual.Worker) {
		eventual.Handle(worker, "letter.send", func(_ context.Context, job eventual.Job[letter]) error {
			texts[fmt.Sprint(len(job.Message.Text))] = true
			return nil
		})
	})
	w.equal(texts, map[string]bool{"5": true, "100000": true})
	w.equal(len(w.messages("jobs-poison")), 0)
}

// A row that is stored in the archive, and still in its table, and one that was moved to a blob.
func writeMove(w *world) {
	writeRow(w)
	after("Table.Insert")(w)
	_ = eventual.Move(w.Context(), w.table("people"), w.table("archive"), eventual.Row{PartitionKey: "Sales", RowKey: "1"})
	w.ClearFaults()
	w.must(eventual.MoveToBlob(w.Context(), w.table("people"), w.container("archive"), eventual.Row{PartitionKey: "Sales", RowKey: "2"}))
	w.enqueue("jobs", "archive", eventual.Row{PartitionKey: "Sales", RowKey: "1", Where: "Badge eq 7"}, &eventual.EnqueueOptions{ID: "move 1"})
	w.enqueue("jobs", "blob", eventual.Row{PartitionKey: "Sales", RowKey: "2", ETag: azcore.ETag(`W/"datetime'2000-01-01T00%3A00%3A00Z'"`)}, &eventual.EnqueueOptions{ID: "move 2"})
}

func readMove(w *world) {
	var failed []string
	w.run("jobs", &eventual.Options{Poison: w.queue("jobs-poison"), Observe: func(e eventual.Event) {
		if e.Outcome != eventual.Done {
			failed = append(failed, e.ID)
		}
	}}, func(worker *eventual.Worker) {
		eventual.HandleMove(worker, "archive", w.table("people"), w.table("archive"))
		eventual.HandleMoveToBlob(worker, "blob", w.table("people"), w.container("archive"))
	})
	w.equal(len(failed), 0)
	r := w.record()
	w.equal(len(r.Tables["people"]), 0)
	w.equal(len(r.Tables["archive"]), 1)
	w.equal(r.Tables["archive"][0]["City"], any("Bergen"))
	w.equal(len(r.Blobs["archive"]), 1)
}

// An operation that is finished, whose message waits on the queue of late checks.
func writeLateCheck(w *world) {
	store := newPeople(w)
	after("Table.Batch")(w)
	insertOne(w, store)
	w.ClearFaults()
	time.Sleep(10 * time.Minute)
	after("Queue.Delete")(w)
	w.run("outbox", &eventual.Options{LateChecks: w.queue("late")}, outboxOf(store))
	w.ClearFaults()
}

func outboxOf(store *people) func(*eventual.Worker) {
	return func(worker *eventual.Worker) { eventual.HandleOutbox(worker, "people", store) }
}

func readLateCheck(w *world) {
	store := newPeople(w)
	for range 24 {
		w.run("late", nil, outboxOf(store))
	}
	r := w.record()
	w.equal(len(r.Queues["late"]), 0)
	for _, row := range r.Tables["people"] {
		w.equal(row["azp_outbox"], any(nil))
	}
	w.verify(store.Store)
}
