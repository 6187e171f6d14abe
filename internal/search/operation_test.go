package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// record runs an operation on one entity and records its result.
func (a *actor) record(id string, action *harness.Action, do func() (patterns.Item[thing], error)) error {
	began := a.Begin()
	item, err := do()
	res := harness.NeverRan
	row := harness.Row{ETag: string(item.ETag)}
	switch dup := new(*patterns.DuplicateError); {
	case a.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, harness.ErrLost):
		res = harness.Unknown
	case err == nil:
		res = harness.Applied
		if action.Kind == harness.Read {
			row = harness.Row{Exists: true, A: fmt.Sprint(item.Value.N), ETag: row.ETag}
		}
	case errors.As(err, dup), errors.Is(err, patterns.ErrConflict): // of derived rows, or in every try
	case errors.Is(err, patterns.ErrExists):
		res = harness.Exists
	case errors.Is(err, patterns.ErrNotFound) && action.Kind == harness.Read:
		res, row = harness.Applied, harness.Row{}
	case errors.Is(err, patterns.ErrNotFound):
		res = harness.Missing
	}
	if res == harness.NeverRan && action.Kind == harness.TouchRow {
		res = harness.Unknown // documented: the entity is rewritten if a row is wrong, also if another row belongs to another entity
	}
	again := 0
	if a.Lost() > 0 && !a.remote && (res == harness.Applied || res == harness.Unknown) {
		again = 1 // documented: without an outbox row it may be carried out again
	}
	if a.Lost() > 0 {
		row.ETag = "" // it may be that of a version that the worker has stored
	}
	a.history.Add(id, began(), *action, harness.Result{Outcome: res, Row: row}, again)
	a.End(fmt.Sprint(res, " ", item.ETag, item.Value, err))
	return err
}

func read(id string) op {
	return func(ctx context.Context, a *actor) error {
		return a.record(id, &harness.Action{Kind: harness.Read}, func() (patterns.Item[thing], error) { return a.store.Get(ctx, thingKey(id)) })
	}
}

func insert(t thing) op {
	return func(ctx context.Context, a *actor) error {
		action := &harness.Action{Kind: harness.InsertRow, A: fmt.Sprint(t.N)}
		return a.record(t.ID, action, func() (patterns.Item[thing], error) { return a.store.Insert(ctx, &t) })
	}
}

func put(t thing) op {
	return func(ctx context.Context, a *actor) error {
		action := &harness.Action{Kind: harness.PutRow, A: fmt.Sprint(t.N)}
		return a.record(t.ID, action, func() (patterns.Item[thing], error) { return a.store.Put(ctx, &t) })
	}
}

func remove(id string) op {
	return func(ctx context.Context, a *actor) error {
		return a.record(id, &harness.Action{Kind: harness.Remove}, func() (patterns.Item[thing], error) {
			return patterns.Item[thing]{}, a.store.Delete(ctx, thingKey(id))
		})
	}
}

// update changes an entity.
func update(id string, n int32, change func(*thing)) op {
	return func(ctx context.Context, a *actor) error {
		action := &harness.Action{Kind: harness.UpdateRow, A: fmt.Sprint(n)}
		return a.record(id, action, func() (patterns.Item[thing], error) {
			return a.store.Update(ctx, thingKey(id), func(now *thing) error {
				action.Saw = fmt.Sprint(now.N)
				change(now)
				now.N = n
				return nil
			})
		})
	}
}

// repair repairs the row of a badge, which the entity need not have.
func repair(id, badge string) op {
	return func(ctx context.Context, a *actor) error {
		return a.record(id, &harness.Action{Kind: harness.TouchRow}, func() (patterns.Item[thing], error) {
			return patterns.Item[thing]{}, a.store.Repair(ctx, thingKey(id), patterns.RowRef{View: "badge", Partition: "badge", Row: badge})
		})
	}
}

// find reads the entities with a tag. The entity 9, which no case changes, must be among them exactly once.
func find(tag string) op {
	return func(ctx context.Context, a *actor) error {
		a.Begin()
		found := map[string]int{}
		for item, err := range tags.On(a.store).Query(ctx, "", secondaryindex.Prefix(tag).In("tag"), &patterns.QueryOptions{Parallel: 1}) {
			if err != nil {
				a.End(err.Error())
				return err
			}
			if found[item.Value.ID]++; item.Value.Tag != tag {
				a.End("wrong")
				return fmt.Errorf("%w: %v has not the value %s", errReader, item.Value, tag)
			}
		}
		a.End(fmt.Sprint(found))
		if found["9"] != 1 {
			return fmt.Errorf("%w: %v, want 9 once", errReader, found)
		}
		return nil
	}
}

