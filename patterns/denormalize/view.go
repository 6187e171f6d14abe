package denormalize

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
)

// Options are the options of [Intra] and [Inter]. nil and the zero value mean the
// defaults.
type Options struct {
	// Existing means that the view does not create a missing row. If the row is in the
	// entity's partition, the operation then fails with [patterns.ErrNotFound]. By default
	// a missing row is created with these properties alone.
	Existing bool

	// Version identifies the function, of which nothing else is known; see
	// [patterns.Shape.Version]. The names of the properties and the other options are part
	// of the definition anyway.
	Version string
}

// Intra returns a view that stores what in rows of the entities' own partitions, which change in
// the same transaction. name is that of the view; see [patterns.View]. A row in another partition
// needs [Inter]: without an outbox, an operation that concerns one fails.
//
// Intra makes no request. If an argument is invalid, [patterns.NewStore] returns an error that
// names it.
func Intra[T any](name string, what Part[T], opts *Options) patterns.View[T] {
	return newView(name, what, patterns.Shape{}, opts)
}

// Inter returns a view that stores what in rows of other partitions: of table, which may be in
// another account, or, if table is nil, of the entities' own table. They are updated through the
// [patterns.StoreOptions.Outbox]. Otherwise Inter is like [Intra].
func Inter[T any](name string, table *aztables.Client, what Part[T], opts *Options) patterns.View[T] {
	shape := patterns.Shape{Remote: true}
	if table != nil {
		shape.Target = patterns.TableTarget(name, table)
	}
	return newView(name, what, shape, opts)
}

// merged is the view that [Intra] and [Inter] return.
type merged[T any] struct {
	name     string
	what     Part[T]
	shape    patterns.Shape
	existing bool
}

func newView[T any](name string, what Part[T], shape patterns.Shape, opts *Options) *merged[T] {
	var o Options
	if opts != nil {
		o = *opts
	}
	shape.Kind = patterns.Merges
	shape.Version = fmt.Sprintf("%q %t %q", what.properties, o.Existing, o.Version)
	return &merged[T]{name, what, shape, o.Existing}
}

func (m *merged[T]) Name() string { return m.name }

func (m *merged[T]) Engine() (*view.View, error) {
	err := m.what.err
	if err == nil && m.what.of == nil {
		err = fmt.Errorf("part: %w", patterns.ErrNil)
	}
	return &view.View{Name: m.name, Shape: m.shape, Rows: func(e any) ([]patterns.DerivedRow, error) { return m.rows(e.(*T)) }}, err
}

func (m *merged[T]) rows(e *T) ([]patterns.DerivedRow, error) {
	at, spec, ok, err := m.what.of(e)
	if !ok || err != nil {
		return nil, err
	}
	spec.Existing = m.existing
	return []patterns.DerivedRow{patterns.MergeRow(at, spec)}, nil
}
