package entitytype

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Insert stores a new entity, or fails with [patterns.ErrExists] if there is a row with
// the key. v is a pointer to a registered Go type or to an [Unknown]. Like all writes it
// returns the entity as it is stored, whose Value is v: to write it once more, change *v
// and pass the entity to [Table.Replace]. One request.
func (t *Table) Insert(ctx context.Context, key keys.Key, v any) (Entity, error) {
	return t.do(ctx, insertOf(key, v))
}

// Upsert stores an entity whether or not there is a row with the key. The row then has the
// type of v, whatever type it had before; with [patterns.Merge] it keeps the properties
// for which v has no field. The returned Entity carries no unknown properties of the
// earlier row. One request.
func (t *Table) Upsert(ctx context.Context, key keys.Key, v any, mode patterns.Mode) (Entity, error) {
	return t.do(ctx, upsertOf(key, v, mode))
}

// Replace replaces the row from which e was read, if the row still has e.ETag, and fails
// with [patterns.ErrConflict] if it was changed since. azcore.ETagAny accepts any version.
// A row of an old version becomes one of the newest version. Properties for which its type
// has no field stay. One request.
func (t *Table) Replace(ctx context.Context, e Entity) (Entity, error) {
	return t.do(ctx, changeOf(replace, e))
}

// Merge writes the properties of e over those of the row from which e was read, on the
// same condition as Replace. One request.
func (t *Table) Merge(ctx context.Context, e Entity) (Entity, error) {
	return t.do(ctx, changeOf(merge, e))
}

// Delete deletes the row at key, of whatever type, as [patterns.Table.Delete] does. One
// request.
func (t *Table) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	if err := t.usable(); err != nil {
		return err
	}
	return t.rows.Delete(ctx, key, etag)
}

// updateTries is how often Update reads and writes before it fails with ErrConflict.
const updateTries = 16

// Update reads the entity at key, calls change to modify what its Value points to, and
// replaces it. If another client changed the row meanwhile Update starts over, at most 15
// times, so change may be called several times and must do nothing but modify its
// argument. An error of change ends the update and is returned as it is. Two requests
// without a conflict, two more for each conflict.
func (t *Table) Update(ctx context.Context, key keys.Key, change func(Entity) error) (Entity, error) {
	if change == nil {
		return Entity{}, fmt.Errorf("update entity: function: %w", patterns.ErrNil)
	}
	for try := 1; ; try++ {
		e, err := t.Get(ctx, key)
		if err != nil {
			return Entity{}, err
		}
		if err := change(e); err != nil {
			return Entity{}, err
		}
		next, err := t.Replace(ctx, e)
		if !errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrOutcomeUnknown) || try == updateTries {
			return next, err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return Entity{}, err
		}
	}
}

func (t *Table) do(ctx context.Context, w entityWrite) (Entity, error) {
	table, err := t.prepare(&w)
	if err != nil {
		return Entity{}, fmt.Errorf("write entity: %w", err)
	}
	item, err := table.do(ctx, w.write)
	if err != nil {
		return Entity{}, err
	}
	return newEntity(patterns.WithValue(item, w.entity.Value), w.name), nil
}

// entityWrite is a write as the caller requested it, completed by prepare.
type entityWrite struct {
	write
	entity Entity
	name   typeName
}

func insertOf(key keys.Key, v any) entityWrite {
	return entityWrite{write: write{verb: insert}, entity: Entity{Item: patterns.Item[any]{Key: key, Value: v}}}
}

func upsertOf(key keys.Key, v any, mode patterns.Mode) entityWrite {
	w := insertOf(key, v)
	w.verb, w.mode = upsert, mode
	return w
}

func changeOf(v verb, e Entity) entityWrite {
	return entityWrite{write: write{verb: v}, entity: e}
}

// prepare checks and completes a write. It returns the table of the value's Go type.
func (t *Table) prepare(w *entityWrite) (typed, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	e := &w.entity
	p := reflect.ValueOf(e.Value)
	switch {
	case e.Value == nil, p.Kind() == reflect.Pointer && p.IsNil():
		return nil, fmt.Errorf("value: %w", patterns.ErrNil)
	case p.Kind() != reflect.Pointer:
		return nil, fmt.Errorf("%w: the value is not a pointer", ErrUnknownType)
	}
	goType := p.Type().Elem()
	table, ok := t.tables[goType]
	if !ok {
		return nil, ErrUnknownType
	}
	w.item = e.Item
	if u, ok := e.Value.(*Unknown); ok {
		w.item.Value = &u.Properties // the type is one of them
		w.name = t.registry.stored(e.Key.Row, u.Properties[t.registry.property])
	} else {
		w.name, _ = t.registry.byGoType(goType)
		if err := t.registry.checkKey(w.name, e.Key); err != nil {
			return nil, err
		}
		w.property, w.text = t.registry.property, t.registry.text(w.name)
	}
	if w.verb == replace || w.verb == merge {
		if goType != e.read.goType {
			return nil, ErrOtherType
		}
		if e.Key != e.read.key {
			return nil, patterns.ErrKeyChanged
		}
	}
	return table, nil
}
