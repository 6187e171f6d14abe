package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// work lets a worker handle the wake-ups of all writes so far. That of a service runs
// all the time, for this and for whatever other jobs there are.
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
	// How often it polled, and whether two of its handlers met at one photo, is chance.
	deleted := 0
	for _, r := range a.account.Log().Only("Blob.Delete") {
		if r.Status == http.StatusAccepted {
			deleted++
		}
	}
	fmt.Fprintf(a.out, "a worker handled %d wake-ups and deleted %d photos\n", done, deleted)
	a.account.ResetLog()
	return err
}

// lose dismisses Beebe, and then somebody empties the queue.
func (a *album) lose(ctx context.Context) error {
	if err := a.staff.Delete(ctx, ann, ""); err != nil {
		return err
	}
	if _, err := a.jobs.ClearMessages(ctx, nil); err != nil {
		return err
	}
	a.tell("dismissed Ann Beebe, and the queue was emptied")
	return nil
}

// sweep looks for photos that nobody has and no wake-up tells of: once to mark them, and
// a grace time later to delete them. A service without an outbox needs nothing else, and
// one with it sweeps once in a while.
func (a *album) sweep(ctx context.Context) error {
	for i := range 2 {
		if i > 0 {
			// The service's times are of whole seconds.
			if err := wait(ctx, grace+2*time.Second); err != nil {
				return err
			}
		}
		r, err := a.staff.Sweep(ctx, nil)
		if err != nil {
			return err
		}
		a.tell("swept: of %d photos %d marked, %d deleted", r.Blobs, r.Marked, r.Deleted)
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
