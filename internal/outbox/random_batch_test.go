package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// wholes are the transactions of a schedule over several entities that were not seen yet: the
// rows that each writes, by the age that only its entities have.
type wholes struct {
	mu   sync.Mutex
	keys map[string][]string
}

func (w *wholes) add(age int32, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keys == nil {
		w.keys = map[string][]string{}
	}
	w.keys[fmt.Sprint(age)] = append(w.keys[fmt.Sprint(age)], key)
}

// check checks that all entities of a transaction are seen for the first time together.
func (w *wholes) check(rows map[string]map[string]any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for age, keys := range w.keys {
		var seen []string
		for _, key := range keys {
			if fmt.Sprint(rows[key]["Age"]) == age {
				seen = append(seen, key)
			}
		}
		if len(seen) == len(keys) {
			delete(w.keys, age)
		} else if len(seen) > 0 {
			return fmt.Errorf("of the transaction on %v, only %v is stored", keys, seen)
		}
	}
	return nil
}

// errOther is the result of an operation that was not applied because of another one.
var errOther = errors.New("another operation of the transaction failed")

// together draws the new versions of one to three entities of the department of first. Those
// of a group compete for few values but with each other, so most transactions succeed.
func (r *storeRun) together(chance *rand.Rand, first *hire) []*hire {
	hires := []*hire{first}
	ids, emails, badges := chance.Perm(3), chance.Perm(3), chance.Perm(6)
	for i := range 2 + chance.IntN(2) {
		h := drawHire(chance)
		h.Dept, h.Age = first.Dept, first.Age
		if r.crowd == forGroup {
			h.Dept, h.ID = "Sales", fmt.Sprint(ids[i])
			h.Email, h.Badge = []string{"", "e1", "e2"}[emails[i]], []string{"", "", "", "", "b1", "b2"}[badges[i]]
			if i == 0 {
				*first = *h
				continue
			}
		}
		r.keepApart(h)
		if !slices.ContainsFunc(hires, func(o *hire) bool { return o.ID == h.ID }) {
			hires = append(hires, h)
		}
	}
	return hires
}

// batch runs a transaction over several entities of one department, and records its results:
// two swap their addresses, or each is inserted, changed or deleted, with values that they
// compete for.
func (r *storeRun) batch(ctx context.Context, p *process, chance *rand.Rand, first *hire) error {
	hires := r.together(chance, first)
	swap := chance.IntN(2) == 0 && r.added == "" && len(hires) > 1
	items := make([]patterns.Item[hire], len(hires))
	actions := make([]harness.Action, len(hires))
	b := p.Batch()
	for i, h := range hires {
		kind, a := chance.IntN(6), &actions[i]
		if r.crowd == forGroup {
			kind = []int{0, 1, 1, 2, 2, 3, 4, 5}[chance.IntN(8)]
		}
		a.A = fmt.Sprint(h.Age)
		if swap && i < 2 {
			kind = 4
		}
		if kind >= 4 {
			was, err := r.get(ctx, p, h)
			if err != nil {
				return err
			}
			items[i], a.ETag = was, string(was.ETag)
		}
		switch kind {
		case 0:
			a.Kind = harness.InsertRow
			b.Insert(h)
		case 1:
			a.Kind = harness.PutRow
			b.Put(h)
		case 2:
			a.Kind = harness.UpdateRow
			b.Update(h.key(), func(now *hire) error {
				a.Saw = fmt.Sprint(now.Age)
				*now = *h
				return nil
			})
		case 3:
			a.Kind = harness.Remove
			b.Delete(h.key())
		case 4:
			a.Kind = harness.ReplaceRow // added below: a swap needs both items
		case 5:
			a.Kind = harness.DeleteRow
			b.DeleteItem(items[i])
		}
	}
	if swap {
		hires[0].Email, hires[1].Email = items[1].Value.Email, items[0].Value.Email
	}
	var order []int // of the operations in the batch
	for i := range hires {
		if actions[i].Kind != harness.ReplaceRow {
			order = append(order, i)
		}
	}
	for i, h := range hires {
		if actions[i].Kind == harness.ReplaceRow {
			order = append(order, i)
			b.PutItem(items[i], h)
		}
		if r.watched && actions[i].Kind != harness.Remove && actions[i].Kind != harness.DeleteRow {
			r.wholes.add(h.Age, h.key().Partition+"|"+h.key().Row)
		}
	}
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	written, err := b.Commit(ctx)
	failed := -1
	if e := new(patterns.BatchError); errors.As(err, &e) {
		failed = e.Index
	}
	for nth, i := range order {
		etag, result := "", err
		if err == nil {
			etag = string(written[nth].ETag)
		} else if nth != failed && !errors.Is(err, patterns.ErrOutcomeUnknown) {
			result = errOther
		}
		r.record(p, hires[i], began, actions[i], etag, result, int(unanswered.Load()))
	}
	return err
}
