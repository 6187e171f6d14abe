package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// newFinisher returns a Finisher that does nothing before it is flushed, at least for a quarter of the grace time.
func newFinisher(opts *patterns.FinisherOptions) *patterns.Finisher {
	f, err := patterns.NewFinisher(opts)
	if err != nil {
		panic(err)
	}
	return f
}

// A call with a Finisher returns when the rows elsewhere are written. A lone operation takes no more requests than without it.
func TestACallWithAFinisherTakesThreeRoundTrips(t *testing.T) {
	moved := jones()
	moved.Badge, moved.Last = "B8", "Smith"
	for name, c := range map[string]struct {
		views     []string
		missing   bool // the entity
		follow    patterns.Follow
		do        func(ctx context.Context, p *process) error
		trips     time.Duration
		requests  int
		afterward int // requests of the Finisher
	}{
		"insert of a unique row":            {[]string{"byBadge"}, true, 0, func(ctx context.Context, p *process) error { return drop(p.Insert(ctx, moved)) }, 3, 4, 2},
		"the same, left to a worker":        {[]string{"byBadge"}, true, patterns.Later, func(ctx context.Context, p *process) error { return drop(p.Insert(ctx, moved)) }, 2, 3, 0},
		"insert of a copy":                  {[]string{"byName"}, true, 0, func(ctx context.Context, p *process) error { return drop(p.Insert(ctx, moved)) }, 3, 3, 3},
		"put of a unique row and two lists": {[]string{"byBadge", "lastAll"}, false, 0, func(ctx context.Context, p *process) error { return drop(p.Put(ctx, moved)) }, 4, 11, 3},
		"delete with a unique row":          {[]string{"byBadge"}, false, 0, func(ctx context.Context, p *process) error { return p.Delete(ctx, moved.key()) }, 4, 5, 3},
	} {
		assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
			cl, err := newCluster(ctx, c.views)
			if err != nil {
				return err
			}
			cl.follow = c.follow
			before, err := cl.start(&process{now: true})
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
			p, err := cl.start(&process{takes: perRequest, finisher: newFinisher(nil)})
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
			if err := p.finisher.Close(ctx); err != nil {
				return err
			}
			if p.steps != c.requests+c.afterward {
				return fmt.Errorf("%d requests afterwards, want %d", p.steps-c.requests, c.afterward)
			}
			if c.follow == patterns.Later {
				return nil
			}
			return cl.clean(ctx)
		}), nil, name)
	}
}

// The cost of 1,000 inserts includes everything: messages, reservations, and what the Finisher does. If requests take the same
// time, calls that wait a little share their messages; otherwise about two of eight writers do.
func TestAThousandInsertsTakeFewRequestsEach(t *testing.T) {
	const inserts, writers, partitions = 1000, 64, 8
	for name, c := range map[string]struct {
		wait   time.Duration
		uneven bool
		most   int
	}{
		"requests of the same duration, with a wait": {wait: time.Millisecond, most: 3500},
		"requests of 5 to 15 ms, with a wait":        {wait: 10 * time.Millisecond, uneven: true, most: 3750},
		"requests of 5 to 15 ms":                     {uneven: true, most: 4000},
	} {
		assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
			cl, err := newCluster(ctx, []string{"byBadge"})
			if err != nil {
				return err
			}
			p, err := cl.start(&process{takes: perRequest, uneven: c.uneven, finisher: newFinisher(&patterns.FinisherOptions{Wait: c.wait})})
			if err != nil {
				return err
			}
			errs := make([]error, inserts)
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for i := w; i < inserts; i += writers {
						_, errs[i] = p.Insert(ctx, &hire{Dept: fmt.Sprint("d", i%partitions), ID: fmt.Sprint(i), Badge: fmt.Sprint("B", i)})
					}
				})
			}
			all.Wait()
			if err := errors.Join(append(errs, p.finisher.Close(ctx))...); err != nil {
				return err
			}
			t.Logf("%s: %.2f requests for each insert; %+v", name, float64(p.steps)/inserts, p.finisher.Stats())
			if p.steps > c.most {
				return fmt.Errorf("%d requests", p.steps)
			}
			return cl.clean(ctx)
		}), nil, name)
	}
}

