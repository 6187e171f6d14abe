package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// work runs a worker until it has processed the outbox messages of all previous writes. The
// worker of a service runs all the time, and also processes other jobs.
func (a *album) work(ctx context.Context) error {
	if err := wait(ctx, grace+2*time.Second); err != nil {
		return err
	}
	waiting, err := a.jobs.GetProperties(ctx, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan eventual.Event)
	w, err := eventual.NewWorker(a.jobs, &eventual.Options{
		PollMax: time.Second,
		Observe: func(e eventual.Event) {
			select {
			case ended <- e:
			case <-ctx.Done():
			}
		},
	})
	if err != nil {
		return err
	}
	eventual.HandleOutbox(w, "", a.staff)
	running := make(chan error, 1)
	go func() { running <- w.Run(ctx) }()
	done := 0
	for done < int(*waiting.ApproximateMessagesCount) {
		select {
		case e := <-ended:
			if e.Outcome == eventual.Done {
				done++
			}
		case err := <-running:
			return errors.Join(err, ctx.Err())
		}
	}
	stop()
	err = <-running
	// The number of polls is random, and two handlers can try to delete the same photo, so
	// only successful deletes are counted.
	deleted := 0
	for _, r := range a.account.Log().Only("Blob.Delete") {
		if r.Status == http.StatusAccepted {
			deleted++
		}
	}
	fmt.Fprintf(a.out, "a worker processed %d outbox messages and deleted %d photos\n", done, deleted)
	a.account.ResetLog()
	return err
}

// lose deletes Beebe, and then clears the queue, so that the message is lost.
func (a *album) lose(ctx context.Context) error {
	if err := a.staff.Delete(ctx, ann, ""); err != nil {
		return err
	}
	if _, err := a.jobs.ClearMessages(ctx, nil); err != nil {
		return err
	}
	a.report("deleted Ann Beebe, and cleared the queue")
	return nil
}

// sweep deletes unused photos for which there is no outbox message: the first sweep marks
// them, and a sweep after the grace time deletes them. A service without an outbox relies
// on sweeps alone; a service with an outbox sweeps rarely.
func (a *album) sweep(ctx context.Context) error {
	for i := range 2 {
		if i > 0 {
			// The service returns times in whole seconds.
			if err := wait(ctx, grace+2*time.Second); err != nil {
				return err
			}
		}
		r, err := a.staff.Sweep(ctx, nil)
		if err != nil {
			return err
		}
		a.report("swept %d photos: marked %d, deleted %d", r.Blobs, r.Marked, r.Deleted)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
