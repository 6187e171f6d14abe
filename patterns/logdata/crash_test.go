package logdata_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// acknowledged are the records that a process was told are stored, by account: it
// lives on where the process does not.
type acknowledged struct {
	mu   sync.Mutex
	acks []string
}

func (a *acknowledged) add(messages ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acks = append(a.acks, messages...)
}

func (a *acknowledged) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	acks := a.acks
	a.acks = nil
	return acks
}

func crashAll(t *testing.T, faults ...storagetest.Rule) {
	var told acknowledged
	scenario := func(ctx context.Context, acct *storagetest.Account) error {
		told.take()
		c := acct.Container("logs")
		if _, err := c.Create(ctx, nil); err != nil {
			return err
		}
		acct.Arm()
		acct.Fault(faults...)
		o := logdata.WithBlocks(logdata.Options{Name: "w", FlushAge: never}, 2)
		w, err := logdata.NewWriter(c, "web", &o)
		if err != nil {
			return err
		}
		o.Sync = true // and a writer of the same name, that stores each record at once
		s, err := logdata.NewWriter(c, "web", &o)
		if err != nil {
			return err
		}
		for i := range 4 {
			var batch []string
			for j := range 3 {
				// Over the change of the hour, and back again.
				m := fmt.Sprint("batch ", i, j)
				if err := w.Write(ctx, logdata.Record{Time: at((i + j) * 1200), Message: m}); err != nil {
					return err
				}
				batch = append(batch, m)
			}
			if err := w.Flush(ctx); err != nil {
				return err
			}
			told.add(batch...)
			m := fmt.Sprint("sync ", i)
			if err := s.Write(ctx, logdata.Record{Time: at(i * 1200), Message: m}); err != nil {
				return err
			}
			told.add(m)
		}
		if err := w.Close(ctx); err != nil {
			return err
		}
		return s.Close(ctx)
	}
	storagetest.CrashPoints(t, scenario, func(t *testing.T, acct *storagetest.Account) {
		c := acct.Container("logs")
		acks := told.take()
		// The process that is started next writes on under the same name.
		w := newWriter(t, c, logdata.Options{Name: "w"})
		write(t, w, at(0), "next")
		closed(t, w)
		times := map[string]int{}
		for _, m := range messages(t, c, at(0), at(9000)) {
			if times[m]++; times[m] > 1 {
				t.Errorf("%q is there twice", m)
			}
		}
		for _, m := range append(acks, "next") {
			if times[m] != 1 {
				t.Errorf("%q was acknowledged and is not there", m)
			}
		}
	})
}

func TestNoAcknowledgedRecordIsLostByACrash(t *testing.T) { crashAll(t) }

func TestNorWhereRepliesAreLostBeforeTheCrash(t *testing.T) {
	crashAll(t, storagetest.On("Blob.Append").Nth(2).LoseReply(), storagetest.On("Blob.Put").Nth(2).LoseReply())
}