// held is a cluster with two processes, of which the first has a Finisher that holds the insert of an entity with a copy elsewhere.
func held(ctx context.Context, opts *patterns.FinisherOptions) (c *cluster, a, b *process, err error) {
	if c, err = newCluster(ctx, []string{"byName", "byBadge"}); err != nil {
		return nil, nil, nil, err
	}
	a, err1 := c.start(&process{finisher: newFinisher(opts)})
	b, err2 := c.start(&process{})
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, nil, err
	}
	_, err = a.Insert(ctx, jones())
	return c, a, b, err
}

func TestWhatAFinisherHolds(t *testing.T) {
	rename := func(h *hire) error { h.Name = "Ann Smith"; return nil }
	stats := func(p *process, want patterns.FinisherStats) error {
		if got := p.finisher.Stats(); got != want {
			return fmt.Errorf("%+v, want %+v", got, want)
		}
		return nil
	}
	for name, do := range map[string]func(ctx context.Context, c *cluster, a, b *process) error{
		"is finished after a quarter of Grace": func(ctx context.Context, c *cluster, a, _ *process) error {
			time.Sleep(testGrace/4 - 1)
			err := stats(a, patterns.FinisherStats{Held: 1})
			time.Sleep(time.Second)
			return errors.Join(err, stats(a, patterns.FinisherStats{Finished: 1, Groups: 1}), c.clean(ctx))
		},
		"is corrected if another client has changed the entity": func(ctx context.Context, c *cluster, a, b *process) error {
			_, err := b.Update(ctx, jones().key(), rename)
			return errors.Join(err, a.finisher.Flush(ctx), stats(a, patterns.FinisherStats{Finished: 1, Groups: 1}), c.clean(ctx))
		},
		"is not read if its entity is changed under its ETag": func(ctx context.Context, c *cluster, a, _ *process) error {
			before := a.steps
			_, err := a.Update(ctx, jones().key(), rename)
			if a.steps != before+8 { // as many as without a Finisher, less the last read, the outbox row and the message
				err = fmt.Errorf("%d requests", a.steps-before)
			}
			before = a.steps
			err = errors.Join(err, a.finisher.Flush(ctx))
			if a.steps != before+4 { // the entity, the outbox rows, two messages
				err = fmt.Errorf("%d requests of the Finisher", a.steps-before)
			}
			return errors.Join(err, stats(a, patterns.FinisherStats{Finished: 2, Groups: 1}), c.clean(ctx))
		},
		"is left to a worker that has acquired it, and nothing else": func(ctx context.Context, c *cluster, a, b *process) error {
			if ok, err := c.queue.WorkOne(ctx, b, workerHides); ok || err != nil {
				return fmt.Errorf("a message is visible: %w", err)
			}
			c.queue.ShowFirst()
			_, err := c.queue.WorkOne(ctx, b, workerHides)
			for i := range 3 {
				_, err1 := a.Insert(ctx, &hire{Dept: "Sales", ID: fmt.Sprint("more", i), Name: "More"})
				err = errors.Join(err, err1)
			}
			return errors.Join(err, a.finisher.Flush(ctx), stats(a, patterns.FinisherStats{Finished: 3, Left: 1, Groups: 1}), c.recover(ctx), c.clean(ctx))
		},
		"is left to workers if Close may not wait": func(ctx context.Context, c *cluster, a, _ *process) error {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			err := a.finisher.Close(ended)
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("close: %w", err)
			}
			waiting := c.queue.Len()
			_, err = a.Insert(ctx, &hire{Dept: "Sales", ID: "later", Name: "Later"}) // is finished in the call
			if c.queue.Len() != waiting {
				err = errors.Join(err, fmt.Errorf("%d messages, want %d", c.queue.Len(), waiting))
			}
			return errors.Join(err, c.recover(ctx), c.clean(ctx))
		},
	} {
		assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
			c, a, b, err := held(ctx, nil)
			if err != nil {
				return err
			}
			return do(ctx, c, a, b)
		}), nil, name)
	}
}

