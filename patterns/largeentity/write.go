package largeentity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Insert stores v as a new entity, or fails with [patterns.ErrExists]. One request, and
// one before it for each blob. The first call that has a blob to write, where this
// Table has read and written nothing yet, takes one more, to learn the table's name.
func (t *Table[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	if v == nil {
		return Item[T]{}, fmt.Errorf("insert: value: %w", patterns.ErrNil)
	}
	key, err := t.table.Key(v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	a := newAttempt()
	item, err := t.write(ctx, "insert", key, v, nil, a)
	t.clearAway(ctx, a, err)
	return item, err
}

// Replace replaces the entity that item was read from, if it still has item's ETag:
// [patterns.ErrConflict] where it was changed since, [patterns.ErrNotFound] where it is
// gone. One request, and one before it for each blob whose content is new: content
// that is the same stays where it is, and so does what item was read without
// (see [Item.Loaded]), unless Value has something else in its place. Properties that T
// has no field for stay.
//
// Blobs that the entity refers to no longer stay for the grace time at least, until
// [Table.Sweep] or the wake-up of [Options.Outbox].
func (t *Table[T]) Replace(ctx context.Context, item Item[T]) (Item[T], error) {
	a := newAttempt()
	next, err := t.replace(ctx, item, a)
	t.clearAway(ctx, a, err)
	return next, err
}

func (t *Table[T]) replace(ctx context.Context, item Item[T], a *attempt) (Item[T], error) {
	if item.ETag == "" || item.ETag == azcore.ETagAny {
		// Without a condition a row could come to refer to blobs that were swept.
		return Item[T]{}, fmt.Errorf("replace: %w", patterns.ErrBadETag)
	}
	key, err := t.table.Key(&item.Value)
	var none T
	switch zero, zeroErr := t.keyOf(&none); {
	case err == nil && key == item.Key, zeroErr == nil && key == zero, err != nil && zeroErr != nil:
		// The last two: Value does not tell its key, as when that is not stored.
	case err != nil:
		return Item[T]{}, fmt.Errorf("replace: %w", err)
	default:
		return Item[T]{}, fmt.Errorf("replace: %w", patterns.ErrKeyChanged)
	}
	return t.write(ctx, "replace", item.Key, &item.Value, &item, a)
}

// keyOf is the key of a zero value, for which a key function need not be ready.
func (t *Table[T]) keyOf(none *T) (key keys.Key, err error) {
	defer func() {
		if recover() != nil {
			err = patterns.ErrBadKey
		}
	}()
	return t.table.Key(none)
}

// Update reads the entity at key with its blobs, lets change alter it, and replaces it
// under its ETag; when someone else was faster it starts over, so change may run several
// times and must do nothing but alter its argument. An error from change ends the
// update and is returned as it is. The key must not change. The requests are those of
// [Table.Get] and of [Table.Replace], as many times as there are tries; content
// uploaded for one try serves the next.
func (t *Table[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	return t.update(ctx, key, t.Get, change)
}

// UpdateMeta is Update without reading the blobs: change sees the fields that stand in
// them as zero. What it leaves zero stays as it is; what it sets is written.
func (t *Table[T]) UpdateMeta(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	return t.update(ctx, key, t.GetMeta, change)
}

func (t *Table[T]) update(ctx context.Context, key keys.Key, get func(context.Context, keys.Key) (Item[T], error), change func(*T) error) (next Item[T], err error) {
	if change == nil {
		return next, fmt.Errorf("update: function: %w", patterns.ErrNil)
	}
	a := newAttempt()
	defer func() { t.clearAway(ctx, a, err) }()
	for try := 1; ; try++ {
		item, err := get(ctx, key)
		if err != nil {
			return Item[T]{}, err
		}
		if err := change(&item.Value); err != nil {
			return Item[T]{}, err
		}
		next, err := t.replace(ctx, item, a)
		if !errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrOutcomeUnknown) || try >= t.tries {
			return next, err
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return Item[T]{}, err
		}
	}
}

// Delete deletes the entity at key if it has that ETag; see [patterns.Table.Delete].
// Its blobs stay for the grace time at least, so that those who read them can go on:
// until [Table.Sweep], or the wake-up of [Options.Outbox]. One request; with an outbox
// three, as the references have to be read and put into the wake-up.
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	if t.outbox != nil {
		return t.deleteLater(ctx, key, etag)
	}
	return t.table.Delete(ctx, key, etag)
}

// write writes v at key: blobs, then the row, in place of old if that is not nil.
func (t *Table[T]) write(ctx context.Context, what string, key keys.Key, v *T, old *Item[T], a *attempt) (Item[T], error) {
	p, err := t.plan(key, v, old, a)
	if err != nil {
		return Item[T]{}, fmt.Errorf("%s: %w", what, err)
	}
	base := patterns.InsertOp(&p.value)
	if old != nil {
		row := old.row
		row.Key, row.ETag, row.Value = old.Key, old.ETag, p.value
		base = patterns.ReplaceOp(row)
	}
	base = base.At(key)
	if len(p.out) > 0 {
		if err := t.prepare(ctx, key, p, base, old == nil); err != nil {
			return Item[T]{}, fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := t.later(ctx, key, p.out, dropped(old, p)); err != nil {
		return Item[T]{}, fmt.Errorf("%s: %w", what, err)
	}
	if len(p.out) > 0 {
		if err := t.upload(ctx, p, a); err != nil {
			return Item[T]{}, fmt.Errorf("%s: %w", what, err)
		}
	}
	if !p.since.IsZero() {
		deadline := p.since.Add(t.grace / 2)
		if !time.Now().Before(deadline) {
			return Item[T]{}, fmt.Errorf("%s: %w", what, ErrTooSlow)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, deadline, ErrTooSlow)
		defer cancel()
	}
	row, err := t.table.Do(ctx, p.op(base))
	if err != nil {
		return Item[T]{}, err
	}
	a.settled(p.refs)
	return t.written(v, row, p), nil
}

// dropped is what the row that is replaced refers to and the new one, as far as planned,
// does not.
func dropped[T any](old *Item[T], p *plan[T]) references {
	gone := references{}
	if old != nil {
		for name, ref := range old.blobs {
			if !p.refs.has(ref.Name) {
				gone[name] = ref
			}
		}
	}
	return gone
}

// prepare finds out what would refuse the row, so that nothing is uploaded for it,
// and names the blobs.
func (t *Table[T]) prepare(ctx context.Context, key keys.Key, p *plan[T], base patterns.Op[T], insert bool) error {
	folder, known := t.folder()
	p.name(folder)
	if b := t.table.Batch().Add(p.op(base)); b.Len() == 0 {
		_, err := b.Commit(ctx) // says why; sends nothing
		return err
	}
	if known {
		return nil
	}
	switch _, err := t.table.Get(ctx, key); {
	case err == nil && insert:
		return patterns.ErrExists
	case err != nil && !errors.Is(err, patterns.ErrNotFound):
		return err
	}
	if folder, known = t.folder(); !known {
		return patterns.ErrBadReply
	}
	p.name(folder)
	return nil
}

// written is the Item of an entity just written.
func (t *Table[T]) written(v *T, row patterns.Item[T], p *plan[T]) Item[T] {
	item := Item[T]{Value: *v, Key: row.Key, ETag: row.ETag, row: row, blobs: p.refs, loaded: map[string]bool{}}
	var zero T
	item.row.Value = zero
	for i := range t.fields {
		f := &t.fields[i]
		item.loaded[f.name] = !f.isZero(v)
	}
	t.bind(&item)
	return item
}

// settled notes that a row refers to refs now.
func (a *attempt) settled(refs references) {
	for _, ref := range refs {
		delete(a.spare, ref.Name)
	}
}

// clearAway deletes the blobs that the attempt uploaded and certainly no row refers to,
// as well as it can: Sweep finds the rest. err is how the attempt ended.
func (t *Table[T]) clearAway(ctx context.Context, a *attempt, err error) {
	if len(a.spare) == 0 || err != nil && !certain(err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for name := range a.spare {
		if _, err := t.blobs.NewBlobClient(name).Delete(ctx, nil); err != nil {
			return
		}
	}
}

// certain reports whether err says that the row was not written, and never will be.
func certain(err error) bool {
	if errors.Is(err, patterns.ErrOutcomeUnknown) {
		return false
	}
	for _, refused := range []error{patterns.ErrConflict, patterns.ErrExists, patterns.ErrNotFound, patterns.ErrTableNotFound,
		patterns.ErrTooLarge, ErrTooSlow} {
		if errors.Is(err, refused) {
			return true
		}
	}
	return false
}
