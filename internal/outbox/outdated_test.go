package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
)

// before calls do immediately before the first request with this method and the end of its path.
func (p *process) before(method, path string, do func()) (called *atomic.Bool) {
	called = new(atomic.Bool)
	p.sending = func(m, at string) {
		if m == method && strings.HasSuffix(at, path) && called.CompareAndSwap(false, true) {
			do()
		}
	}
	return called
}

func (r *race) update(h *hire, change func(h *hire)) {
	_, err := r.process().Update(r.ctx, h.key(), func(h *hire) error { change(h); return nil })
	r.must(err)
}

// Two entities pass values on while the first one is repaired: a repair that has read the old
// version finds that the row has another owner.
func TestARepairReportsNoDuplicateOfAnEntityThatHasPassedTheRowOn(t *testing.T) {
	const rowEmail = "(PartitionKey='Sales',RowKey='email_e1')"
	for name, test := range map[string]struct {
		method, path string
		rows         []patterns.RowRef
	}{
		"all rows, before a row of the partition is read":      {"GET", rowEmail, nil},
		"all rows, before a row elsewhere is read":             {"GET", rowB7, nil},
		"a row of the partition, before its entity is read":    {"GET", "(PartitionKey='Sales',RowKey='id_000223')", []patterns.RowRef{{View: "byEmail", Partition: "Sales", Row: "email_e1"}}},
		"a row elsewhere, before it is read":                   {"GET", rowB7, []patterns.RowRef{{View: "byBadge", Partition: "badge", Row: "B7"}}},
		"a row elsewhere, before the entity's ETag is changed": {"POST", "$batch", []patterns.RowRef{{View: "byBadge", Partition: "badge", Row: "B7"}}},
	} {
		t.Run(name, func(t *testing.T) {
			testRace(t, func(r *race) {
				p := r.process()
				first, second := jones(), &hire{Dept: "Sales", ID: "2", Name: "Bob", Last: "Bloggs", Email: "e2", Badge: "B2"}
				first.Email = "e1"
				for _, h := range []*hire{first, second} {
					_, err := r.process().Insert(r.ctx, h)
					r.must(err)
				}
				raced := p.before(test.method, test.path, func() {
					r.update(first, func(h *hire) { h.Email, h.Badge = "e3", "B3" })
					r.update(second, func(h *hire) { h.Email, h.Badge = "e1", "B7" })
				})
				r.must(p.Repair(r.ctx, first.key(), test.rows...))
				if !raced.Load() {
					r.must(errors.New("the entities did not change"))
				}
			})
		})
	}
}

// A program without the Store has written the entity, so its rows are read.
func TestAnOutdatedVersionIsAConflictAndNoDuplicate(t *testing.T) {
	testRace(t, func(r *race) {
		first, second := jones(), &hire{Dept: "Sales", ID: "2", Name: "Bob", Last: "Bloggs", Email: "e2"}
		table, err := newHires(r.own, patterns.StoreOptions[hire]{})
		r.must(err)
		_, err = table.Insert(r.ctx, first)
		r.must(err)
		_, err = r.process().Insert(r.ctx, second)
		r.must(err)
		p := r.process()
		was, err := p.Get(r.ctx, first.key())
		r.must(err)
		p.before("GET", fmt.Sprintf("(PartitionKey='Sales',RowKey='email_%s')", first.Email), func() {
			r.update(first, func(h *hire) { h.Email = "e3" })
			r.update(second, func(h *hire) { h.Email = "jonesj@contoso.com" })
		})
		_, err = p.PutItem(r.ctx, was, first)
		if !errors.Is(err, patterns.ErrConflict) || errors.As(err, new(*patterns.DuplicateError)) {
			r.must(fmt.Errorf("the outdated version: %w", err))
		}
	})
}

// Both entities imply the row: it is read after a version that is still the current one.
func TestARepairReportsADuplicateThatTwoEntitiesImply(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := newCluster(ctx, fewViews)
		if err != nil {
			return err
		}
		table, err := newHires(c.own, patterns.StoreOptions[hire]{})
		if err != nil {
			return err
		}
		p, err := c.start(&process{})
		if err != nil {
			return err
		}
		_, err1 := p.Insert(ctx, jones())
		again := jones()
		again.ID, again.Badge = "2", ""
		_, err2 := table.Insert(ctx, again)
		steps := p.steps
		if err := p.Repair(ctx, again.key()); !errors.As(err, new(*patterns.DuplicateError)) {
			return fmt.Errorf("repair: %w", err)
		}
		// The entity and its rows email, the owner of that row, and the entity again.
		if n := p.steps - steps; n != 4 {
			return fmt.Errorf("%d requests", n)
		}
		return errors.Join(err1, err2)
	})
	assert.Equal(t, err, nil)
}
