package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The message names two transactions. The first writer dies before its transaction is sent, so the second one keeps the message.
func TestAMessageOfTwoTransactionsIsDeletedByTheLast(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byName"})
		if err != nil {
			return err
		}
		p, err := c.start(&process{takes: perRequest, finisher: newFinisher(&patterns.FinisherOptions{Wait: time.Millisecond})})
		if err != nil {
			return err
		}
		cancelled, cancel := context.WithTimeout(ctx, perRequest/2)
		defer cancel()
		var first, second error
		var both sync.WaitGroup
		both.Go(func() { _, first = p.Insert(cancelled, &hire{Dept: "Sales", ID: "1", Name: "One"}) })
		both.Go(func() { _, second = p.Insert(ctx, &hire{Dept: "Sales", ID: "2", Name: "Two"}) })
		both.Wait()
		if err := errors.Join(second, p.finisher.Flush(ctx)); err != nil || !errors.Is(first, context.DeadlineExceeded) || c.queue.Len() != 1 {
			return fmt.Errorf("%w, %w, %d messages", err, first, c.queue.Len())
		}
		return errors.Join(c.recover(ctx), c.clean(ctx))
	}); err != nil {
		t.Error(err)
	}
}

// The process dies after the transaction of the second writer, so only the message leads to that.
func TestAMessageOfTwoTransactionsLeadsAWorkerToBoth(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byName"})
		if err != nil {
			return err
		}
		p, err := c.start(&process{takes: perRequest, uneven: true, finisher: newFinisher(&patterns.FinisherOptions{Wait: time.Millisecond})})
		if err != nil {
			return err
		}
		sent := 0
		p.changed = func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if sent++; sent == 2 {
				p.die = p.steps + 1
			}
		}
		var both sync.WaitGroup
		for i := range 2 {
			both.Go(func() { _, _ = p.Insert(ctx, &hire{Dept: "Sales", ID: fmt.Sprint(i), Name: fmt.Sprint("Name", i)}) })
		}
		both.Wait()
		if err := p.close(ctx); err != nil || !p.Dead() || c.queue.Len() != 1 || len(c.queue.Message(0).Others) != 1 {
			return fmt.Errorf("%w, %d messages", err, c.queue.Len())
		}
		return errors.Join(c.recover(ctx), c.clean(ctx))
	}); err != nil {
		t.Error(err)
	}
}

// A worker that receives a message of two transactions does what it can for one while the other may be in progress.
func TestAWorkerDoesNotWaitForATransactionInProgress(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, p, err := onUnique(ctx, patterns.Later)
		if err != nil {
			return err
		}
		if _, err := p.Insert(ctx, jones()); err != nil {
			return err
		}
		m := c.queue.Message(0)
		m.Others, m.Age = append(m.Others, patterns.OutboxMessage{ID: "other"}), time.Second
		after, err := p.Handle(ctx, m)
		if after <= 0 || err == nil {
			return fmt.Errorf("again after %v: %w", after, err)
		}
		if err := c.consistent(ctx); err != nil {
			return err
		}
		m.Age = testGrace
		if after, err = p.Handle(ctx, m); after <= 0 || err != nil {
			return fmt.Errorf("again after %v: %w", after, err)
		}
		return errors.Join(c.recover(ctx), c.consistent(ctx))
	}); err != nil {
		t.Error(err)
	}
}

// The operations of a message were finished, and its process died before it deleted the message. A worker finds that out by one
// request, and by another one when none of them can be applied any more.
func TestAMessageOfFinishedOperationsCostsAWorkerOneRequest(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, p, err := onUnique(ctx, patterns.Immediately)
		if err != nil {
			return err
		}
		if _, err := p.Insert(ctx, jones()); err != nil { // so that the time of the service is known
			return err
		}
		m := patterns.OutboxMessage{Partition: "Sales", ID: "op0"}
		for i := range 20 {
			m.Others = append(m.Others, patterns.OutboxMessage{ID: fmt.Sprint("op", i+1)})
		}
		for _, age := range []time.Duration{testGrace, testExpiry} {
			before := p.steps
			m.Age = age
			after, err := p.Handle(ctx, m)
			if err != nil || after != testExpiry-age || p.steps != before+1 {
				return fmt.Errorf("at the age of %v: again after %v, %d requests: %w", age, after, p.steps-before, err)
			}
		}
		return c.clean(ctx)
	}); err != nil {
		t.Error(err)
	}
}

// The writer is paused for longer than Grace, and dies after its transaction. It holds no row, so the worker that came too early has not
// fenced it: the message is still there.
func TestAnOperationThatIsAppliedAfterAWorkerLookedIsFinished(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byName"})
		if err != nil {
			return err
		}
		p, err1 := c.start(&process{})
		w, err2 := c.start(&process{})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		var early error
		p.sending = func(_, path string) {
			if strings.HasSuffix(path, "$batch") {
				time.Sleep(testGrace + time.Second)
				_, early = c.queue.WorkOne(ctx, w, workerHides)
			}
		}
		p.changed = func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.die = p.steps + 1
		}
		_, err = p.Insert(ctx, jones())
		if early != nil || !p.Dead() || c.queue.Len() != 1 {
			return fmt.Errorf("%w, %w, %d messages", early, err, c.queue.Len())
		}
		return errors.Join(c.recover(ctx), c.clean(ctx))
	}); err != nil {
		t.Error(err)
	}
}

// The queue does not answer. The callers after the first do not wait for longer than the grace time.
func TestAPutWithoutAReplyEnds(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		queue := &silentQueue{}
		account := storagetest.Start(nil)
		client := account.Tables().NewClient("hires")
		if _, err := client.CreateTable(ctx, nil); err != nil {
			return err
		}
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: someViews(client, []string{"byName"}), Outbox: queue, Finisher: newFinisher(nil), Grace: testGrace})
		if err != nil {
			return err
		}
		first := make(chan error, 1)
		go func() { _, err := s.Insert(ctx, jones()); first <- err }()
		time.Sleep(time.Second)
		began := time.Now()
		_, err = s.Insert(ctx, &hire{Dept: "Sales", ID: "2", Name: "Two"})
		if took := time.Since(began); err != nil || took > testGrace {
			return fmt.Errorf("after %v: %w", took, err)
		}
		if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the first: %w", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// silentQueue does not answer the first Put before its context ends.
type silentQueue struct {
	harness.OutboxQueue
	asked atomic.Bool
}

func (q *silentQueue) Put(ctx context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	if !q.asked.Swap(true) {
		<-ctx.Done()
		return patterns.Receipt{}, ctx.Err()
	}
	return q.OutboxQueue.Put(ctx, m, after)
}