// sweep removes what is superfluous, and old enough.
func sweep(ctx context.Context, a *actor) error {
	a.Begin()
	_, err := a.store.Sweep(ctx, nil)
	a.End(fmt.Sprint(err))
	return err
}

// given inserts an entity, which the history does not have, because it expires, and so ends without an operation.
func given(t thing) op {
	return func(ctx context.Context, a *actor) error {
		a.Begin()
		_, err := a.store.Insert(ctx, &t)
		a.End(fmt.Sprint(err))
		return err
	}
}

// expired finds that an entity has expired.
func expired(id string) op {
	return func(ctx context.Context, a *actor) error {
		if _, err := a.store.Get(ctx, thingKey(id)); !errors.Is(err, patterns.ErrNotFound) {
			return fmt.Errorf("%w: %v", errExpired, err)
		}
		return nil
	}
}

// wait lets rows grow old.
func wait(context.Context, *actor) error {
	time.Sleep(2 * expiry)
	return nil
}

// sweepEnds deletes what has expired.
func sweepEnds(ctx context.Context, a *actor) error {
	a.Begin()
	report, err := ends.On(a.store).Sweep(ctx, nil)
	a.End(fmt.Sprint(report.Done, report.Lookups, report.Skipped, report.Failed, err))
	return err
}

// sweepHistory deletes the changes that are old.
func sweepHistory(ctx context.Context, a *actor) error {
	a.Begin()
	report, err := recorded.On(a.store).Sweep(ctx, nil)
	a.End(fmt.Sprint(report.Done, report.Skipped, report.Failed, err))
	return err
}

// checkHistory checks that the recorded changes of an entity are in an order, without a gap behind the oldest, and end with what is stored.
func checkHistory(ctx context.Context, a *actor, id string) error {
	var all []journal.Change[thing]
	for c, err := range recorded.On(a.store).History(ctx, thingKey(id), nil) {
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	slices.Reverse(all)
	number := func(t *thing) int32 {
		if t == nil {
			return 0
		}
		return t.N
	}
	now := int32(0)
	for i, c := range all {
		if i == 0 {
			now = number(c.Before)
		}
		if i > 0 && c.Version <= all[i-1].Version || number(c.Before) != now || (c.Event == journal.Inserted) != (now == 0) || (c.Event == journal.Deleted) != (c.After == nil) {
			return fmt.Errorf("%w: change %d of %+v", errHistory, i, all)
		}
		now = number(c.After)
	}
	item, err := a.store.Get(ctx, thingKey(id))
	if err != nil && !errors.Is(err, patterns.ErrNotFound) {
		return err
	}
	if len(all) > 0 && item.Value.N != now {
		return fmt.Errorf("%w: stored is %d after %+v", errHistory, item.Value.N, all)
	}
	if len(all) == 0 && err == nil {
		return fmt.Errorf("%w: there is none", errHistory)
	}
	return nil
}

// announce puts a message without an operation, and onMessage waits for one.
func announce(ctx context.Context, a *actor) error {
	_, err := a.Outbox().Put(ctx, patterns.OutboxMessage{Partition: home, ID: "none"}, 0)
	return err
}

func onMessage(do op) op {
	return func(ctx context.Context, a *actor) error {
		return a.Receive(ctx, func(ctx context.Context, _ patterns.OutboxMessage) (time.Duration, error) {
			return 0, do(ctx, a)
		})
	}
}

// member is an operation of a transaction.
type member struct {
	id     string
	action harness.Action
	add    func(*patterns.StoreBatch[thing])
}

func insertOf(t thing) member {
	return member{t.ID, harness.Action{Kind: harness.InsertRow, A: fmt.Sprint(t.N)}, func(b *patterns.StoreBatch[thing]) { b.Insert(&t) }}
}

// together carries several operations out in one transaction.
func together(all ...member) op {
	return func(ctx context.Context, a *actor) error {
		began := a.Begin()
		b := a.store.Batch()
		for _, m := range all {
			m.add(b)
		}
		items, err := b.Commit(ctx)
		failed := new(patterns.BatchError)
		errors.As(err, &failed)
		for i, m := range all {
			res, row := harness.NeverRan, harness.Row{}
			switch {
			case a.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, harness.ErrLost):
				res = harness.Unknown
			case err == nil:
				res = harness.Applied
				if a.Lost() == 0 {
					row.ETag = string(items[i].ETag)
				}
			case errors.Is(err, patterns.ErrExists) && err != nil && failed.Index == i && !errors.As(err, new(*patterns.DuplicateError)):
				res = harness.Exists
			}
			a.history.Add(m.id, began(), m.action, harness.Result{Outcome: res, Row: row}, 0)
		}
		a.End(fmt.Sprint(items, err))
		return err
	}
}

const later = patterns.Later
