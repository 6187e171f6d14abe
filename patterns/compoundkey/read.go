package compoundkey

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Parent reads a parent. If it does not exist, the error matches [patterns.ErrNotFound].
// One request.
func (f *Family[P, C]) Parent(ctx context.Context, id ID) (patterns.Item[P], error) {
	if err := f.usable(); err != nil {
		return patterns.Item[P]{}, err
	}
	key, err := f.ParentKey(id)
	if err != nil {
		return patterns.Item[P]{}, err
	}
	return f.parents.Get(ctx, key)
}

// Child reads one child. If it does not exist, the error matches [patterns.ErrNotFound].
// One request.
func (f *Family[P, C]) Child(ctx context.Context, id ID, child string) (patterns.Item[C], error) {
	if err := f.usable(); err != nil {
		return patterns.Item[C]{}, err
	}
	key, err := f.ChildKey(id, child)
	if err != nil {
		return patterns.Item[C]{}, err
	}
	return f.children.Get(ctx, key)
}

// Span selects children by their IDs. The zero Span selects all of them.
type Span struct {
	From   string // the first ID; "" means the lowest
	To     string // the ID after the last; "" means no end
	Prefix string // what the IDs begin with; if it is set, From and To are ignored
}

// rowKeys returns the row keys of the selected children of a parent. If the Span selects
// all children, the parent's own row key may be among them.
func (s Span) rowKeys(id ID) keys.Range {
	lead := prefix(id)
	if s.Prefix != "" {
		return keys.EscapedPrefix(s.Prefix).Under(lead)
	}
	r := keys.Range{From: lead + keys.Escape(s.From), To: keys.Prefix(lead).To}
	if s.To != "" {
		r.To = lead + keys.Escape(s.To)
	}
	return r
}

// Children returns the selected children of a parent in the order of their IDs. The parent
// need not exist. It never returns rows of other parents. One request for each 1,000 rows.
// On a service that returns results in no order the error is [patterns.ErrUnordered].
func (f *Family[P, C]) Children(ctx context.Context, id ID, span Span, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[C], error] {
	return func(yield func(patterns.Item[C], error) bool) {
		filter, err := f.childFilter(id, span)
		if err != nil {
			yield(patterns.Item[C]{}, err)
			return
		}
		f.children.Query(ctx, filter, ordered(opts))(yield)
	}
}

// Page reads one page of the children that [Family.Children] returns: the first if cursor
// is "", otherwise the one after the page that returned cursor. See [patterns.Table.Page].
// One request.
func (f *Family[P, C]) Page(ctx context.Context, id ID, span Span, cursor string, opts *patterns.QueryOptions) (patterns.Page[C], error) {
	filter, err := f.childFilter(id, span)
	if err != nil {
		return patterns.Page[C]{}, err
	}
	return f.children.Page(ctx, filter, cursor, ordered(opts))
}

// Pages returns the pages from cursor on, "" for the first, as [Family.Page] returns them one
// after the other. After an error the sequence ends; the page of that pair has no items, but the
// Cursor with which the page can be read again. See [patterns.Table.Pages].
func (f *Family[P, C]) Pages(ctx context.Context, id ID, span Span, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[C], error] {
	return pages.Each(cursor, func(cursor string) (patterns.Page[C], error) {
		return f.Page(ctx, id, span, cursor, opts)
	}, func(p *patterns.Page[C]) *string { return &p.Cursor })
}

func (f *Family[P, C]) childFilter(id ID, span Span) (query.Filter, error) {
	if err := f.usable(); err != nil {
		return query.Filter{}, err
	}
	parent, err := f.ParentKey(id)
	if err != nil {
		return query.Filter{}, err
	}
	filter := query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Within(span.rowKeys(id)))
	if span.Prefix == "" && span.From == "" && !f.bare {
		filter = query.And(filter, query.RowKey.Gt(parent.Row))
	}
	return filter, nil
}

// familyFilter matches the parent and all its children. If the parent is bare, it also
// matches rows of parents whose IDs begin with this one. The planner would turn a filter without them into two requests.
func familyFilter(id ID, parent keys.Key) query.Filter {
	r := keys.Range{From: parent.Row, To: keys.Prefix(prefix(id)).To}
	return query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Within(r))
}

// ordered returns opts with Ordered set.
func ordered(opts *patterns.QueryOptions) *patterns.QueryOptions {
	var o patterns.QueryOptions
	if opts != nil {
		o = *opts
	}
	o.Ordered = true
	return &o
}

// Members is a parent with its children.
type Members[P, C any] struct {
	Parent   *patterns.Item[P]  // nil if only children exist
	Children []patterns.Item[C] // returned by a read in the order of their IDs
}

// Get reads a parent and all its children. If neither exists, the error matches
// [patterns.ErrNotFound]. One request for each 1,000 rows; with [Options.BareParent] they
// include rows of other parents, which Get drops. The result of a single request is a
// snapshot; a result of several requests is not.
func (f *Family[P, C]) Get(ctx context.Context, id ID) (Members[P, C], error) {
	if err := f.usable(); err != nil {
		return Members[P, C]{}, err
	}
	parent, err := f.ParentKey(id)
	if err != nil {
		return Members[P, C]{}, err
	}
	lead := prefix(id)
	var m Members[P, C]
	var children []C // not yet decoded; the filter is one read, whose pages come one after another
	rows, err := patterns.Discriminate(f.rows, patterns.Discriminator{Type: func(rowKey, _ []byte, _ bool) any {
		switch {
		case string(rowKey) == parent.Row:
			return new(P)
		case strings.HasPrefix(string(rowKey), lead):
			if len(children) == 0 {
				children = make([]C, 16)
			}
			c := &children[0]
			children = children[1:]
			return c
		}
		return nil // a row of another parent
	}})
	if err != nil {
		return Members[P, C]{}, err
	}
	for row, err := range rows.Query(ctx, familyFilter(id, parent), ordered(nil)) {
		switch {
		case err != nil:
			return Members[P, C]{}, err
		case row.Key == parent:
			item := patterns.WithValue(row, *row.Value.(*P))
			m.Parent = &item
		case row.Value != nil:
			m.Children = append(m.Children, patterns.WithValue(row, *row.Value.(*C)))
		}
	}
	if m.Parent == nil && len(m.Children) == 0 {
		return m, fmt.Errorf("read family: %w", patterns.ErrNotFound)
	}
	return m, nil
}
