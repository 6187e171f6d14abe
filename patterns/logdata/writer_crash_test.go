package logdata_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// acknowledged contains the records that a process reported as stored. It survives the
// simulated crash of the process.
type acknowledged struct {
	mu   sync.Mutex
	acks []string
}

func (a *acknowledged) add(messages ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acks = append(a.acks, messages...)
}

func (a *acknowledged) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.acks)
}

func (a *acknowledged) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acks = nil
}

// crashEverywhere crashes a process before and after each of its requests, and checks what
// is stored.
func crashEverywhere(t *testing.T, faults ...storagetest.Rule) {
	var stored acknowledged
	scenario := func(ctx context.Context, acct *storagetest.Account) error {
		stored.reset()
		c := acct.Container("logs")
		if _, err := c.Create(ctx, nil); err != nil {
			return err
		}
		acct.Arm()
		acct.Fault(faults...)
		o := logdata.WithBlocks(logdata.WriterOptions{Name: "w", FlushAge: never}, 2)
		w, err := logdata.NewWriter(c, "web", &o)
		if err != nil {
			return err
		}
		o.Sync = true // a writer of the same name that stores each record immediately
		s, err := logdata.NewWriter(c, "web", &o)
		if err != nil {
			return err
		}
		for i := range 4 {
			var batch []string
			for j := range 3 {
				// Across the change of the hour, and back.
				m := fmt.Sprint("batch ", i, j)
				if err := w.Write(ctx, logdata.Record{Time: at((i + j) * 1200), Message: m}); err != nil {
					return err
				}
				batch = append(batch, m)
			}
			if err := w.Flush(ctx); err != nil {
				return err
			}
			stored.add(batch...)
			m := fmt.Sprint("sync ", i)
			if err := s.Write(ctx, logdata.Record{Time: at(i * 1200), Message: m}); err != nil {
				return err
			}
			stored.add(m)
		}
		if err := w.Close(ctx); err != nil {
			return err
		}
		return s.Close(ctx)
	}
	storagetest.CrashPoints(t, scenario, func(t *testing.T, acct *storagetest.Account) {
		c := acct.Container("logs")
		// The next process writes under the same name.
		w := newWriter(t, c, logdata.WriterOptions{Name: "w"})
		next := fmt.Sprint("next ", len(stored.all()))
		write(t, w, at(0), next)
		closeWriter(t, w)
		times := map[string]int{}
		for _, m := range messages(t, c, at(0), at(9000)) {
			if times[m]++; times[m] > 1 {
				t.Errorf("%q is stored twice", m)
			}
		}
		stored.add(next)
		for _, m := range stored.all() {
			assert.Equal(t, times[m], 1, m, "was acknowledged and is not stored")
		}
	})
}

func TestNoAcknowledgedRecordIsLostByACrash(t *testing.T) { crashEverywhere(t) }

func TestNoAcknowledgedRecordIsLostByACrashAfterLostReplies(t *testing.T) {
	crashEverywhere(t, storagetest.On("Blob.Append").Nth(2).LoseReply(), storagetest.On("Blob.Put").Nth(2).LoseReply())
}
