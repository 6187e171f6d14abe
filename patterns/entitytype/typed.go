package entitytype

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// verb is what a write does with a value.
type verb int

const (
	insert verb = iota
	upsert
	replace
	merge
)

// write is a change of one row, of whatever type.
type write struct {
	verb  verb
	key   keys.Key
	value any           // a pointer to the Go type
	mode  patterns.Mode // of an upsert
	read  entity        // for replace and merge: what was read
	etag  azcore.ETag   // and the version that it must still have
}

// typed is the table as rows of one Go type.
type typed interface {
	do(ctx context.Context, w write, property, text string) (azcore.ETag, error)
	join(b *patterns.Batch[patterns.Row], w write, property, text string)
}

// entity is a decoded row: an Item[T] without its type.
type entity interface {
	value() any // *T
	// row is the same row without what T has fields for.
	row() patterns.Item[patterns.Row]
	key() keys.Key
}

type item[T any] struct{ patterns.Item[T] }

func (i *item[T]) value() any { return &i.Value }

func (i *item[T]) row() patterns.Item[patterns.Row] {
	return patterns.WithValue(i.Item, patterns.Row{})
}

func (i *item[T]) key() keys.Key { return i.Key }

// as is the row in the version etag with another value.
func (i *item[T]) as(v T, etag azcore.ETag) patterns.Item[T] {
	row := patterns.WithValue(i.Item, v)
	row.ETag = etag
	return row
}

// registration is a Go type in a Registry.
type registration[T any] struct {
	name typeName
	up   func(T) (any, error)
}

func (r *registration[T]) typed(client *aztables.Client) (typed, error) {
	t, err := patterns.NewTable(client, &patterns.TableOptions[T]{Keyless: true})
	return &typedTable[T]{t}, err
}

func (r *registration[T]) decode(row patterns.Item[patterns.Row]) (entity, error) {
	i, err := patterns.Decode[T](row)
	return &item[T]{i}, err
}

func (r *registration[T]) upcast(e entity) (any, error) {
	if r.up == nil {
		return nil, nil
	}
	return r.up(e.(*item[T]).Value)
}

func (r *registration[T]) adopt(row patterns.Item[patterns.Row], v any) (entity, bool) {
	if p, ok := v.(*T); ok && p != nil {
		v = *p
	}
	value, ok := v.(T)
	return &item[T]{patterns.WithValue(row, value)}, ok
}

type typedTable[T any] struct{ table *patterns.Table[T] }

func (t *typedTable[T]) op(w write, property, text string) patterns.Op[T] {
	var op patterns.Op[T]
	switch v, _ := w.value.(*T); w.verb {
	case insert:
		op = patterns.InsertOp(v).At(w.key)
	case upsert:
		op = patterns.UpsertOp(v, w.mode).At(w.key)
	case replace:
		op = patterns.ReplaceOp(w.read.(*item[T]).as(*v, w.etag))
	case merge:
		op = patterns.MergeOp(w.read.(*item[T]).as(*v, w.etag))
	}
	if text != "" {
		op = op.With(property, text)
	}
	return op
}

func (t *typedTable[T]) do(ctx context.Context, w write, property, text string) (azcore.ETag, error) {
	i, err := t.table.Do(ctx, t.op(w, property, text))
	return i.ETag, err
}

func (t *typedTable[T]) join(b *patterns.Batch[patterns.Row], w write, property, text string) {
	patterns.AddTo(b, t.table, t.op(w, property, text))
}
