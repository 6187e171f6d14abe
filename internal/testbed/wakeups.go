package testbed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
)

// Wakeups is a [patterns.OutboxQueue] in memory, for tests of what a Store keeps. The
// zero value is empty. It outlives the process that a test pretends to kill.
type Wakeups struct {
	mu   sync.Mutex
	next int
	all  []waiting
}

type waiting struct {
	patterns.OutboxMessage
	id    string
	taken bool // shown to a worker: its receipt is void
}

// Put is of patterns.OutboxQueue.
func (w *Wakeups) Put(_ context.Context, wakeup patterns.OutboxMessage, _ time.Duration) (patterns.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	id := fmt.Sprint(w.next)
	w.all = append(w.all, waiting{OutboxMessage: wakeup, id: id})
	return patterns.Receipt{ID: id}, nil
}

// Delete is of patterns.OutboxQueue.
func (w *Wakeups) Delete(_ context.Context, r patterns.Receipt) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(m waiting) bool { return m.id == r.ID && !m.taken })
	return nil
}

// Len is how many wake-ups wait.
func (w *Wakeups) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// Work shows every waiting wake-up to handle once, whatever its time, as a worker
// that comes late would. Those that are to be shown again stay; so do those that
// failed, whose error it returns.
func (w *Wakeups) Work(ctx context.Context, handle func(context.Context, patterns.OutboxMessage) (time.Duration, error)) error {
	w.mu.Lock()
	for i := range w.all {
		w.all[i].taken = true
	}
	round := slices.Clone(w.all)
	w.mu.Unlock()
	var failed error
	for _, m := range round {
		again, err := handle(ctx, m.OutboxMessage)
		if err != nil {
			failed = err
			continue
		}
		if again > 0 {
			continue
		}
		w.mu.Lock()
		w.all = slices.DeleteFunc(w.all, func(o waiting) bool { return o.id == m.id })
		w.mu.Unlock()
	}
	return failed
}
