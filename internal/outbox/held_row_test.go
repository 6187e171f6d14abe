package outbox_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// between calls reached immediately before the first request that is selected, and holds it up
// until proceed is closed.
func (p *process) between(selected func(method, path string) bool, reached func(), proceed <-chan struct{}) {
	var met atomic.Bool // some requests are concurrent
	p.sending = func(method, path string) {
		if selected(method, path) && met.CompareAndSwap(false, true) {
			reached()
			<-proceed
		}
	}
}

// A delete reads the reservation of an insert that is about to write over it. Before the delete
// reads the outbox row of the insert, the insert is completed, so the outbox row is gone.
func TestARowOfAnOperationThatWasCompletedMeanwhileIsNotHeld(t *testing.T) {
	for _, then := range []string{"delete", "another badge", "the badge again"} {
		testRace(t, func(r *race) {
			r.views = []string{"byBadge"} // so that the insert does not read the entity again
			a, b, c := r.process(), r.process(), r.process()
			isRow := func(method, path string) bool { return method == http.MethodPut && strings.HasSuffix(path, rowB7) }
			isRecord := func(method, path string) bool {
				return method == http.MethodGet && strings.Contains(path, "~azp_outbox_")
			}
			writing, reading, inserted, deleted := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
			a.between(isRow, func() { close(writing) }, reading)
			b.between(isRecord, func() { close(reading) }, inserted)
			go func() {
				defer close(deleted)
				<-writing
				if then == "another badge" {
					r.must(b.setBadge(r.ctx, "B8"))
				} else {
					r.must(b.Delete(r.ctx, jones().key()))
				}
			}()
			_, err := a.Insert(r.ctx, withBadge("B7"))
			r.must(err)
			if then == "the badge again" {
				_, err := c.Put(r.ctx, withBadge("B7"))
				r.must(err)
			}
			close(inserted)
			<-deleted
		})
	}
}

// A worker finds neither an outbox row nor a reservation of an operation that is slow. Before it reads the reserved row once more, the
// operation reserves it, and it is applied afterwards.
func TestARowThatAnOperationReservesWithoutAFenceIsKept(t *testing.T) {
	testRace(t, func(r *race) {
		r.views = []string{"byBadge"}
		a, w, q := r.process(), r.process(), r.process()
		again, reserved, handled := make(chan struct{}), make(chan struct{}), make(chan struct{})
		reads := 0
		w.between(func(method, path string) bool {
			if method == http.MethodGet && strings.HasSuffix(path, rowB7) {
				reads++
			}
			return reads == 2
		}, func() { close(again) }, reserved)
		begun := false
		a.sending = func(method, path string) {
			switch {
			case isTransaction(method, path):
				close(reserved)
				<-handled
				_, err := q.Insert(r.ctx, rival())
				r.refused("another entity", err)
			case method == http.MethodPost && !begun:
				begun = true
				time.Sleep(testGrace + time.Second)
				m := r.queue.Message(0)
				m.Age = testGrace
				go func() {
					defer close(handled)
					_, err := w.Handle(r.ctx, m)
					r.must(err)
				}()
				select {
				case <-again:
				case <-handled:
					r.must(errors.New("the worker read the row once only"))
				}
			}
		}
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
	})
}
