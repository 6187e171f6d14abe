package format_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

var runGroups = []group{
	{name: "shards", write: writeShards, read: readShards},
	movingGroup(1), movingGroup(2), movingGroup(3), movingGroup(4),
	{name: "shards-copying", write: writeCopying, read: readCopying},
	{name: "run-verify", write: writeVerifyRun, read: readVerifyRun},
	{name: "run-backfill", write: writeBackfillRun, read: readBackfillRun},
	{name: "checkpoint", write: writeCheckpoint, read: readCheckpoint},
}

type document struct {
	PartitionKey, RowKey string
	N                    int
}

func (w *world) shards(n int) (*shards.Shards, []shards.Account) {
	w.Helper()
	var accounts []shards.Account
	for i := range n {
		name := fmt.Sprint("docs", i)
		w.table(name)
		accounts = append(accounts, shards.Account{Name: fmt.Sprint("account", i), Tables: w.Tables(), Table: name})
	}
	w.table("directory")
	s, err := shards.New(accounts, "docs", &shards.Options{Directory: "directory"})
	w.must(err)
	return s, accounts
}

func writeShards(w *world) {
	s, _ := w.shards(2)
	w.must(s.Create(w.Context()))
	table, err := shards.NewTable[document](s, nil)
	w.must(err)
	for i := range 12 {
		_, err := table.Insert(w.Context(), &document{fmt.Sprint("p", i), "r", i})
		w.must(err)
	}
	w.must(s.Pin(w.Context(), "p1", "account0", nil))
}

func readShards(w *world) {
	s, _ := w.shards(3)
	w.documents(s)
	readMoving(w)
}

// readMoving finishes what was interrupted, or adds the account.
func readMoving(w *world) {
	s, accounts := w.shards(3)
	w.must(s.Add(w.Context(), accounts[2], nil))
	w.pinned(s, "account0")
}

// pinned fails unless all documents are in one account each, and those of partition p1 in the named one.
func (w *world) pinned(s *shards.Shards, account string) {
	w.Helper()
	w.documents(s)
	a, err := s.Account(w.Context(), "p1")
	w.must(err)
	w.equal(a.Name, account)
	rows := 0
	for name, all := range w.record().Tables {
		if strings.HasPrefix(name, "docs") {
			rows += len(all)
		}
	}
	w.equal(rows, 12) // no copy, and no marker
}

// documents fails unless each row is found once and can be changed.
func (w *world) documents(s *shards.Shards) {
	w.Helper()
	table, err := shards.NewTable[document](s, nil)
	w.must(err)
	var found []int
	for item, err := range table.Query(w.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
		w.must(err)
		found = append(found, item.Value.N)
	}
	slices.Sort(found)
	w.equal(found, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	for i := range 12 {
		_, err := table.Update(w.Context(), keys.Key{Partition: fmt.Sprint("p", i), Row: "r"}, func(*document) error { return nil })
		w.must(err)
	}
}

// movingGroup is an account that is added by a run that dies behind its n-th change of the directory.
func movingGroup(n int) group {
	return group{name: fmt.Sprint("shards-moving", n), write: func(w *world) {
		writeShards(w)
		s, accounts := w.shards(3)
		changes := 0
		w.must(w.Fault(storagetest.On("Table.*").Where(func(q storagetest.Request) bool {
			dead := changes >= n
			if q.Resource == "directory" && q.Op == "Table.Replace" { // not of a copy
				changes++
			}
			return dead
		}).LoseRequest().Times(storagetest.Forever)))
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Minute)
		defer cancel()
		_ = s.Add(ctx, accounts[2], nil)
		w.ClearFaults()
	}, read: readMoving}
}

// A run that dies while it copies a partition.
func writeCopying(w *world) {
	writeShards(w)
	s, _ := w.shards(2)
	before("Table.Batch")(w)
	ctx, cancel := context.WithTimeout(w.Context(), 10*time.Minute)
	defer cancel()
	_ = s.Pin(ctx, "p1", "account1", nil)
	w.ClearFaults()
}

func readCopying(w *world) {
	s, _ := w.shards(2)
	w.must(s.Pin(w.Context(), "p1", "account1", nil))
	w.pinned(s, "account1")
}

