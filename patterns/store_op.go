package patterns

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/clone"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// StoreOp is one change of an entity of a [Store] and the rows derived from it, for
// [StoreBatch.Add] and [Store.Bulk]. Its value must not change until it was carried out.
// The zero StoreOp is refused with [ErrNil]. A StoreOp is an immutable value and safe for
// concurrent use as long as its value does not change.
type StoreOp[T any] struct{ op storeOp }

// storeOp is a StoreOp of any type.
type storeOp struct {
	name   string
	key    keys.Key // of an operation without a value
	value  any
	was    *txn.Record
	spent  *atomic.Bool           // of was: an update may have changed what its value refers to
	change func(entity any) error // of an update

	// plan completes the intent of the operation, which has its name, its key and was.
	plan func(o *storeOp, engine *outbox.Store, in *outbox.Intent) error
}

const (
	opInsert = "insert"
	opPut    = "put"
	opUpdate = "update"
	opDelete = "delete"
)

// InsertEntity is [Store.Insert].
func InsertEntity[T any](v *T) StoreOp[T] {
	return StoreOp[T]{storeOp{name: opInsert, value: pointer(v), plan: (*storeOp).insert}}
}

// PutEntity is [Store.Put]; with [StoreOp.Was] it is [Store.PutItem].
func PutEntity[T any](v *T) StoreOp[T] {
	return StoreOp[T]{storeOp{name: opPut, value: pointer(v), plan: (*storeOp).put}}
}

// UpdateEntity is [Store.Update]; with [StoreOp.Was] it is [Store.UpdateItem].
func UpdateEntity[T any](key keys.Key, change func(*T) error) StoreOp[T] {
	op := storeOp{name: opUpdate, key: key, plan: (*storeOp).update}
	if change != nil {
		op.change = func(entity any) error { return change(entity.(*T)) }
	}
	return StoreOp[T]{op}
}

// DeleteEntity is [Store.Delete]; with [StoreOp.Was] it is [Store.DeleteItem]. In a [StoreBatch]
// the entity must exist.
func DeleteEntity[T any](key keys.Key) StoreOp[T] {
	return StoreOp[T]{storeOp{name: opDelete, key: key, plan: (*storeOp).delete}}
}

// Was names the version of the entity that was read, which saves the read. A put or a delete
// fails with [ErrConflict] if the entity was changed since, and with [ErrNotFound] if it was
// deleted; an update starts over. An insert is refused with [ErrExists], and the row of a view with
// [ErrBadKey].
//
// was must have the key of the operation. Until the operation was carried out, was must stay as it
// was read, or as a write of the Store returned it, with all that its Value refers to: see
// [Store.PutItem]. An update changes a copy. It may be carried out again after a failure, and after
// [Store.Explain]; if T hides memory from the copy, it then reads the entity, see
// [Store.UpdateItem].
func (o StoreOp[T]) Was(was Item[T]) StoreOp[T] {
	o.op.was, o.op.spent = recordOf(was), new(atomic.Bool)
	return o
}

// intent returns what the engine is to do. It refuses an operation that cannot be carried
// out, without a request.
func (o *storeOp) intent(engine *outbox.Store) (*outbox.Intent, error) {
	in := &outbox.Intent{Op: o.name, Key: o.key, Was: o.was, Known: o.was != nil}
	if o.plan == nil {
		return in, fmt.Errorf("operation: %w", ErrNil)
	}
	err := o.plan(o, engine, in)
	if err == nil && o.was != nil {
		err = readInFull(engine, o.was)
		if err == nil && in.Key != o.was.Key {
			err = ErrKeyChanged
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", o.name, err)
	}
	return in, err
}

func (o *storeOp) update(_ *outbox.Store, in *outbox.Intent) error {
	if o.change == nil {
		return fmt.Errorf("function: %w", ErrNil)
	}
	in.Reread, in.Computed = true, true
	in.Next = func(was *txn.Record) (any, error) {
		if was == nil {
			return nil, fmt.Errorf("update: %w", ErrNotFound)
		}
		return o.changed(was.Value)
	}
	if o.was != nil && !clone.Whole(reflect.TypeOf(o.was.Value).Elem()) {
		in.Spent = o.spent
	}
	return nil
}

// changed returns the result of an update of entity, which stays as it is as far as clone.Of can
// copy it.
func (o *storeOp) changed(entity any) (any, error) {
	v := clone.Of(entity)
	return v, o.change(v)
}

func (o *storeOp) insert(engine *outbox.Store, in *outbox.Intent) error {
	if o.value != nil && o.was != nil {
		return ErrExists
	}
	in.Known = true
	return o.store(engine, in)
}

func (o *storeOp) put(engine *outbox.Store, in *outbox.Intent) error {
	in.Reread, in.Repeatable = o.was == nil, o.was == nil
	return o.store(engine, in)
}

// store completes the intent of an insert or a put.
func (o *storeOp) store(engine *outbox.Store, in *outbox.Intent) (err error) {
	if o.value == nil {
		return fmt.Errorf("value: %w", ErrNil)
	}
	in.Next = func(*txn.Record) (any, error) { return clone.Apart(o.value), nil } // the Item that results has a value of its own
	if o.was != nil {
		in.Key = o.was.Key
		return nil
	}
	in.Key, err = engine.Table.KeyOf(o.value)
	return err
}

func (o *storeOp) delete(_ *outbox.Store, in *outbox.Intent) error {
	in.Reread, in.Repeatable, in.IfExists = o.was == nil, o.was == nil, o.was == nil
	in.Next = func(*txn.Record) (any, error) { return nil, nil }
	return nil
}

// readInFull refuses an item that cannot be the result of a read.
func readInFull(engine *outbox.Store, was *txn.Record) error {
	if was.Origin != nil && was.Origin.Selected != nil {
		return ErrProjected
	}
	if err := (txn.Op{Kind: wire.Replace, ETag: was.ETag}).CheckETag(); err != nil {
		return err
	}
	if view.IsPart(was) {
		return ErrNotFound
	}
	return engine.CheckKey(was)
}

// do carries out one operation.
func (s *Store[T]) do(ctx context.Context, op StoreOp[T]) (Item[T], error) {
	return result[T](doOp(ctx, s.engine, &op.op))
}

func doOp(ctx context.Context, engine *outbox.Store, op *storeOp) (txn.Record, error) {
	in, err := op.intent(engine)
	if err != nil {
		return txn.Record{}, err
	}
	ctx, span := engine.Begin(ctx, in.Op)
	defer span.End()
	r, err := engine.Run(ctx, in)
	span.Fail(err)
	return r, err
}
