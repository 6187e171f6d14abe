package eventual

import (
	"context"
	"sync"

	"github.com/azpatterns/azpatterns/internal/parallel"
)

// poll receives messages and starts handlers until ctx ends. It returns an error only
// if the first request is refused.
func (w *Worker) poll(ctx, work context.Context, handlers, timers *sync.WaitGroup) error {
	slots := make(chan struct{}, w.opts.Parallel)
	pause := w.opts.PollMin
	for first := true; ; first = false {
		n := acquire(ctx, slots)
		if n == 0 {
			return nil
		}
		// The end of ctx does not cancel a poll that is under way: the messages that it
		// receives would stay invisible until their visibility timeout ends.
		ms, err := w.queue.receive(work, n, w.opts.Visibility)
		for range n - len(ms) {
			<-slots
		}
		for i := range ms {
			handlers.Go(func() {
				defer func() { <-slots }()
				w.process(ctx, work, &ms[i], timers)
			})
		}
		if err != nil && ctx.Err() == nil {
			if first && refused(err) {
				return err
			}
			w.opts.Logger.Error("eventual: poll failed", "error", err)
		}
		if len(ms) > 0 {
			pause = w.opts.PollMin
			continue
		}
		if parallel.Sleep(ctx, jitter(pause, 0.25)) != nil {
			return nil
		}
		pause = min(2*pause, w.opts.PollMax)
	}
}

// acquire waits for a free slot, then takes all free slots that one poll can use, and
// returns their number. It returns 0 if ctx has ended.
func acquire(ctx context.Context, slots chan struct{}) int {
	if ctx.Err() != nil {
		return 0
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	n := 1
	for ; n < maxReceive; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
	return n
}