// damage deletes a row of a view, changes one, and adds one that no entity implies.
func (w *world) damage() {
	w.Helper()
	table, err := patterns.NewTable[patterns.Row](w.table("people"), nil)
	w.must(err)
	row := keys.Key{Partition: "email_Sales", Row: "jones@contoso.com"}
	w.must(table.Delete(w.Context(), row, ""))
	_, err = w.table("people").AddEntity(w.Context(), []byte(`{"PartitionKey":"email_Sales","RowKey":"none@contoso.com","azp_pk":"Sales","azp_rk":"none","azp_view":"email"}`), nil)
	w.must(err)
}

func (w *world) runs(store *people) *reindex.Runs {
	w.Helper()
	runs, err := reindex.NewRuns(store.Store, w.table("runs"), &reindex.RunsOptions{Enqueue: func(ctx context.Context, job reindex.Job) error {
		return eventual.Enqueue(ctx, w.queue("jobs"), "reindex", job, nil)
	}})
	w.must(err)
	return runs
}

// doJobs handles jobs, at most n.
func (w *world) doJobs(runs *reindex.Runs, n int) {
	w.Helper()
	var left atomic.Int32
	left.Store(int32(n))
	w.run("jobs", nil, func(worker *eventual.Worker) {
		eventual.Handle(worker, "reindex", func(ctx context.Context, job eventual.Job[reindex.Job]) error {
			if left.Add(-1) < 0 {
				return eventual.Snooze(24 * time.Hour)
			}
			return runs.Do(ctx, job.Message)
		})
	})
}

var runOptions = &reindex.Options{Segments: 2, Differences: 100}

// A run whose first jobs are done.
func writeVerifyRun(w *world) {
	writeStore(w)
	w.damage()
	store := newPeople(w)
	time.Sleep(24 * time.Hour)
	runs := w.runs(store)
	w.must(runs.Create(w.Context()))
	w.must(runs.Verify(w.Context(), "all", runOptions))
	w.doJobs(runs, 6)
}

func readVerifyRun(w *world) {
	time.Sleep(24 * time.Hour)
	store := newPeople(w)
	runs := w.runs(store)
	for range 30 {
		w.doJobs(runs, 100)
	}
	status, err := runs.Status(w.Context(), "all")
	w.must(err)
	w.equal(status.Stage, "complete")
	var found []string
	for f, err := range runs.Findings(w.Context(), "all") {
		w.must(err)
		found = append(found, fmt.Sprint(f.Kind, " ", f.Row.Row))
	}
	slices.Sort(found)
	w.equal(found, []string{"missing jones@contoso.com", "orphan none@contoso.com"})
}

// A view that is added to the entities of another program, by a run that has just begun.
func writeBackfillRun(w *world) {
	for _, id := range []string{"1", "2"} {
		table, err := patterns.NewTable[employee](w.table("people"), nil)
		w.must(err)
		_, err = table.Insert(w.Context(), newEmployee(id, "name"+id, "Oslo"))
		w.must(err)
	}
	runs := w.runs(newPeople(w))
	w.must(runs.Create(w.Context()))
	w.must(runs.Backfill(w.Context(), "fill", "email", runOptions))
	w.doJobs(runs, 1)
}

func readBackfillRun(w *world) {
	time.Sleep(24 * time.Hour)
	store := newPeople(w)
	runs := w.runs(store)
	for range 30 {
		w.doJobs(runs, 100)
	}
	status, err := runs.Status(w.Context(), "fill")
	w.must(err)
	w.equal(status.Stage, "complete")
	e, err := store.email.Get(w.Context(), "Sales", "name2@contoso.com")
	w.must(err)
	w.equal(e.Primary, employeeKey("2"))
	states, err := store.ViewStates(w.Context())
	w.must(err)
	for _, s := range states {
		if s.View == "email" {
			w.equal(s.State, patterns.ViewReady)
		}
	}
}

// A run in one process that was interrupted behind its first page.
func writeCheckpoint(w *world) {
	writeStore(w)
	w.damage()
	store := newPeople(w)
	time.Sleep(24 * time.Hour)
	opts := *runOptions
	n := 0
	opts.Checkpoint = func(save func() (string, error)) error {
		if n++; n > 2 {
			return context.Canceled
		}
		text, err := save()
		w.texts["checkpoint"] = text
		return err
	}
	for range reindex.Verify(w.Context(), store.Store, "", &opts) {
	}
}

func readCheckpoint(w *world) {
	time.Sleep(24 * time.Hour)
	n := 0
	for f, err := range reindex.Verify(w.Context(), newPeople(w).Store, w.texts["checkpoint"], runOptions) {
		w.must(err)
		n++
		w.equal(f.View, "email")
	}
	w.equal(n, 2)
}
