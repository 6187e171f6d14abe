package entitytype

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
)

// registered is a Go type T in a Registry.
type registered interface {
	// table returns the table whose rows are values of T.
	table(client *aztables.Client, stamped bool) (typed, error)
	// zero returns a pointer to a zero T.
	zero() any
	// upcast converts a *T to a value of a later version, nil if T is the newest.
	upcast(v any) (any, error)
	// pointer returns v as a *T if it is a T or a *T, otherwise nil.
	pointer(v any) any
}

// typed is a table whose rows are values of a Go type T.
type typed interface {
	do(ctx context.Context, w write) (patterns.Item[any], error)
	addTo(b *patterns.Batch[patterns.Row], w write)
}

// verb is what a write does with a value.
type verb int

const (
	insert verb = iota
	upsert
	replace
	merge
)

// write is a write of one row of any type.
type write struct {
	verb verb
	item patterns.Item[any] // Value is a *T
	mode patterns.Mode      // of an upsert

	property, text string // the text property to be added, if text is not ""
}

// registration is the registered type T.
type registration[T any] struct{ upcaster func(T) (any, error) }

func (r *registration[T]) table(client *aztables.Client, stamped bool) (typed, error) {
	return newTypedTable[T](client, stamped)
}

func (r *registration[T]) zero() any { return new(T) }

func (r *registration[T]) upcast(v any) (any, error) {
	if r.upcaster == nil {
		return nil, nil
	}
	return r.upcaster(*v.(*T))
}

func (r *registration[T]) pointer(v any) any {
	switch v := v.(type) {
	case T:
		return &v
	case *T:
		if v != nil {
			return v
		}
	}
	return nil
}

type typedTable[T any] struct{ table *patterns.Table[T] }

func newTypedTable[T any](client *aztables.Client, stamped bool) (typedTable[T], error) {
	t, err := patterns.NewTable(client, &patterns.TableOptions[T]{Keyless: true, StampWrites: stamped})
	return typedTable[T]{t}, err
}

func (t typedTable[T]) op(w write) patterns.Op[T] {
	var op patterns.Op[T]
	switch v := w.item.Value.(*T); w.verb {
	case insert:
		op = patterns.InsertOp(v).At(w.item.Key)
	case upsert:
		op = patterns.UpsertOp(v, w.mode).At(w.item.Key)
	case replace:
		op = patterns.ReplaceOp(patterns.WithValue(w.item, *v))
	case merge:
		op = patterns.MergeOp(patterns.WithValue(w.item, *v))
	}
	if w.text != "" {
		op = op.With(w.property, w.text)
	}
	return op
}

func (t typedTable[T]) do(ctx context.Context, w write) (patterns.Item[any], error) {
	item, err := t.table.Do(ctx, t.op(w))
	return patterns.WithValue(item, w.item.Value), err
}

func (t typedTable[T]) addTo(b *patterns.Batch[patterns.Row], w write) {
	patterns.AddTo(b, t.table, t.op(w))
}