func TestAFinisherThatIsFullLeavesOperationsToTheirCalls(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, a, _, err := held(ctx, &patterns.FinisherOptions{MaxHeld: 1, MaxAge: time.Second})
		if err != nil {
			return err
		}
		before := a.requests()
		_, err = a.Insert(ctx, &hire{Dept: "Sales", ID: "2", Name: "Two"})
		if n := a.requests() - before; n != 6 || c.queue.Len() != 1 {
			err = fmt.Errorf("%d requests, %d messages", n, c.queue.Len())
		}
		time.Sleep(time.Second + time.Millisecond)
		if c.queue.Len() != 0 {
			return fmt.Errorf("%d messages after MaxAge", c.queue.Len())
		}
		return errors.Join(err, c.clean(ctx))
	}); err != nil {
		t.Error(err)
	}
}

// The last reads of 30 entities are one request, because they are on one page.
func TestManyEntitiesAreReadTogether(t *testing.T) {
	const entities = 30
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byName"})
		if err != nil {
			return err
		}
		p, err := c.start(&process{finisher: newFinisher(nil)})
		if err != nil {
			return err
		}
		for i := range entities {
			if _, err := p.Insert(ctx, &hire{Dept: "Sales", ID: fmt.Sprintf("%02d 'é😀", i), Name: "Ann"}); err != nil {
				return err
			}
		}
		before := p.steps
		if err := p.finisher.Flush(ctx); err != nil {
			return err
		}
		if got, want := p.steps-before, 1+1+entities; got != want {
			return fmt.Errorf("%d requests, want %d", got, want)
		}
		return c.clean(ctx)
	}); err != nil {
		t.Error(err)
	}
}

// A transaction that is in progress when the Finisher is closed does not wait for the age at which others are finished.
func TestCloseFinishesTransactionsInProgress(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, []string{"byName"})
		if err != nil {
			return err
		}
		p, err := c.start(&process{takes: perRequest, finisher: newFinisher(nil)})
		if err != nil {
			return err
		}
		var calls sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			calls.Go(func() { _, errs[i] = p.Insert(ctx, &hire{Dept: "Sales", ID: fmt.Sprint(i), Name: "Ann"}) })
		}
		time.Sleep(2*perRequest + perRequest/2) // some write their rows elsewhere, and some commit
		began := time.Now()
		err1, err2 := p.finisher.Flush(ctx), p.finisher.Close(ctx)
		if took := time.Since(began); took > 12*perRequest {
			return fmt.Errorf("took %v", took)
		}
		calls.Wait()
		return errors.Join(append(errs, err1, err2, c.clean(ctx))...)
	}); err != nil {
		t.Error(err)
	}
}

// A panic of the program in a call leaves nothing that Close would wait for.
func TestAPanicLeavesNothingHeld(t *testing.T) {
	if err := inVirtualTime(t, func(ctx context.Context) error {
		account, calls := storagetest.Start(nil), 0
		client := account.Tables().NewClient("hires")
		if _, err := client.CreateTable(ctx, nil); err != nil {
			return err
		}
		view := patterns.ViewOf("panics", patterns.Shape{Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "copies", Row: h.ID}, patterns.CopySpec{})}, nil
		})
		f := newFinisher(nil)
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{view}, Outbox: &harness.OutboxQueue{}, Finisher: f, OnPending: func(context.Context, keys.Key, error) { calls++; panic("of the program") }})
		if err != nil {
			return err
		}
		account.Fault(storagetest.On("Table.Insert").Status(403, "AuthorizationFailure")) // of the copy
		func() {
			defer func() { _ = recover() }()
			_, _ = s.Insert(ctx, jones())
		}()
		ended, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := f.Close(ended); err != nil || calls != 1 {
			return fmt.Errorf("close after %d panics: %w", calls, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestAFinisherRefusesBadOptions(t *testing.T) {
	for _, none := range []*patterns.Finisher{nil, {}} {
		assert.NoError(t, errors.Join(none.Flush(t.Context()), none.Close(t.Context())))
		assert.Equal(t, none.Stats(), patterns.FinisherStats{})
	}
	for _, o := range []patterns.FinisherOptions{{MaxHeld: -1}, {MaxAge: -1}, {Wait: -1}} {
		_, err := patterns.NewFinisher(&o)
		assert.WantError(t, err, patterns.ErrBadOption)
	}
	_, err := newHires(storagetest.Start(nil).Tables().NewClient("hires"), patterns.StoreOptions[hire]{Finisher: &patterns.Finisher{}})
	assert.WantError(t, err, patterns.ErrBadOption)
}
