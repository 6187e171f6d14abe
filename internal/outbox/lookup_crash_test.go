package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// lookupExpiry is twice as long as a request of these tests may be late. The service refuses one that is a quarter of an hour old.
const lookupExpiry = 28 * time.Minute

// lookupCalls are the calls that change lookup rows.
func lookupCalls() map[string]scenario {
	ann, bob := &hire{Dept: "Sales", ID: "1", Name: "Ann", Last: "Jones"}, &hire{Dept: "Sales", ID: "2", Name: "Bob", Last: "Jones"}
	both := func(ctx context.Context, p *process) error {
		return errors.Join(drop(p.Insert(ctx, ann)), drop(p.Insert(ctx, bob)))
	}
	rename := func(h *hire) error { h.Name = "Anna"; return nil }
	ops := []patterns.StoreOp[hire]{
		patterns.UpdateEntity(ann.key(), rename), patterns.DeleteEntity[hire](bob.key()), patterns.InsertEntity(&hire{Dept: "Sales", ID: "3", Name: "Bob", Last: "Smith"}),
	}
	return map[string]scenario{
		"insert": {func(context.Context, *process) error { return nil }, func(ctx context.Context, p *process) error { return drop(p.Insert(ctx, ann)) }},
		"change": {both, func(ctx context.Context, p *process) error { return drop(p.Update(ctx, ann.key(), rename)) }},
		"put": {both, func(ctx context.Context, p *process) error {
			return drop(p.Put(ctx, &hire{Dept: "Sales", ID: "1", Name: "Anna", Last: "Smith"}))
		}},
		"delete": {both, func(ctx context.Context, p *process) error { return p.Delete(ctx, ann.key()) }},
		"batch": {both, func(ctx context.Context, p *process) error {
			batch := p.Batch()
			for _, op := range ops {
				batch.Add(op)
			}
			return drop(batch.Commit(ctx))
		}},
		"bulk": {both, func(ctx context.Context, p *process) error {
			report, err := p.Bulk(ctx, slices.Values(ops), nil)
			if err == nil && report.Failed > 0 {
				err = fmt.Errorf("%+v", report)
			}
			return err
		}},
		"sweep": {leaveSuperfluous, func(ctx context.Context, p *process) error { return drop(p.Sweep(ctx, nil)) }},
	}
}

// leaveSuperfluous stores two entities, and loses the delete of a former lookup row of each. It returns when the rows are old.
func leaveSuperfluous(ctx context.Context, p *process) error {
	for _, name := range []string{"Ann", "Bob"} {
		h := &hire{Dept: "Sales", ID: name, Name: name, Last: "Jones"}
		if _, err := p.Insert(ctx, h); err != nil {
			return err
		}
		p.loseRequest = func(method, _ string) bool { return method == "DELETE" }
		_, err := p.Update(ctx, h.key(), func(h *hire) error { h.Name += "a"; return nil })
		if p.loseRequest = nil; err != nil {
			return err
		}
	}
	time.Sleep(2 * lookupExpiry)
	return nil
}

// newLookups returns a cluster whose only view is byLookup, on which sc is ready to run.
func (sc *scenario) newLookups(ctx context.Context) (*cluster, error) {
	c, err := newCluster(ctx, []string{"byLookup"})
	if err != nil {
		return nil, err
	}
	c.expiry = lookupExpiry
	p, err := c.start(&process{})
	if err != nil {
		return nil, err
	}
	return c, sc.before(ctx, p)
}

// atMostOneIsSuperfluous checks that no lookup row is missing, and that one row of each value of an entity
// at most is superfluous.
func (c *cluster) atMostOneIsSuperfluous(ctx context.Context) error {
	stored, err1 := readTable(ctx, c.other)
	rows, err2 := readTable(ctx, c.own)
	if err := errors.Join(err1, err2, c.checkLookups(ctx, false)); err != nil {
		return err
	}
	var names strings.Builder
	for _, p := range rows {
		fmt.Fprintf(&names, "%v,", p["azp_lookups"])
	}
	of := map[string]int{}
	for key := range stored {
		end := strings.LastIndex(key, " ")
		if strings.Contains(names.String(), key[end+1:]) {
			continue
		}
		if of[key[:end]]++; of[key[:end]] > 1 {
			return fmt.Errorf("two superfluous rows of %s", key[:end])
		}
	}
	return nil
}

