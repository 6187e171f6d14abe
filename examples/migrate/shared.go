package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// share verifies the tables once more, by two workers. They could be on any machines.
func (m *migration) share(ctx context.Context) (string, error) {
	const id = "first"
	runs, err := reindex.NewRuns(m.second.Store, m.state, &reindex.RunsOptions{Enqueue: func(ctx context.Context, job reindex.Job) error {
		return eventual.Enqueue(ctx, m.jobs, "products.reindex", job, nil)
	}})
	if err != nil {
		return "", err
	}
	if _, err := m.jobs.Create(ctx, nil); err != nil {
		return "", err
	}
	m.created = append(m.created, dropQueue(m.jobs))
	if err := runs.Create(ctx); err != nil {
		return "", err
	}
	m.created = append(m.created, dropTable(m.state))
	if err := runs.Verify(ctx, id, &reindex.Options{Segments: 4}); err != nil {
		return "", err
	}
	workers := make(chan error, 2)
	working, stop := context.WithCancel(ctx)
	defer stop()
	for range cap(workers) {
		go func() { workers <- work(working, m.jobs, runs, id, stop) }()
	}
	err = errors.Join(<-workers, <-workers)
	if err != nil {
		return "", err
	}
	return "two workers verified both tables", showRun(ctx, m.out, runs, id)
}

// work does jobs of runs until the named run is complete, and then calls stop.
func work(ctx context.Context, jobs *azqueue.QueueClient, runs *reindex.Runs, id string, stop func()) error {
	w, err := eventual.NewWorker(jobs, nil)
	if err != nil {
		return err
	}
	eventual.Handle(w, "products.reindex", func(ctx context.Context, job eventual.Job[reindex.Job]) error {
		if err := runs.Do(ctx, job.Message); err != nil {
			return err
		}
		status, err := runs.Status(ctx, id)
		if err == nil && status.Stage == "complete" {
			stop()
		}
		return err
	})
	return w.Run(ctx)
}

// status shows the run of the given ID, whose state is in the named table.
func status(ctx context.Context, out io.Writer, where account.Flags, table, id string) error {
	a, err := account.Open(ctx, where)
	if err != nil {
		return err
	}
	defer a.Close()
	m, err := newMigration(a.Tables, a.Queue, "", out)
	if err != nil {
		return err
	}
	runs, err := reindex.NewRuns(m.second.Store, a.Tables.NewClient(table), nil)
	if err != nil {
		return err
	}
	return showRun(ctx, out, runs, id)
}

// showRun prints the progress and the findings of a run.
func showRun(ctx context.Context, out io.Writer, runs *reindex.Runs, id string) error {
	s, err := runs.Status(ctx, id)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, s)
	for f, err := range runs.Findings(ctx, id) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%v: row %v of view %s, primary %v\n", f.Kind, f.Row, f.View, f.Primary)
	}
	return nil
}
