package format_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Operations that a process has left at each of their steps.
var operationGroups = []group{
	operation("reserved", before("Table.Batch"), nil, insertOne, "1 2"),
	operation("committed", after("Table.Batch"), nil, insertOne, "1 2 3"),
	operation("acquired", after("Table.Batch"), after("Table.Replace"), insertOne, "1 2 3"),
	operation("done", after("Table.Batch"), after("Queue.Update"), insertOne, "1 2 3"),
	operation("fenced", before("Table.Batch"), after("Queue.Update"), insertOne, "1 2"),
	operation("marked", after("Table.Batch"), nil, takeBack, "1 2"),
	operation("updated", after("Table.Batch"), nil, updateOne, "1 2"),
	operation("deleted", after("Table.Batch"), nil, deleteOne, "1"),
	operation("later", before("Table.Batch"), nil, insertLater, "1 2"),
	operation("batch", after("Table.Batch"), nil, insertTwo, "1 2 3 4"),
}

// operation is a group in which a writer is killed, and then the worker that receives its message. In the end the entities
// with these ids exist.
func operation(name string, writer, worker func(*world), change func(*world, *people), ids string) group {
	return group{name: "operation-" + name, write: func(w *world) {
		store := newPeople(w)
		for _, e := range []*employee{newEmployee("1", "jones", "Oslo"), newEmployee("2", "cao", "Oslo")} {
			_, err := store.Insert(w.Context(), e)
			w.must(err)
		}
		writer(w)
		change(w, store)
		w.ClearFaults()
		if worker != nil {
			time.Sleep(10 * time.Minute)
			worker(w)
			w.work(store, 10*time.Minute)
			w.ClearFaults()
		}
	}, read: func(w *world) { finishOperation(w, ids) }}
}

func insertOne(w *world, store *people) {
	_, _ = store.Insert(w.Context(), newEmployee("3", "beebe", "Rome"))
}

func insertTwo(w *world, store *people) {
	_, _ = store.Batch().Insert(newEmployee("3", "beebe", "Rome")).Insert(newEmployee("4", "ito", "Oslo")).Commit(w.Context())
}

func updateOne(w *world, store *people) {
	_, _ = store.Update(w.Context(), employeeKey("2"), func(e *employee) error { e.Badge, e.City = 8, "Rome"; return nil })
}

// takeBack changes a unique value and back, and dies twice.
func takeBack(w *world, store *people) {
	_, _ = store.Update(w.Context(), employeeKey("2"), func(e *employee) error { e.Email = "cao@example.com"; return nil })
	w.ClearFaults()
	before("Table.Batch")(w)
	_, _ = store.Update(w.Context(), employeeKey("2"), func(e *employee) error { e.Email = "cao@contoso.com"; return nil })
}

func insertLater(w *world, _ *people) {
	_, _ = newPeopleThat(w, patterns.Later).Insert(w.Context(), newEmployee("3", "beebe", "Rome"))
}

func deleteOne(w *world, store *people) { _ = store.Delete(w.Context(), employeeKey("2")) }

// before lets a process die before its first request of this kind, after lets it die behind it.
func before(op string) func(*world) { return kill(op, true) }

func after(op string) func(*world) { return kill(op, false) }

func kill(op string, before bool) func(*world) {
	return func(w *world) {
		dead := false
		w.must(w.Fault(storagetest.On("*").Where(func(q storagetest.Request) bool {
			was := dead
			dead = dead || q.Op == op
			return was || dead && before
		}).LoseRequest().Times(storagetest.Forever)))
	}
}

// work runs a worker for some time.
func (w *world) work(store *people, d time.Duration) {
	w.Helper()
	worker, err := eventual.NewWorker(w.queue("outbox"), &eventual.Options{PollMax: 5 * time.Minute})
	w.must(err)
	eventual.HandleOutbox(worker, "people", store)
	ctx, cancel := context.WithTimeout(w.Context(), d)
	defer cancel()
	if err := worker.Run(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		w.Error(err)
	}
}

// Whatever step an old version has left, a worker of this version finishes it, or releases what it has reserved.
func finishOperation(w *world, ids string) {
	store := newPeople(w)
	w.work(store, 24*time.Hour)
	var found []string
	for item, err := range store.Query(w.Context(), partition("Sales"), nil) {
		w.must(err)
		found = append(found, item.Value.ID)
	}
	w.equal(strings.Join(found, " "), ids)
	w.verify(store.Store)
	for table, rows := range w.record().Tables {
		for _, row := range rows {
			text, err := json.Marshal(row)
			w.must(err)
			if strings.Contains(string(text), "~azp_outbox") || strings.Contains(string(text), "azp_op") || strings.Contains(string(text), "reserved") {
				w.Errorf("in %s an operation has left %s", table, text)
			}
		}
	}
	w.equal(len(w.messages("outbox")), 0)

	// What was reserved is free, and what was stored can be changed.
	_, err := store.Put(w.Context(), newEmployee("3", "beebe", "Oslo"))
	w.must(err)
	w.must(store.Delete(w.Context(), employeeKey("1")))
	w.verify(store.Store)
}
