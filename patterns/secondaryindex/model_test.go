package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Writers race for few employees and few values, while replies and requests are lost. At
// every moment the indexes within the partition agree with the primaries, and in the end
// all do.
func TestIndexesAgreeWithThePrimariesUnderRacingWriters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := schedule{
			seed:    rapid.Uint64().Draw(rt, "seed"),
			writers: rapid.SliceOfN(rapid.SliceOfN(step(), 1, 8), 2, 4).Draw(rt, "writers"),
			losses:  rapid.SampledFrom([]float64{0, 0.05, 0.2}).Draw(rt, "losses"),
		}
		var err error
		synctest.Test(t, func(t *testing.T) { err = s.run(t) })
		assert.NoError(rt, err)
	})
}

// Writes without the Store leave stale copies. Repairs race with writers through the Store
// and with each other; in the end everything is correct.
func TestRepairsRaceWithWriters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := schedule{
			seed:    rapid.Uint64().Draw(rt, "seed"),
			writers: rapid.SliceOfN(rapid.SliceOfN(step(), 1, 5), 1, 2).Draw(rt, "writers"),
			losses:  rapid.SampledFrom([]float64{0, 0, 0.1}).Draw(rt, "losses"),
			direct:  rapid.SliceOfN(step(), 1, 4).Draw(rt, "direct"),
		}
		var err error
		synctest.Test(t, func(t *testing.T) { err = s.run(t) })
		assert.NoError(rt, err)
	})
}

type schedule struct {
	seed    uint64
	writers [][]act
	losses  float64 // of requests, and of replies
	direct  []act   // without the store, before the writers
}

// act is one operation of a writer.
type act struct {
	kind  string
	pause time.Duration
	value employee
}

func step() *rapid.Generator[act] {
	return rapid.Custom(func(t *rapid.T) act {
		a := act{
			kind:  rapid.SampledFrom([]string{"insert", "put", "update", "update", "delete"}).Draw(t, "kind"),
			pause: time.Duration(rapid.IntRange(0, 3).Draw(t, "pause")) * time.Millisecond,
			value: *newEmployee(rapid.SampledFrom([]string{"Sales", "Marketing"}).Draw(t, "department"),
				rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id"), "F",
				rapid.SampledFrom([]string{"Jones", "Jones ", "Jones-Lee"}).Draw(t, "last"),
				rapid.SampledFrom([]string{"", "a@x", "b@x", "A@x"}).Draw(t, "email")),
		}
		a.value.Badge = rapid.SampledFrom([]string{"", "", "7", "8"}).Draw(t, "badge")
		a.value.Age = rapid.Int32Range(30, 32).Draw(t, "age")
		return a
	})
}

func (a act) do(ctx context.Context, store *patterns.Store[employee]) (err error) {
	v := a.value
	switch a.kind {
	case "insert":
		_, err = store.Insert(ctx, &v)
	case "put":
		_, err = store.Put(ctx, &v)
	case "update":
		_, err = store.Update(ctx, v.key(), func(e *employee) error { *e = v; return nil })
	case "delete":
		err = store.Delete(ctx, v.key())
	}
	return err
}

func (s schedule) run(t *testing.T) error {
	w := newWorld(t, s.seed)
	if s.losses > 0 {
		w.account.Fault(
			storagetest.On("Table.*").Probability(s.losses).LoseReply(),
			storagetest.On("Table.*").Probability(s.losses).LoseRequest(),
		)
	}
	w.account.Fault(storagetest.On("Table.*").Probability(0.5).Delay(time.Millisecond))
	if err := s.writeDirectly(t.Context(), w); err != nil {
		return err
	}
	var writers sync.WaitGroup
	if s.direct != nil {
		for range 2 {
			writers.Go(func() {
				_ = w.repair(t.Context())
			})
		}
	}
	for _, acts := range s.writers {
		writers.Go(func() {
			for _, a := range acts {
				time.Sleep(a.pause)
				// An operation may fail. The final check shows which ones succeeded.
				_ = a.do(t.Context(), w.store)
			}
		})
	}
	watched := make(chan error)
	stop := make(chan struct{})
	go func() {
		if s.direct == nil {
			watched <- w.watch(t.Context(), stop)
		}
		close(watched)
	}()
	writers.Wait()
	close(stop)
	if err := <-watched; err != nil {
		return err
	}
	w.account.ClearFaults()
	for w.queue.Len() != 0 {
		time.Sleep(time.Minute)
		if err := w.queue.Work(t.Context(), w.store.Handle); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
	}
	if s.direct != nil {
		if err := w.repair(t.Context()); err != nil {
			return err
		}
	}
	return w.check(t.Context())
}

// writeDirectly inserts employees, then deletes and changes some without the store.
func (s schedule) writeDirectly(ctx context.Context, w *world) error {
	for i, a := range s.direct {
		v := a.value
		v.EmailAddress, v.Badge = fmt.Sprint(i, v.EmailAddress), fmt.Sprint(i)
		err := errors.ErrUnsupported
		for err != nil && !errors.Is(err, patterns.ErrExists) { // a lost request
			_, err = w.store.Insert(ctx, &v)
		}
		switch {
		case err != nil:
		case a.kind == "delete":
			err = w.store.Table().Delete(ctx, v.key(), "")
		case a.kind == "update":
			_, err = w.store.Table().Update(ctx, v.key(), func(e *employee) error { e.Age += 10; return nil })
		}
		if err != nil && !errors.Is(err, patterns.ErrExists) && s.losses == 0 {
			return err
		}
	}
	return nil
}

// watch compares the indexes within the partitions with the primaries repeatedly. One
// request reads a partition as it is at one moment.
func (w *world) watch(ctx context.Context, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		case <-time.After(time.Millisecond):
		}
		for _, department := range []string{"Sales", "Marketing"} {
			page, err := w.store.Table().Page(ctx, query.PartitionKey.Eq(department), "", nil)
			if err != nil {
				continue // a lost request
			}
			var primaries []employee
			var got []string
			for _, item := range page.Items {
				owner, isCopy := view.OwnerOf(func(name string) (string, bool) {
					value, _ := item.Property(name)
					text, ok := value.(string)
					return text, ok
				})
				switch {
				case isCopy:
					e := item.Value
					e.PartitionKey, e.RowKey = owner.Primary.Partition, owner.Primary.Row
					got = append(got, line(owner.View, item.Key, e))
				case strings.HasPrefix(item.Key.Row, "empid_"):
					primaries = append(primaries, item.Value)
				}
			}
			if err := compare(got, w.implied(primaries, w.x.email, w.x.last, w.x.slim)); err != nil {
				return fmt.Errorf("in %s at %v: %w", department, time.Now(), err)
			}
		}
	}
}
