package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// primaries returns the rows of the entities as text.
func (c *cluster) primaries(ctx context.Context) (map[string]string, error) {
	rows, err := readTable(ctx, c.own)
	all := map[string]string{}
	for key, row := range rows {
		if strings.Contains(key, "|id_") {
			all[key] = show(row)
		}
	}
	return all, err
}

func TestALostReplyToAnyRequestDoesNotChangeTheResult(t *testing.T) {
	t.Parallel()
	for what, follow := range map[string]patterns.Follow{"immediately": patterns.Immediately, "with a Finisher": withFinisher} {
		t.Run(what, func(t *testing.T) { loseReplies(t, follow) })
	}
}

// loseReplies loses the reply to each request of a writer, in every scenario.
func loseReplies(t *testing.T, follow patterns.Follow) {
	points, sample := 0, harness.Sample(t, 3)
	for name, sc := range scenarios() {
		steps := 1
		var want map[string]string
		for at := 0; at <= steps; at++ { // 0 for none
			if at > 0 && !sample(at) {
				continue
			}
			points++
			err := inVirtualTime(t, func(ctx context.Context) error {
				c, pr, err := prepared(ctx, sc, follow, 0, false)
				if err != nil {
					return err
				}
				pr.lost = at
				if err := sc.run(ctx, pr); err != nil && !(errors.Is(err, harness.ErrLost) && strings.Contains(err.Error(), "outbox message")) {
					return err
				} else if err != nil {
					return errors.Join(c.recover(ctx), c.clean(ctx))
				}
				got, err := c.primaries(ctx)
				if err != nil {
					return err
				}
				if at == 0 {
					steps, want = pr.steps, got
				}
				if !maps.Equal(got, want) {
					return fmt.Errorf("have %v, want %v", got, want)
				}
				return errors.Join(c.recover(ctx), c.clean(ctx))
			})
			assert.Equal(t, err, nil, name, "reply", at, "lost")
		}
	}
	t.Logf("%d lost replies", points)
}

// Another writer changes the entity before the first writer, whose reply was lost, has
// resolved the outcome.
func TestAConcurrentChangeAfterALostReplyIsAConflict(t *testing.T) {
	testRace(t, func(r *race) {
		a, b := r.process(), r.process()
		var changed atomic.Bool
		a.loseReply = func(_, path string) bool { return !changed.Load() && strings.HasSuffix(path, "$batch") }
		a.sending = func(method, path string) {
			if method == "GET" && strings.Contains(path, "~azp_outbox_") && changed.CompareAndSwap(false, true) {
				_, err := b.Update(r.ctx, jones().key(), func(h *hire) error { h.Name = "Ann Smith"; return nil })
				r.must(err)
			}
		}
		item, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		if _, err := a.PutItem(r.ctx, item, jones()); !changed.Load() || !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("(changed: %v) a write over the other's change: %v", changed.Load(), err)
		}
	})
}

// The reply to a Put is lost, the row is changed before it is read again, and no try is left.
func TestAWriteThatMayBeAppliedIsNotAConflict(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, viewsHere)
		if err != nil {
			return err
		}
		other, err1 := c.start(&process{})
		a, err2 := c.start(&process{tries: 1})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		h := jones()
		if _, err := a.Insert(ctx, h); err != nil {
			return err
		}
		var raced atomic.Bool
		a.sending = func(method, path string) {
			if method != "GET" || !a.replyIsLost() || !raced.CompareAndSwap(false, true) {
				return
			}
			_, err = other.Update(ctx, h.key(), func(h *hire) error { h.Age++; return nil })
		}
		a.lost = a.steps + 2 // read, write
		h.Name = "Ann Smith"
		_, perr := a.Put(ctx, h)
		if !raced.Load() || !errors.Is(perr, patterns.ErrOutcomeUnknown) || errors.Is(perr, patterns.ErrConflict) {
			t.Errorf("(raced: %v) got %v", raced.Load(), perr)
		}
		return errors.Join(err, inPartition(ctx, c))
	})
	assert.Equal(t, err, nil)
}
