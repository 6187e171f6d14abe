package entitytype

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Table is a table with entities of the types of a [Registry]. It may be used by any
// number of goroutines, starts none that outlives a call, and needs no closing.
type Table struct {
	registry *Registry
	rows     *patterns.Table[patterns.Row]
	tables   map[reflect.Type]typed
}

// New makes a Table of the types that are registered by now. It makes no request.
func New(client *aztables.Client, registry *Registry) (*Table, error) {
	if registry == nil {
		return nil, fmt.Errorf("new entity table: registry: %w", patterns.ErrNil)
	}
	if err := registry.check(); err != nil {
		return nil, fmt.Errorf("new entity table: %w", err)
	}
	rows, err := patterns.NewTable[patterns.Row](client, &patterns.TableOptions[patterns.Row]{Keyless: true})
	if err != nil {
		return nil, err
	}
	t := &Table{registry: registry, rows: rows, tables: make(map[reflect.Type]typed)}
	registry.mu.RLock()
	defer registry.mu.RUnlock()
	for goType, n := range registry.goType {
		if t.tables[goType], err = registry.types[n].typed(client); err != nil {
			return nil, err
		}
	}
	t.tables[unknownType], err = (&registration[map[string]any]{}).typed(client)
	return t, err
}

var unknownType = reflect.TypeFor[Unknown]()

// Client gives back the client that New took.
func (t *Table) Client() *aztables.Client { return t.rows.Client() }

// Get reads an entity of any type, or fails with [patterns.ErrNotFound]. One request.
func (t *Table) Get(ctx context.Context, key keys.Key) (Entity, error) {
	row, err := t.rows.Get(ctx, key)
	if err != nil {
		return Entity{}, err
	}
	return t.registry.decode(row)
}

// Query gives the entities of all types that f matches, as [patterns.Table.Query]
// does; f may name any property. A row that does not fit its type, or that an
// upcaster cannot bring up to date, ends the sequence with an error.
func (t *Table) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[Entity, error] {
	return func(yield func(Entity, error) bool) {
		if opts != nil && opts.Select != nil {
			yield(Entity{}, fmt.Errorf("query entities: %w: entities of several types are read whole", patterns.ErrProjected))
			return
		}
		for row, err := range t.rows.Query(ctx, f, opts) {
			var e Entity
			if err == nil {
				e, err = t.registry.decode(row)
			}
			if err != nil {
				yield(Entity{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Insert stores a new entity; v is a pointer to a registered Go type or to an
// [Unknown]. It fails with [patterns.ErrExists] where there is a row. One request.
func (t *Table) Insert(ctx context.Context, key keys.Key, v any) (azcore.ETag, error) {
	return t.do(ctx, write{verb: insert, key: key, value: v})
}

// Upsert stores an entity whether there is a row or not. One request. With
// [patterns.Replace] the row is then of v's type, whatever it was.
func (t *Table) Upsert(ctx context.Context, key keys.Key, v any, mode patterns.Mode) (azcore.ETag, error) {
	return t.do(ctx, write{verb: upsert, key: key, value: v, mode: mode})
}

// Replace writes an entity that was read back, if it still has e.ETag:
// [patterns.ErrConflict] if it was changed since. With the ETag that Replace gives in
// e.ETag, e can be changed and written again; azcore.ETagAny is whatever version there
// is. A row of an old version gets the newest one. Properties that its type has no field
// for stay. One request.
func (t *Table) Replace(ctx context.Context, e Entity) (azcore.ETag, error) {
	return t.do(ctx, e.write(replace))
}

// Merge writes an entity's properties over those of its row, under the same condition
// as Replace. One request.
func (t *Table) Merge(ctx context.Context, e Entity) (azcore.ETag, error) {
	return t.do(ctx, e.write(merge))
}

// Delete is [patterns.Table.Delete]: it needs no type.
func (t *Table) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	return t.rows.Delete(ctx, key, etag)
}

// updateTries is how often Update starts over before it gives up.
const updateTries = 16

// Update reads an entity, lets change alter what its Value points to, and replaces
// it; when someone else was faster it starts over, so change may run several times
// and must do nothing but alter its argument. Two requests without a race.
func (t *Table) Update(ctx context.Context, key keys.Key, change func(Entity) error) error {
	if change == nil {
		return fmt.Errorf("update entity: function: %w", patterns.ErrNil)
	}
	for try := 1; ; try++ {
		e, err := t.Get(ctx, key)
		if err != nil {
			return err
		}
		if err := change(e); err != nil {
			return err
		}
		_, err = t.Replace(ctx, e)
		if err == nil || !errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrOutcomeUnknown) || try == updateTries {
			return err
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return err
		}
	}
}

func (t *Table) do(ctx context.Context, w write) (azcore.ETag, error) {
	table, text, err := t.prepare(&w)
	if err != nil {
		return "", err
	}
	return table.do(ctx, w, t.registry.property, text)
}

// ErrOtherType is an entity whose Value was exchanged for one of another type.
var ErrOtherType = errors.New("value is not of the type that was read")

// prepare finds the table of the value's type and what its property is to hold.
func (t *Table) prepare(w *write) (typed, string, error) {
	p := reflect.ValueOf(w.value)
	switch {
	case w.value == nil, p.Kind() == reflect.Pointer && p.IsNil():
		return nil, "", fmt.Errorf("write entity: value: %w", patterns.ErrNil)
	case p.Kind() != reflect.Pointer:
		return nil, "", fmt.Errorf("write entity: %w: it is no pointer", ErrUnknownType)
	}
	goType := p.Type().Elem()
	table, known := t.tables[goType]
	if !known {
		return nil, "", fmt.Errorf("write entity: %w", ErrUnknownType)
	}
	text := ""
	if u, unknown := w.value.(*Unknown); unknown {
		w.value = &u.Properties // its type is one of them
	} else {
		t.registry.mu.RLock()
		n := t.registry.goType[goType]
		t.registry.mu.RUnlock()
		if err := t.registry.checkKey(n, w.key); err != nil {
			return nil, "", fmt.Errorf("write entity: %w", err)
		}
		text = t.registry.text(n)
	}
	if w.verb == replace || w.verb == merge {
		if w.read == nil || reflect.TypeOf(w.read.value()) != reflect.TypeOf(w.value) {
			return nil, "", fmt.Errorf("write entity: %w", ErrOtherType)
		}
		if w.key != w.read.key() {
			return nil, "", fmt.Errorf("write entity: %w", patterns.ErrKeyChanged)
		}
	}
	return table, text, nil
}
