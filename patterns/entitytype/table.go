package entitytype

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Table is a table with entities of the types in a [Registry]. It is safe for concurrent
// use, starts no goroutine that outlives a call, and does not have to be closed. Make one
// with [New]; the methods of the zero Table that make requests return [patterns.ErrNil].
type Table struct {
	registry *Registry
	rows     *patterns.Table[patterns.Row]
	reader   *patterns.Reader[any]  // of the same rows, each as its type
	tables   map[reflect.Type]typed // for writes
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options struct {
	// StampWrites is [patterns.TableOptions.StampWrites], for all types.
	StampWrites bool
}

// New returns a Table of the types that are registered now. It makes no request. The table must
// exist before the first write; [Table.Create] creates it.
func New(client *aztables.Client, registry *Registry, opts *Options) (*Table, error) {
	if registry == nil || registry.types == nil {
		return nil, fmt.Errorf("new entity table: registry: %w", patterns.ErrNil)
	}
	stamped := opts != nil && opts.StampWrites
	rows, err := patterns.NewTable(client, &patterns.TableOptions[patterns.Row]{Keyless: true, StampWrites: stamped})
	if err != nil {
		return nil, fmt.Errorf("new entity table: %w", err)
	}
	t := &Table{registry: registry, rows: rows, tables: make(map[reflect.Type]typed)}
	t.reader, err = patterns.Discriminate(rows, patterns.Discriminator{Property: registry.property, Type: registry.target})
	if err != nil {
		return nil, fmt.Errorf("new entity table: %w", err)
	}
	registry.mu.RLock()
	defer registry.mu.RUnlock()
	for goType, n := range registry.goTypes {
		if t.tables[goType], err = registry.types[n].table(client, stamped); err != nil {
			return nil, fmt.Errorf("new entity table: %w", err)
		}
	}
	if t.tables[unknownType], err = newTypedTable[map[string]any](client, stamped); err != nil {
		return nil, fmt.Errorf("new entity table: %w", err)
	}
	return t, nil
}

// usable returns an error for a nil or zero Table.
func (t *Table) usable() error {
	if t == nil || t.rows == nil {
		return fmt.Errorf("entity table: %w", patterns.ErrNil)
	}
	return nil
}

// Client returns the client that was passed to New.
func (t *Table) Client() *aztables.Client { return t.rows.Client() }

// Create creates the table; it is not an error if the table exists. One request.
func (t *Table) Create(ctx context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	return t.rows.Create(ctx)
}

// Get reads the entity at key. If it does not exist, the error matches
// [patterns.ErrNotFound]. One request.
func (t *Table) Get(ctx context.Context, key keys.Key) (Entity, error) {
	if err := t.usable(); err != nil {
		return Entity{}, err
	}
	row, err := t.reader.Get(ctx, key)
	if err != nil {
		return Entity{}, err
	}
	return t.registry.decode(row)
}

// Query returns the entities of all types that f matches, as [patterns.Table.Query] does.
// f and [patterns.QueryOptions.Select] may name any property; the one that contains the type
// is always read. A row that does not fit its type, or that an upcaster cannot
// convert, ends the sequence with an error.
func (t *Table) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[Entity, error] {
	return func(yield func(Entity, error) bool) {
		if err := t.usable(); err != nil {
			yield(Entity{}, err)
			return
		}
		for row, err := range t.reader.Query(ctx, f, t.withType(opts)) {
			var e Entity
			if err == nil {
				e, err = t.registry.decode(row)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Page is a part of the result of a query.
type Page struct {
	// Items may be empty although more pages follow.
	Items []Entity

	// Cursor is the position after this page, from which [Table.Page] continues. It is ""
	// if there are no more pages. See [patterns.Page].
	Cursor string
}

// Page reads one page of the entities that f matches: the first if cursor is "",
// otherwise the one after the page that returned cursor. It makes the requests of
// [patterns.Table.Page], and returns the errors of [Table.Query].
func (t *Table) Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (Page, error) {
	if err := t.usable(); err != nil {
		return Page{}, err
	}
	rows, err := t.reader.Page(ctx, f, cursor, t.withType(opts))
	if err != nil {
		return Page{}, err
	}
	page := Page{Items: make([]Entity, len(rows.Items)), Cursor: rows.Cursor}
	for i, row := range rows.Items {
		if page.Items[i], err = t.registry.decode(row); err != nil {
			return Page{}, err
		}
	}
	return page, nil
}

// Pages returns the pages from cursor on, "" for the first, as [Table.Page] returns them one after
// the other. After an error the sequence ends; the page of that pair has no items, but the Cursor
// with which the page can be read again. See [patterns.Table.Pages].
func (t *Table) Pages(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[Page, error] {
	return pages.Each(cursor, func(cursor string) (Page, error) {
		return t.Page(ctx, f, cursor, opts)
	}, func(p *Page) *string { return &p.Cursor })
}

// withType returns opts with a selection that includes the property that contains the type.
func (t *Table) withType(opts *patterns.QueryOptions) *patterns.QueryOptions {
	if opts == nil || opts.Select == nil {
		return opts
	}
	o := *opts
	o.Select = append(slices.Clone(o.Select), t.registry.property)
	return &o
}
