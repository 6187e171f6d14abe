package outbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
)

// perRequest is what a request takes.
const perRequest = 10 * time.Millisecond

// onUnique starts a process on a new cluster whose only view is a unique copy elsewhere.
func onUnique(ctx context.Context, follow patterns.Follow) (*cluster, *process, error) {
	c, err := newCluster(ctx, []string{"byBadge"})
	if err != nil {
		return nil, nil, err
	}
	c.follow = follow
	p, err := c.start(&process{takes: perRequest})
	return c, p, err
}

// want checks the requests and the time that a process took.
func (p *process) want(requests int, took, wantTook time.Duration) error {
	if p.steps != requests || took != wantTook {
		return fmt.Errorf("%d requests in %v, want %d in %v", p.steps, took, requests, wantTook)
	}
	return nil
}

func TestAnInsertWithAUniqueCopyElsewhereTakesFiveRoundTrips(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, p, err := onUnique(ctx, patterns.Immediately)
		if err != nil {
			return err
		}
		began := time.Now()
		if _, err = p.Insert(ctx, jones()); err != nil {
			return err
		}
		if err := p.want(6, time.Since(began), 5*perRequest); err != nil {
			return err
		}
		return c.clean(ctx)
	}); err != nil {
		t.Error(err)
	}
}

// The rows elsewhere are read next to the message, and the entity is not read again before a unique row is deleted.
func TestChangesReadWhatTheyChangeElsewhereBeforeTheirTransaction(t *testing.T) {
	moved := jones()
	moved.Badge, moved.Last = "B8", "Smith"
	for name, c := range map[string]struct {
		views    []string
		missing  bool // the entity
		do       func(ctx context.Context, p *process) error
		requests int
		trips    time.Duration
	}{
		"put of a unique row and two lists": {[]string{"byBadge", "lastAll"}, false, func(ctx context.Context, p *process) error { return drop(p.Put(ctx, moved)) }, 14, 7},
		"delete with a unique row":          {[]string{"byBadge"}, false, func(ctx context.Context, p *process) error { return p.Delete(ctx, moved.key()) }, 8, 7},
		"insert into a list":                {[]string{"lastAll"}, true, func(ctx context.Context, p *process) error { return drop(p.Insert(ctx, withBadge("B9"))) }, 7, 6},
	} {
		assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
			cl, err := newCluster(ctx, c.views)
			if err != nil {
				return err
			}
			before, err := cl.start(&process{})
			if err != nil {
				return err
			}
			for _, last := range []string{"Jones", "Smith"} { // so that no list becomes empty
				if _, err := before.Insert(ctx, &hire{Dept: "Sales", ID: "other" + last, Last: last}); err != nil {
					return err
				}
			}
			if !c.missing {
				if _, err := before.Insert(ctx, jones()); err != nil {
					return err
				}
			}
			p, err := cl.start(&process{takes: perRequest})
			if err != nil {
				return err
			}
			began := time.Now()
			if err := c.do(ctx, p); err != nil {
				return err
			}
			if err := p.want(c.requests, time.Since(began), c.trips*perRequest); err != nil {
				return err
			}
			return cl.clean(ctx)
		}), nil, name)
	}
}

func TestAnInsertThatIsLeftToAWorkerTakesTwoRoundTripsAndTheWorkerMayBegin(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, p, err := onUnique(ctx, patterns.Later)
		if err != nil {
			return err
		}
		began := time.Now()
		if _, err = p.Insert(ctx, jones()); err != nil {
			return err
		}
		if err := p.want(3, time.Since(began), 2*perRequest); err != nil {
			return err
		}
		w, err := c.start(&process{})
		if err != nil {
			return err
		}
		if ok, err := c.queue.WorkOne(ctx, w, workerHides); err != nil || !ok {
			return fmt.Errorf("the worker received a message: %v, %w", ok, err)
		}
		if w.steps != 7 {
			return fmt.Errorf("%d requests of the worker", w.steps)
		}
		if err := c.consistent(ctx); err != nil {
			return err
		}
		if err := c.recover(ctx); err != nil {
			return err
		}
		return c.clean(ctx)
	}); err != nil {
		t.Error(err)
	}
}

// A worker receives the message after the first round trip, and again until the writer, which
// is slow, has committed.
func TestAWorkerDoesNotFenceAnOperationThatMayBeInProgress(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, p, err := onUnique(ctx, patterns.Later)
		if err != nil {
			return err
		}
		p.takes = testGrace / 4
		done := make(chan error, 1)
		go func() {
			_, err := p.Insert(ctx, jones())
			done <- err
		}()
		w, err := c.start(&process{})
		if err != nil {
			return err
		}
		early := 0
		for {
			select {
			case err := <-done:
				if err != nil || p.steps != 3 || early == 0 {
					return fmt.Errorf("%d requests, %d early deliveries: %w", p.steps, early, err)
				}
				if err := c.recover(ctx); err != nil {
					return err
				}
				return c.clean(ctx)
			default:
			}
			if ok, err := c.queue.WorkOne(ctx, w, workerHides); err != nil {
				return err
			} else if ok {
				early++
			}
			time.Sleep(time.Second)
		}
	}); err != nil {
		t.Error(err)
	}
}

// The message of an operation that was killed before its transaction is visible immediately.
// It is fenced when Grace has passed.
func TestTheReservationOfAKilledOperationIsReleasedIfAWorkerWasToFollow(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, p, err := onUnique(ctx, patterns.Later)
		if err != nil {
			return err
		}
		p.die = 3
		_, _ = p.Insert(ctx, jones())
		if rows, err := readTable(ctx, c.own); err != nil || len(rows) != 1 || c.queue.Len() != 1 {
			return fmt.Errorf("not killed before the transaction: %v, %w", rows, err)
		}
		if err := c.recover(ctx); err != nil {
			return err
		}
		return c.clean(ctx)
	}); err != nil {
		t.Error(err)
	}
}
