package widerow

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Package wideentity publishes these errors and documents them.
var (
	ErrTorn       = azerr.Sentinel("rows of the entity do not fit together")
	ErrForeignRow = azerr.Sentinel("a row that is not a part of the entity has the key of one")
	ErrParts      = azerr.Sentinel("part out of range")
)

// MaxParts is the largest number of parts. With the head and the marker of a staged write
// they are the 100 rows of one transaction.
const MaxParts = 98

const (
	defaultParts    = 16
	defaultTries    = 16
	defaultParallel = 8
)

// Options are the options of [New]. Package wideentity documents them.
type Options struct {
	Parts    int
	PartOf   func(property string) int
	Plain    bool
	Tries    int
	Parallel int

	Encryption *types.Encryption
}

// Table is a table of entities of one Go type, each stored in several rows. Entities are
// passed as pointers to that type. It is safe for concurrent use. A nil Table refuses
// every operation.
type Table struct {
	Client *wire.Client

	// BatchBytes is the size above which a write is staged. Tests reduce it.
	BatchBytes int

	// Age returns how long ago t was by the clock of the service. Tests replace it.
	Age func(t time.Time) time.Duration

	typ      reflect.Type
	key      func(entity any) (keys.Key, error) // nil: the type has its key
	codec    *edm.Codec
	names    map[string]struct{} // of the type's properties; nil: any
	layout   distribution
	tries    int
	parallel int
}

// New returns a Table of entities of type typ. If key is nil, the type has the fields PartitionKey
// and RowKey, or is a map. It makes no request.
func New(client *aztables.Client, typ reflect.Type, key func(entity any) (keys.Key, error), o Options) (*Table, error) {
	if client == nil {
		return nil, fmt.Errorf("client: %w", azerr.ErrNil)
	}
	c := wire.NewClient(client)
	box, err := txn.Box(c, o.Encryption)
	if err != nil {
		return nil, err
	}
	codec, err := edm.SplitCodecFor(typ, box)
	if err != nil {
		return nil, err
	}
	t := &Table{
		Client: c, BatchBytes: wire.MaxBatchBytes,
		typ: typ, codec: codec, key: key, tries: o.Tries, parallel: o.Parallel,
	}
	if key == nil && !codec.HasKeys() && !codec.Open() {
		return nil, fmt.Errorf("%v has no fields PartitionKey and RowKey, and Options.Key is not set: %w", typ, keys.ErrBadKey)
	}
	t.Age = t.Client.Age
	if t.tries <= 0 {
		t.tries = defaultTries
	}
	if t.parallel <= 0 {
		t.parallel = defaultParallel
	}
	if o.Parts == 0 {
		o.Parts = defaultParts
	}
	if t.layout, err = newLayout(o.Parts, o.PartOf, o.Plain); err != nil {
		return nil, err
	}
	if codec.Open() {
		return t, nil
	}
	t.names = make(map[string]struct{})
	for _, f := range codec.Fields() {
		t.names[f.Name] = struct{}{}
		if err := t.layout.check(f.Name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

var errNoTable = azerr.Errorf("table: %w", azerr.ErrNil)

// entityKey returns the key of *v, and checks it.
func (t *Table) entityKey(v any) (key keys.Key, rows entityRows, err error) {
	switch {
	case t == nil:
		return key, rows, errNoTable
	case v == nil:
		return key, rows, errNoValue
	case t.key != nil:
		if key, err = t.key(v); err != nil {
			return key, rows, fmt.Errorf("key: %w", azerr.Seal(err))
		}
	default:
		var ok bool
		if key.Partition, key.Row, ok = t.codec.Keys(v); !ok {
			return key, rows, fmt.Errorf("%w: the value has no PartitionKey and RowKey", keys.ErrBadKey)
		}
	}
	rows, err = t.rowsOf(key)
	return key, rows, err
}

// rowsOf checks key and returns the rows of its entity.
func (t *Table) rowsOf(key keys.Key) (entityRows, error) {
	if t == nil {
		return entityRows{}, errNoTable
	}
	rows := rowsAt(key)
	if key.Row == "" {
		return rows, fmt.Errorf("%w: an entity needs an id in Key.Row", keys.ErrBadKey)
	}
	// The marker has the longest key that the entity may need.
	return rows, rows.marker(newVersion()).Validate()
}

// checkNames refuses names that the type cannot have.
func (t *Table) checkNames(names []string) error {
	for _, name := range names {
		_, ok := t.names[name]
		if t.names == nil {
			ok = query.Prop(name).Eq("").Err() == nil && !edm.IsReserved(name) && t.layout.check(name) == nil
		}
		if !ok {
			return &types.PropertyError{Property: name, Want: "a property of the type", Got: "another name"}
		}
	}
	return nil
}

// attempt calls try until it does not ask to retry, at most t.tries times.
func (t *Table) attempt(ctx context.Context, try func() (retry bool, err error)) error {
	for n := 1; ; n++ {
		retry, err := try()
		if err == nil || !retry || n >= t.tries {
			return err
		}
		if paused := calls.Pause(ctx, n); paused != nil {
			return errors.Join(err, paused)
		}
	}
}

// changedSince reports whether err means that the entity is not the version that was to
// be changed.
func changedSince(err error) bool {
	return !errors.Is(err, azerr.ErrOutcomeUnknown) &&
		(errors.Is(err, azerr.ErrConflict) || errors.Is(err, azerr.ErrExists) || errors.Is(err, azerr.ErrNotFound))
}