// afterwards checks what a call with one fault has left, and that a sweep leaves nothing of it.
func (c *cluster) afterwards(ctx context.Context) error {
	if err := c.atMostOneIsSuperfluous(ctx); err != nil {
		return err
	}
	time.Sleep(2 * lookupExpiry)
	return errors.Join(c.sweep(ctx), c.clean(ctx))
}

func TestACrashAtAnyRequestOfALookupLeavesOneSuperfluousRowOfAValueAtMost(t *testing.T) {
	t.Parallel()
	sample := harness.Sample(t, 2)
	for name, sc := range lookupCalls() {
		points := 0
		for at, killed := 1, true; killed; at++ {
			if !sample(at) {
				continue
			}
			for _, after := range []bool{false, true} {
				assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
					c, err := sc.newLookups(ctx)
					if err != nil {
						return err
					}
					p, err := c.start(&process{die: at, after: after})
					if err != nil {
						return err
					}
					err = sc.call(ctx, p)
					if killed = p.Dead(); killed {
						points, err = points+1, nil
					}
					return errors.Join(err, c.afterwards(ctx))
				}), nil, name, "killed at request", at, "after it:", after)
			}
		}
		if points == 0 {
			t.Errorf("%s: %d crash points", name, points)
		}
		t.Logf("%s: %d crash points", name, points)
	}
}

func TestALostReplyToAnyRequestOfALookupDoesNotChangeTheResult(t *testing.T) {
	t.Parallel()
	sample := harness.Sample(t, 2)
	for name, sc := range lookupCalls() {
		steps := 1
		var want map[string]string
		for at := 0; at <= steps; at++ { // 0 for none
			if at > 0 && !sample(at) {
				continue
			}
			assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
				c, err := sc.newLookups(ctx)
				if err != nil {
					return err
				}
				p, err := c.start(&process{lost: at})
				if err != nil {
					return err
				}
				if err := sc.call(ctx, p); err != nil {
					return err
				}
				rows, err := readTable(ctx, c.own)
				got := map[string]string{}
				for key, row := range rows {
					h := hireOf(key, row)
					got[key] = h.Name + " " + h.Last
				}
				if at == 0 {
					steps, want = p.steps, got
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					err = fmt.Errorf("have %v, want %v", got, want)
				}
				return errors.Join(err, c.afterwards(ctx))
			}), nil, name, "reply", at, "lost")
		}
	}
}

// Each write of a call in turn arrives when half of Expiry has almost passed. Meanwhile nothing happens, or all entities are deleted.
func TestALateRequestOfALookupLeavesNoRowThatIsMissing(t *testing.T) {
	t.Parallel()
	sample := harness.Sample(t, 2)
	const late = lookupExpiry/2 - time.Second
	for name, sc := range lookupCalls() {
		requests := 0
		for nth, arrived := 1, true; arrived; nth++ {
			if !sample(nth) {
				continue
			}
			for _, deleted := range []bool{false, true} {
				assert.Equal(t, inVirtualTime(t, func(ctx context.Context) error {
					c, err := sc.newLookups(ctx)
					if err != nil {
						return err
					}
					p, err1 := c.start(&process{})
					err2 := c.account.Fault(storagetest.On("Table.*").Where(func(q storagetest.Request) bool {
						return q.Op != "Table.Get" && q.Op != "Table.Query"
					}).Nth(nth).LateRequest(late, late))
					if err := errors.Join(err1, err2, sc.call(ctx, p)); err != nil && !errors.Is(err, patterns.ErrOutcomeUnknown) {
						return err
					}
					if deleted {
						rows, err := readTable(ctx, c.own)
						other, err1 := c.start(&process{})
						if err := errors.Join(err, err1); err != nil {
							return err
						}
						for key, row := range rows {
							h := hireOf(key, row)
							if err := other.Delete(ctx, h.key()); err != nil {
								return err
							}
						}
					}
					time.Sleep(late)
					if arrived = c.account.Arrive() == 1; arrived {
						requests++
					}
					c.account.ClearFaults()
					return c.afterwards(ctx)
				}), nil, name, "write", nth, "late, the entities are deleted:", deleted)
			}
		}
		if requests == 0 {
			t.Errorf("%s: no request was late", name)
		}
		t.Logf("%s: %d late requests", name, requests)
	}
}
