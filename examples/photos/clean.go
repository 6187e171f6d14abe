package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// runWorker runs a worker until it has handled the outbox messages of all writes so far. In
// a service, a worker runs all the time and also handles other messages.
func (a *album) runWorker(ctx context.Context) (string, error) {
	if err := wait(ctx, grace+2*time.Second); err != nil {
		return "", err
	}
	waiting, err := a.jobs.GetProperties(ctx, nil)
	if err != nil {
		return "", err
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
		return "", err
	}
	eventual.HandleOutbox(w, "", a.staff)
	running := make(chan error, 1)
	go func() { running <- w.Run(ctx) }()
	done := 0
	//azvet:ignore polling no other program uses this queue
	for done < int(*waiting.ApproximateMessagesCount) {
		select {
		case e := <-ended:
			if e.Outcome == eventual.Done {
				done++
			}
		case err := <-running:
			return "", errors.Join(err, ctx.Err())
		}
	}
	stop()
	return fmt.Sprintf("a worker handled %d messages", done), <-running
}

// loseMessage dismisses Ann Beebe, and then clears the queue.
func (a *album) loseMessage(ctx context.Context) (string, error) {
	if err := a.staff.Delete(ctx, ann, ""); err != nil {
		return "", err
	}
	_, err := a.jobs.ClearMessages(ctx, nil)
	return "dismissed Ann Beebe, and cleared the queue", err
}

// sweep marks the photos that no employee has, and deletes those that were marked a grace period
// ago. A service without an outbox needs only sweeps; a service with an outbox sweeps occasionally.
func (a *album) sweep(ctx context.Context) (string, error) {
	r, err := a.staff.Sweep(ctx, nil)
	return fmt.Sprintf("swept: of %d photos %d marked, %d deleted", r.Found, r.Marked, r.Done-r.Marked), err
}

// sweepLater sweeps after the grace period. The service's times have a resolution of one second.
func (a *album) sweepLater(ctx context.Context) (string, error) {
	if err := wait(ctx, grace+2*time.Second); err != nil {
		return "", err
	}
	return a.sweep(ctx)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
