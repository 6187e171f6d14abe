package compoundkey

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// ID identifies a parent.
type ID struct {
	Partition string // the partition key, not escaped
	Parent    string // any text except ""; it is escaped in the row key
}

// Family is a table with parents of type P and children of type C. It is safe for
// concurrent use, starts no goroutine that outlives a call, and does not have to be
// closed. Make one with [New]; the methods of the zero Family that make requests return
// [patterns.ErrNil].
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
	// BareParent stores the parent under its ID alone, without the separator, as the
	// design guide does. IDs should have the same length: Get and Delete also read, and
	// drop, the rows of parents whose IDs begin with this one and a character below "_",
	// such as a digit.
	BareParent bool

	// StampWrites is [patterns.TableOptions.StampWrites], for both types.
	StampWrites bool
}

// The sentinels of this package; match them with [errors.Is].
var (
	// ErrNoID means that the ID of a parent or child is empty. It matches
	// [patterns.ErrBadKey].
	ErrNoID = azerr.Errorf("%w: the ID of a parent or child is empty", patterns.ErrBadKey)

	// ErrWrongParent means that a child does not belong to the parent with which it was
	// to be stored.
	ErrWrongParent = azerr.Sentinel("child does not belong to this parent")
)

// New returns a Family on the client's table. parent returns the ID of a parent. child
// returns the ID of a child's parent and the child's own ID. Both must be pure functions.
// New makes no request. The table must exist before the first write; [Family.Create] creates it.
// The error names the field of P or C that cannot be stored.
func New[P, C any](client *aztables.Client, parent func(*P) ID, child func(*C) (ID, string), opts *Options) (*Family[P, C], error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if parent == nil || child == nil {
		return nil, fmt.Errorf("compound key: ID function: %w", patterns.ErrNil)
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
		Key:         func(c *C) (keys.Key, error) { return f.ChildKey(child(c)) },
		StampWrites: o.StampWrites,
	})
	if err != nil {
		return nil, fmt.Errorf("compound key: child: %w", err)
	}
	f.rows, err = patterns.NewTable[patterns.Row](client, &patterns.TableOptions[patterns.Row]{Keyless: true, StampWrites: o.StampWrites})
	if err != nil {
		return nil, fmt.Errorf("compound key: %w", err)
	}
	return f, nil
}

// usable returns an error for a nil or zero Family.
func (f *Family[P, C]) usable() error {
	if f == nil || f.rows == nil {
		return fmt.Errorf("compound key: family: %w", patterns.ErrNil)
	}
	return nil
}

// Client returns the client that was passed to New.
func (f *Family[P, C]) Client() *aztables.Client { return f.parents.Client() }

// Create creates the table; it is not an error if the table exists. One request.
func (f *Family[P, C]) Create(ctx context.Context) error {
	if err := f.usable(); err != nil {
		return err
	}
	return f.rows.Create(ctx)
}

const separator = "_"

// ParentKey returns the key of the parent's row.
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

// ChildKey returns the key of the row of a child.
func (f *Family[P, C]) ChildKey(id ID, child string) (keys.Key, error) {
	if id.Parent == "" || child == "" {
		return keys.Key{}, ErrNoID
	}
	k := keys.Key{Partition: id.Partition, Row: prefix(id) + keys.Escape(child)}
	return k, k.Validate()
}

// prefix returns what the row keys of all children begin with, and that of the parent
// unless it is bare.
func prefix(id ID) string { return keys.Escape(id.Parent) + separator }
