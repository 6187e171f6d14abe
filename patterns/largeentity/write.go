package largeentity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Insert stores v as a new entity. If an entity with its key exists, the error is
// [patterns.ErrExists]. One request, preceded by one for each blob. If this Table has made
// no request yet, the first write of a blob takes one more, which determines the name of
// the table.
func (t *Table[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	if err := t.usable(); err != nil {
		return Item[T]{}, err
	}
	if v == nil {
		return Item[T]{}, fmt.Errorf("insert: value: %w", patterns.ErrNil)
	}
	key, err := t.table.Key(v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	u := newUploads()
	item, err := t.write(ctx, "insert", key, v, nil, u)
	t.deleteUnreferenced(ctx, u, err)
	return item, err
}

// Replace replaces the entity that item was read from, if its ETag is still that of item.
// If the entity was changed since, the error is [patterns.ErrConflict]; if it was deleted,
// [patterns.ErrNotFound]. One request, preceded by one for each blob with new content.
//
// Unchanged content stays in its blob. A property that was not loaded (see [Item.Loaded])
// also stays in its blob, unless Value contains a new value for it. The properties for
// which T has no field are kept. Blobs to which the entity no longer refers are kept for at
// least the grace period, until [Table.Sweep] or the outbox message of [Options.Outbox]
// deletes them.
func (t *Table[T]) Replace(ctx context.Context, item Item[T]) (Item[T], error) {
	if err := t.usable(); err != nil {
		return Item[T]{}, err
	}
	u := newUploads()
	next, err := t.replace(ctx, item, u)
	t.deleteUnreferenced(ctx, u, err)
	return next, err
}

func (t *Table[T]) replace(ctx context.Context, item Item[T], u *uploads) (Item[T], error) {
	if item.ETag == "" || item.ETag == azcore.ETagAny {
		// An unconditional write could refer to blobs that have been swept.
		return Item[T]{}, fmt.Errorf("replace: %w", patterns.ErrBadETag)
	}
	key, err := t.table.Key(&item.Value)
	var none T
	switch zero, zeroErr := t.zeroKey(&none); {
	case err == nil && key == item.Key, zeroErr == nil && key == zero, err != nil && zeroErr != nil:
		// In the last two cases the key cannot be derived from Value, for example because
		// the fields of the key are not stored.
	case err != nil:
		return Item[T]{}, fmt.Errorf("replace: %w", err)
	default:
		return Item[T]{}, fmt.Errorf("replace: %w", patterns.ErrKeyChanged)
	}
	return t.write(ctx, "replace", item.Key, &item.Value, &item, u)
}

// zeroKey returns the key of the zero value. Options.Key need not support that value, and
// may panic.
func (t *Table[T]) zeroKey(none *T) (key keys.Key, err error) {
	defer func() {
		if recover() != nil {
			err = patterns.ErrBadKey
		}
	}()
	return t.table.Key(none)
}

// Update reads the entity at key with its blobs, calls change to modify the value, and
// replaces the entity under the ETag that was read. If another writer was faster, it starts
// again. Therefore change may run several times, and must do nothing but modify its
// argument. It must not change the key. An error from change ends the update and is
// returned unchanged. Each try takes the requests of [Table.Get] and [Table.Replace], but
// content that was uploaded for one try is used by the next.
func (t *Table[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	return t.update(ctx, key, t.Get, change)
}

// UpdateMeta is Update without reading the blobs: in the argument of change, the fields
// that are stored in blobs are zero. A field that stays zero keeps its blob; a field that
// change sets is written.
func (t *Table[T]) UpdateMeta(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	return t.update(ctx, key, t.GetMeta, change)
}

func (t *Table[T]) update(ctx context.Context, key keys.Key, get func(context.Context, keys.Key) (Item[T], error), change func(*T) error) (next Item[T], err error) {
	if err := t.usable(); err != nil {
		return next, err
	}
	if change == nil {
		return next, fmt.Errorf("update: function: %w", patterns.ErrNil)
	}
	u := newUploads()
	defer func() { t.deleteUnreferenced(ctx, u, err) }()
	for try := 1; ; try++ {
		item, err := get(ctx, key)
		if err != nil {
			return Item[T]{}, err
		}
		if err := change(&item.Value); err != nil {
			return Item[T]{}, err
		}
		next, err := t.replace(ctx, item, u)
		if !errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrOutcomeUnknown) || try >= t.tries {
			return next, err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return Item[T]{}, err
		}
	}
}

// Delete deletes the entity at key if it has that ETag, as [patterns.Table.Delete] does.
// Its blobs are kept for at least the grace period, so that readers can finish, until
// [Table.Sweep] or the outbox message of [Options.Outbox] deletes them. One request; with
// an outbox three, because the references are read and sent in the message.
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	if err := t.usable(); err != nil {
		return err
	}
	if t.outbox != nil {
		return t.deleteWithOutbox(ctx, key, etag)
	}
	return t.table.Delete(ctx, key, etag)
}

// write writes v at key, first the blobs and then the row. The row replaces old, or is
// inserted if old is nil.
func (t *Table[T]) write(ctx context.Context, what string, key keys.Key, v *T, old *Item[T], u *uploads) (Item[T], error) {
	p, err := t.plan(key, v, old, u)
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
	if len(p.pending) > 0 {
		if err := t.prepare(ctx, key, p, base, old == nil); err != nil {
			return Item[T]{}, fmt.Errorf("%s: %w", what, err)
		}
	}
	if t.outbox != nil || len(p.pending) > 0 {
		p.relyOn(time.Now())
	}
	if err := t.sendMessage(ctx, key, p.pending, droppedBy(p, old)); err != nil {
		return Item[T]{}, fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel, err := t.inTime(ctx, p.start)
	defer cancel()
	if err == nil && len(p.pending) > 0 {
		err = t.upload(ctx, p, u)
		if late := t.checkTime(p.start); late != nil {
			err = late
		}
	}
	if err != nil {
		return Item[T]{}, fmt.Errorf("%s: %w", what, err)
	}
	row, err := t.table.Do(ctx, t.op(p, base))
	if err != nil {
		return Item[T]{}, err
	}
	u.referenced(p.refs)
	return t.writtenItem(v, row, p), nil
}

// inTime returns a context that ends half a grace period after start, the time of the
// outbox message or of the oldest upload that a write relies on; zero for none. The other
// half is for requests that are late. It returns [ErrTooSlow] if that time has passed.
func (t *Table[T]) inTime(ctx context.Context, start time.Time) (context.Context, context.CancelFunc, error) {
	if start.IsZero() {
		return ctx, func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.grace/2-calls.Elapsed(start), ErrTooSlow)
	return ctx, cancel, t.checkTime(start)
}

// checkTime returns [ErrTooSlow] if half a grace period has passed since start.
func (t *Table[T]) checkTime(start time.Time) error {
	if calls.Elapsed(start) >= t.grace/2 {
		return ErrTooSlow
	}
	return nil
}

// prepare names the pending blobs. It returns an error if the row would be refused, so that
// nothing is uploaded for it.
func (t *Table[T]) prepare(ctx context.Context, key keys.Key, p *plan[T], base patterns.Op[T], insert bool) error {
	prefix, known := t.blobPrefix()
	p.nameBlobs(prefix)
	if b := t.table.Batch().Add(t.op(p, base)); b.Len() == 0 {
		_, err := b.Commit(ctx) // returns the reason, without a request
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
	if prefix, known = t.blobPrefix(); !known {
		return patterns.ErrBadReply
	}
	p.nameBlobs(prefix)
	return nil
}

// writtenItem returns the Item of an entity that was written with value v.
func (t *Table[T]) writtenItem(v *T, row patterns.Item[T], p *plan[T]) Item[T] {
	item := Item[T]{Value: *v, Key: row.Key, ETag: row.ETag, row: row, blobs: p.refs, loaded: map[string]bool{}, unchecked: p.unchecked}
	var zero T
	item.row.Value = zero
	for i := range t.fields {
		f := &t.fields[i]
		item.loaded[f.property] = !f.isZero(v)
	}
	t.bindStreams(&item)
	return item
}

// referenced records that a row now refers to refs.
func (u *uploads) referenced(refs references) {
	for _, ref := range refs {
		delete(u.unreferenced, ref.Name)
	}
}

// deleteUnreferenced deletes the uploaded blobs to which no row refers, unless err, the
// outcome of the call, leaves this open. It ignores failures, because Sweep finds the
// blobs later.
func (t *Table[T]) deleteUnreferenced(ctx context.Context, u *uploads, err error) {
	if len(u.unreferenced) == 0 || err != nil && !provesUnwritten(err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for name, etag := range u.unreferenced {
		if _, err := (orphan{etag: etag}).delete(ctx, t.blobs, name); err != nil {
			return
		}
	}
}

// provesUnwritten reports whether err proves that the row was not and will not be written.
func provesUnwritten(err error) bool {
	if errors.Is(err, patterns.ErrOutcomeUnknown) {
		return false
	}
	for _, refusal := range []error{patterns.ErrConflict, patterns.ErrExists, patterns.ErrNotFound, patterns.ErrTableNotFound,
		patterns.ErrTooLarge, ErrTooSlow} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}
