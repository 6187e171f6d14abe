package secondaryindex

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
)

// LookupIndex is an index in other partitions that needs no outbox: a [patterns.View] whose rows
// contain only the key of an entity. The Store inserts a row before the transaction that adds
// its value, and deletes it after the one that removes the value. So a row can be superfluous, and is
// never missing; a [LookupReader] compares each with its entity. A LookupIndex is immutable and safe for
// concurrent use. It can be a variable of a package if it needs no client.
type LookupIndex[T any] struct {
	index  *Index[T] // its names, keys and partitions
	values func(*T) []string
	clean  bool
}

// Lookup returns an index of several values of an entity, which several entities may have. values
// returns them: in any order, repeated or not, and nil if the entity is not in the index. It must be a
// pure function. The rows are in table, which may be in another account, or, if table is nil, in the
// primaries' own table. name begins their partition keys; it has 1 to 64 letters, digits, '-' and '.',
// and must differ from that of every other index in the table. An entity can have 819 lookup rows.
//
// Of the options only Fold, Key, Partition, RemoveSuperfluous and Version have a meaning.
//
// Lookup makes no request. If an argument or an option is invalid, [patterns.NewStore] returns
// an error that names it.
func Lookup[T any](name string, table *aztables.Client, values func(*T) []string, opts *Options[T]) *LookupIndex[T] {
	o := Options[T]{NonUnique: true}
	if opts != nil {
		o.Fold, o.Key, o.Partition, o.Version = opts.Fold, opts.Key, opts.Partition, opts.Version
	}
	ix := &LookupIndex[T]{index: Inter(name, table, func(*T) (string, bool) { return "", false }, &o), values: values}
	switch {
	case values == nil:
		ix.index.def.Refuse(azerr.Errorf("function for the values: %w", azerr.ErrNil))
	case opts == nil:
	case opts.NonUnique || opts.Only != nil || opts.Copy != nil || opts.Owner != nil || opts.Adopt != 0 || opts.Duplicates != nil:
		ix.index.def.Refuse(azerr.Errorf("%w: of the Options, Lookup has only Fold, Key, Partition, RemoveSuperfluous and Version", azerr.ErrBadOption))
	default:
		ix.clean = opts.RemoveSuperfluous
	}
	return ix
}

// Name returns the name of the index, which is also that of the view.
func (ix *LookupIndex[T]) Name() string { return ix.index.Name() }

// Engine is for the Store; see [patterns.View].
func (ix *LookupIndex[T]) Engine() (*view.View, error) {
	v, err := ix.index.Engine()
	v.Shape.Kind, v.Layout = patterns.Lookups, view.Layout{}
	v.Rows = func(e any) ([]patterns.DerivedRow, error) { return ix.rows(e.(*T)) }
	return v, err
}

// rows returns the rows of e, without their ids.
func (ix *LookupIndex[T]) rows(e *T) (rows []patterns.DerivedRow, err error) {
	seen := map[string]bool{}
	for _, value := range ix.values(e) {
		if value = ix.index.def.Normalize(value); seen[value] {
			continue
		}
		seen[value] = true
		key, err := ix.index.key(e, value)
		if err != nil {
			return nil, err
		}
		rows = append(rows, patterns.DerivedRow{Key: key, Kind: patterns.Lookups})
	}
	return rows, nil
}
