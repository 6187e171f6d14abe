package compoundkey

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// ID names a parent.
type ID struct {
	Partition string // the partition key, as it is
	Parent    string // any text but ""; escaped in the row key
}

// Family is the parents of type P and children of type C in one table. It may be
// used by any number of goroutines, starts none that outlives a call, and needs no
// closing.
type Family[P, C any] struct {
	parents  *patterns.Table[P]
	children *patterns.Table[C]
	rows     *patterns.Table[patterns.Row]
	parentID func(*P) ID
	childID  func(*C) (ID, string)
	bare     bool
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options struct {
	// BareParent keeps the parent at its id alone, without the separator, as the
	// design guide does.
	BareParent bool

	// StampWrites is [patterns.TableOptions.StampWrites], for both types.
	StampWrites bool
}

// ErrNoID is a parent or child id that is empty. It matches [patterns.ErrBadKey].
var ErrNoID = fmt.Errorf("%w: the id of a parent or child is empty", patterns.ErrBadKey)

// New makes a Family on the client's table. parent gives a parent's id, child that of
// a child's parent and its own; both must be pure. New makes no request; its error
// names the field of P or C that cannot be stored.
func New[P, C any](client *aztables.Client, parent func(*P) ID, child func(*C) (ID, string), opts *Options) (*Family[P, C], error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if parent == nil || child == nil {
		return nil, fmt.Errorf("compound key: id function: %w", patterns.ErrNil)
	}
	f := &Family[P, C]{parentID: parent, childID: child, bare: o.BareParent}
	var err error
	f.parents, err = patterns.NewTable(client, &patterns.TableOptions[P]{
		Key:         func(p *P) (keys.Key, error) { return f.ParentKey(parent(p)) },
		StampWrites: o.StampWrites,
	})
	if err != nil {
		return nil, fmt.Errorf("compound key: parent: %w", err)
	}
	f.children, err = patterns.NewTable(client, &patterns.TableOptions[C]{
		Key: func(c *C) (keys.Key, error) {
			id, own := child(c)
			return f.ChildKey(id, own)
		},
		StampWrites: o.StampWrites,
	})
	if err != nil {
		return nil, fmt.Errorf("compound key: child: %w", err)
	}
	f.rows, err = patterns.NewTable[patterns.Row](client, &patterns.TableOptions[patterns.Row]{Keyless: true, StampWrites: o.StampWrites})
	return f, err
}

// Client gives back the client that New took.
func (f *Family[P, C]) Client() *aztables.Client { return f.parents.Client() }

const separator = "_"

// ParentKey is where the parent stands.
func (f *Family[P, C]) ParentKey(id ID) (keys.Key, error) {
	if id.Parent == "" {
		return keys.Key{}, ErrNoID
	}
	k := keys.Key{Partition: id.Partition, Row: keys.Escape(id.Parent)}
	if !f.bare {
		k.Row += separator
	}
	return k, k.Validate()
}

// ChildKey is where the child stands.
func (f *Family[P, C]) ChildKey(id ID, child string) (keys.Key, error) {
	if id.Parent == "" || child == "" {
		return keys.Key{}, ErrNoID
	}
	k := keys.Key{Partition: id.Partition, Row: keys.Escape(id.Parent) + separator + keys.Escape(child)}
	return k, k.Validate()
}

// Parent reads a parent, or fails with [patterns.ErrNotFound]. One request.
func (f *Family[P, C]) Parent(ctx context.Context, id ID) (patterns.Item[P], error) {
	key, err := f.ParentKey(id)
	if err != nil {
		return patterns.Item[P]{}, err
	}
	return f.parents.Get(ctx, key)
}

// Child reads one child, or fails with [patterns.ErrNotFound]. One request.
func (f *Family[P, C]) Child(ctx context.Context, id ID, child string) (patterns.Item[C], error) {
	key, err := f.ChildKey(id, child)
	if err != nil {
		return patterns.Item[C]{}, err
	}
	return f.children.Get(ctx, key)
}

// Span is which children, by their ids. The zero Span is all of them.
type Span struct {
	From   string // the first id, "" for the lowest
	To     string // the id behind the last, "" for no end
	Prefix string // what the ids begin with; with it, From and To are ignored
}

// span is the row keys of the children. The parent's own key, which ends in the
// separator, is not among them.
func (s Span) rows(id ID) keys.Range {
	lead := keys.Escape(id.Parent) + separator
	all := keys.Prefix(lead)
	if s.Prefix != "" {
		return keys.EscapedPrefix(s.Prefix).Under(lead)
	}
	r := keys.Range{From: lead + keys.Escape(s.From), To: all.To}
	if s.To != "" {
		r.To = lead + keys.Escape(s.To)
	}
	return r
}

// Children gives the children of a parent in the order of their ids; the parent need
// not exist. opts may select, limit and size pages; nil is fine. Bounded to the
// family whatever the ids hold. One request for 1,000 rows.
func (f *Family[P, C]) Children(ctx context.Context, id ID, span Span, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[C], error] {
	return func(yield func(patterns.Item[C], error) bool) {
		parent, err := f.ParentKey(id)
		if err != nil {
			yield(patterns.Item[C]{}, err)
			return
		}
		filter := query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Within(span.rows(id)))
		if span.Prefix == "" && span.From == "" && !f.bare {
			filter = query.And(filter, query.RowKey.Gt(parent.Row))
		}
		for item, err := range f.children.Query(ctx, filter, ordered(opts)) {
			if !yield(item, err) {
				return
			}
		}
	}
}

// ordered is opts, made to refuse a service without order.
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
	Parent   *patterns.Item[P]  // nil where there are children only
	Children []patterns.Item[C] // in the order of their ids
}

// Read reads a parent and all its children: one request for 1,000 rows, and one beside
// them for a bare parent. A family of up to 1,000 rows whose answer is one page is read as
// it was at one moment, but for a bare parent. It fails with [patterns.ErrNotFound] where
// there is neither.
func (f *Family[P, C]) Read(ctx context.Context, id ID) (Members[P, C], error) {
	parent, err := f.ParentKey(id)
	if err != nil {
		return Members[P, C]{}, err
	}
	var m Members[P, C]
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.readRange(gctx, id, parent, &m) })
	var bare *patterns.Item[P]
	if f.bare {
		g.Go(func() error {
			item, err := f.parents.Get(gctx, parent)
			if err == nil {
				bare = &item
			} else if errors.Is(err, patterns.ErrNotFound) {
				err = nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Members[P, C]{}, err
	}
	if f.bare {
		m.Parent = bare
	}
	if m.Parent == nil && len(m.Children) == 0 {
		return m, fmt.Errorf("read family: %w", patterns.ErrNotFound)
	}
	return m, nil
}

// readRange reads what begins with the id and the separator.
func (f *Family[P, C]) readRange(ctx context.Context, id ID, parent keys.Key, m *Members[P, C]) error {
	rows := keys.Prefix(keys.Escape(id.Parent) + separator)
	filter := query.And(query.PartitionKey.Eq(id.Partition), query.RowKey.Within(rows))
	for row, err := range f.rows.Query(ctx, filter, ordered(nil)) {
		if err != nil {
			return err
		}
		if row.Key == parent {
			item, err := patterns.Decode[P](row)
			if err != nil {
				return err
			}
			m.Parent = &item
			continue
		}
		item, err := patterns.Decode[C](row)
		if err != nil {
			return err
		}
		m.Children = append(m.Children, item)
	}
	return nil
}
