package format_test

import (
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

var largeGroups = []group{
	{name: "large", write: writeLarge, read: readLarge},
	{name: "large-address", write: writeAddress, read: readAddress},
	{name: "large-unfinished", write: writeUnfinished, read: readUnfinished},
}

type candidate struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	CV         string `table:",blob"`
	Photo      []byte `table:",blob"`
}

func newCandidate(id string) *candidate {
	return &candidate{"Sales", id, "Ken", strings.Repeat("worked ", 100), []byte{0, 1, 2, 255}}
}

func (w *world) candidates(opts largeentity.Options[candidate]) *largeentity.Table[candidate] {
	w.Helper()
	opts.Threshold = largeentity.Always
	table, err := largeentity.New(w.table("candidates"), w.container("files"), &opts)
	w.must(err)
	return table
}

func (w *world) candidatesWithOutbox() *largeentity.Table[candidate] {
	w.Helper()
	outbox, err := eventual.NewOutbox(w.queue("outbox"), "", nil)
	w.must(err)
	return w.candidates(largeentity.Options[candidate]{Outbox: outbox})
}

func writeLarge(w *world) {
	_, err := w.candidates(largeentity.Options[candidate]{Gzip: true}).Insert(w.Context(), newCandidate("1"))
	w.must(err)
}

func readLarge(w *world) {
	table := w.candidates(largeentity.Options[candidate]{})
	item, err := table.Get(w.Context(), employeeKey("1"))
	w.must(err)
	w.equal(item.Value, *newCandidate("1"))
	item.Value.Name, item.Value.Photo = "Jun", []byte{7}
	_, err = table.Replace(w.Context(), item)
	w.must(err)
	item, err = table.Get(w.Context(), employeeKey("1"))
	w.must(err)
	w.equal(item.Value.CV, newCandidate("1").CV)
	w.equal(item.Value.Photo, []byte{7})
	w.sweep(table)
	w.equal(len(w.record().Blobs["files"]), 2)
}

// sweep deletes the blobs to which no row refers.
func (w *world) sweep(table *largeentity.Table[candidate]) {
	w.Helper()
	for range 3 {
		time.Sleep(48 * time.Hour)
		_, err := table.Sweep(w.Context(), nil)
		w.must(err)
	}
}

var addresses = map[string]string{"Photo": "PhotoURL"}

func writeAddress(w *world) {
	_, err := w.candidates(largeentity.Options[candidate]{Addresses: addresses}).Insert(w.Context(), newCandidate("1"))
	w.must(err)
}

func readAddress(w *world) {
	item, err := w.candidates(largeentity.Options[candidate]{Addresses: addresses}).Get(w.Context(), employeeKey("1"))
	w.must(err)
	w.equal(item.Value, *newCandidate("1"))
}

// A writer that died between its blobs and its row, one that died behind the row, before the blobs that it has
// replaced were deleted, and a blob that a sweep has marked.
func writeUnfinished(w *world) {
	table := w.candidatesWithOutbox()
	item, err := table.Insert(w.Context(), newCandidate("1"))
	w.must(err)
	before("Table.Insert")(w)
	_, _ = table.Insert(w.Context(), newCandidate("2"))
	w.ClearFaults()
	time.Sleep(48 * time.Hour)
	_, err = table.Sweep(w.Context(), nil)
	w.must(err)
	item.Value.CV, item.Value.Photo = "short", []byte{9}
	_, err = table.Replace(w.Context(), item)
	w.must(err)
}

// The messages alone lead to what is left, without a sweep.
func readUnfinished(w *world) {
	table := w.candidatesWithOutbox()
	for range 120 {
		w.run("outbox", nil, func(worker *eventual.Worker) { eventual.HandleOutbox(worker, "", table) })
	}
	item, err := table.Get(w.Context(), employeeKey("1"))
	w.must(err)
	w.equal(item.Value.CV, "short")
	r := w.record()
	w.equal(len(r.Queues["outbox"]), 0)
	w.equal(len(r.Blobs["files"]), 2)
}
