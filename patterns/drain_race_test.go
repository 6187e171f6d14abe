package patterns_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/azpatterns/azpatterns/patterns"
)

// two processes on one place; between runs inside the first one's request that
// begins with the given method and ends with the given path, once.
func between(ctx context.Context, method, path string, do func(other *process) error) (p *place, a *process, done func() error, err error) {
	if p, err = newPlace(ctx, everyView); err != nil {
		return nil, nil, nil, err
	}
	a, err1 := p.start(&process{})
	b, err2 := p.start(&process{})
	var ran atomic.Bool // a drain sends several requests at once
	var failed error
	a.sending = func(m, at string) {
		if m == method && strings.HasSuffix(at, path) && ran.CompareAndSwap(false, true) {
			failed = do(b)
		}
	}
	return p, a, func() error {
		if !ran.Load() {
			return errors.New("the request was not made")
		}
		return failed
	}, errors.Join(err1, err2)
}

func TestAWriteThatComesLateIsTakenBack(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		h := jones()
		// The entity is gone before the first writer inserts its copy elsewhere.
		p, a, done, err := between(ctx, "POST", "/other", func(b *process) error { return b.Delete(ctx, h.key()) })
		if err != nil {
			return err
		}
		_, err = a.Insert(ctx, h)
		return errors.Join(err, done(), p.recover(ctx), p.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAUniqueRowIsNeverFreeWhileItsPrimaryNeedsIt(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		h := jones()
		badge := func(p *process, badge string) error {
			_, err := p.Update(ctx, h.key(), func(h *hire) error { h.Badge = badge; return nil })
			return err
		}
		var q atomic.Pointer[process]
		// While the first writer gives B7 up, another takes it back for the same entity.
		p, a, done, err := between(ctx, "GET", "(PartitionKey='badge',RowKey='B7')", func(b *process) error {
			q.Store(b)
			return badge(b, "B7")
		})
		if err != nil {
			return err
		}
		if _, err := a.Insert(ctx, h); err != nil {
			return err
		}
		back := a.sending
		var deleted atomic.Bool
		a.sending = func(method, path string) {
			back(method, path)
			if q.Load() != nil && deleted.CompareAndSwap(true, false) { // right after a delete, were there one
				if _, err := q.Load().Insert(ctx, &hire{Dept: "Sales", ID: "2", Badge: "B7", Last: "x"}); !errors.As(err, new(*patterns.DuplicateError)) {
					t.Errorf("a second entity got the badge: %v", err)
				}
			}
			if method == "DELETE" && strings.Contains(path, "badge") {
				deleted.Store(true)
			}
		}
		err = badge(a, "B8")
		return errors.Join(err, done(), p.recover(ctx), p.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestACountThatIsMadeWhileItsMarkIsReadIsTakenBack deletes an entity whose insert is
// not drained yet. The delete's drain finds no counter; then the insert's drain makes
// counter and mark; then the delete's drain finds the mark.
func TestACountThatIsMadeWhileItsMarkIsReadIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		p, err := newPlace(ctx, []string{"company"})
		if err != nil {
			t.Fatal(err)
		}
		a, err1 := p.start(&process{})
		b, err2 := p.start(&process{})
		found, counted := make(chan bool), make(chan bool)
		var transactions atomic.Int32
		var deleted error
		a.sending = func(_, path string) {
			if !strings.HasSuffix(path, "$batch") {
				return
			}
			if transactions.Add(1) == 2 { // of the drain
				go func() { deleted = b.Delete(ctx, jones().key()); close(counted) }()
				<-found
			}
		}
		a.changed = func() {
			if transactions.Load() == 2 {
				counted <- true
				<-counted // b has finished
			}
		}
		b.sending = func(method, path string) {
			if method == "GET" && strings.Contains(path, "~azp_count_") && transactions.Load() == 2 {
				synctest.Wait() // for the answer about the counter
				found <- true
				<-counted
				transactions.Add(1) // once
			}
		}
		_, inserted := a.Insert(ctx, jones())
		if err := errors.Join(err1, err2, inserted, deleted, p.recover(ctx), p.clean(ctx)); err != nil {
			t.Error(err)
		}
	})
}

// TestAMarkOfALaterCountIsLeftAlone has an entity go and come back while the counter is
// gone, between a drain's reads and its delete of the mark.
func TestAMarkOfALaterCountIsLeftAlone(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		p, err := newPlace(ctx, []string{"company"})
		if err != nil {
			return err
		}
		a, err1 := p.start(&process{})
		b, err2 := p.start(&process{})
		_, err3 := a.Insert(ctx, jones())
		_, err4 := p.own.DeleteEntity(ctx, "company", "all", nil)
		var back atomic.Bool
		var err5 error
		b.sending = func(method, path string) {
			if method == "DELETE" && strings.Contains(path, "~azp_count_") && back.CompareAndSwap(false, true) {
				again := jones()
				again.Age++
				_, err5 = a.Insert(ctx, again)
			}
		}
		err6 := b.Delete(ctx, jones().key())
		if !back.Load() {
			return errors.New("the mark was not deleted")
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, p.recover(ctx), p.clean(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}
