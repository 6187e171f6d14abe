package main

import (
	"context"
	"errors"
	"time"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// worker returns a worker that processes the queue: transfers, moves to the archive, and
// operations of the Store that a process did not finish before it died.
func (d *Directory) worker(observe func(eventual.Event)) (*eventual.Worker, error) {
	w, err := eventual.NewWorker(d.jobs, &eventual.Options{
		Poison: d.poison,
		// Many attempts, because a job in the poison queue may be half done. Jobs that can never
		// succeed end with eventual.Cancel.
		Tries:      50,
		Visibility: d.timeouts.visibility,
		PollMin:    d.timeouts.poll,
		PollMax:    d.timeouts.poll,
		Backoff:    d.backoff(),
		Observe:    observe,
	})
	if err != nil {
		return nil, err
	}
	eventual.HandleOutbox(w, "", d.staff)
	eventual.Handle(w, transferKind, d.transfer)
	eventual.Handle(w, archiveKind, d.archiveNow)
	// A process can die after it has reserved rows and before the queue has its message. The sweep
	// releases these rows.
	eventual.HandleSweep(w, 24*time.Hour, d.staff, nil)
	return w, nil
}

// backoff returns nil, for the default of the worker, unless a visibility timeout is set.
func (d *Directory) backoff() func(int) time.Duration {
	if d.timeouts.visibility == 0 {
		return nil
	}
	return func(int) time.Duration { return d.timeouts.visibility }
}

// Work returns after n jobs were processed. Its error contains those of poison messages.
func (d *Directory) Work(ctx context.Context, n int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan eventual.Event, 1)
	w, err := d.worker(func(e eventual.Event) {
		select {
		case ended <- e:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	running := make(chan error, 1)
	go func() { running <- w.Run(ctx) }()
	var failed error
	for n > 0 {
		select {
		case e := <-ended:
			if e.Outcome == eventual.Done {
				n--
			} else if e.Outcome == eventual.Poisoned {
				n, failed = n-1, errors.Join(failed, e.Err)
			}
		case err := <-running:
			return errors.Join(failed, err, ctx.Err())
		}
	}
	stop()
	return errors.Join(failed, <-running)
}

// Recover processes messages until the queue is empty, including invisible messages. Then it
// sweeps until no row is left that a process reserved before it died.
func (d *Directory) Recover(ctx context.Context) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	w, err := d.worker(nil)
	if err != nil {
		return err
	}
	running := make(chan error, 1)
	go func() { running <- w.Run(working) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	failed := 0
	for {
		select {
		case err := <-running:
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
		props, err := d.jobs.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		if *props.ApproximateMessagesCount > 0 {
			continue
		}
		report, err := d.staff.Sweep(ctx, nil)
		if err != nil {
			return err
		}
		if len(report.Failures) > 0 { // with short timeouts also because this process was slow
			if failed++; failed == 50 {
				return report.Failures[0].Err
			}
			continue
		}
		if report.Skipped == 0 {
			stop()
			return <-running
		}
	}
}
