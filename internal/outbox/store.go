// Package outbox keeps the rows that are derived from entities up to date: rows in the
// entity's partition in the same transaction, rows elsewhere by a transactional outbox.
// README.md in this folder describes the protocol.
//
// The path of a change is [Store.Run], which plans and commits an [Intent]; after the
// commit the writer drains the operation, that is, brings the rows elsewhere up to date.
// What a writer leaves undone, [Store.Process] completes when the operation's message
// becomes visible, and [Store.Sweep] if the message is lost.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Config is what a [Store] works with. All fields but Queue, Finisher and OnPending must be set.
type Config struct {
	Table *txn.Table // the primaries
	Views *view.Set

	// Primaries is matched by every primary. Writes do not check it.
	Primaries query.Filter

	Queue  types.OutboxQueue // nil: no view leaves the partition
	Grace  time.Duration     // how long a message stays invisible after it was put
	Expiry time.Duration     // how long the record of a completed operation is kept

	GuardInserts bool // every insert has an outbox row
	Later        bool // a worker does what follows the transaction
	Parallel     int  // requests of one operation in flight
	Tries        int  // attempts of one operation

	Finisher *Finisher // finishes operations after their calls; nil: the calls do

	// Where, if set, calls a function with the Store whose table has the primaries of a partition now, for Get and for lookup rows. The
	// function may be called again.
	Where func(ctx context.Context, partition string, f func(*Store) error) error

	// OnPending, if set, is called with the error of an operation that was applied, but
	// whose remote rows could not all be written.
	OnPending func(ctx context.Context, primary keys.Key, err error)
}

// Store changes primaries together with the rows derived from them. It is safe for
// concurrent use.
type Store struct {
	Config
	own     *view.RemoteTable // remote rows in the primaries' own table
	records *txn.Table        // the outbox rows, in the same table
	states  *txn.Table        // the states of the views, in the same table
	lookups func(*transaction) lookupWriter
	follow  following
	put     func(ctx context.Context, s *Store, m types.OutboxMessage, hidden time.Duration) (*sentMessage, error)
	expired func(entity any) bool
	retain  func([]LookupRow) // instead of removing them; may be nil
	owner   *ownership        // shared with the Stores of Within

	// Journal records the changes of the primaries. It is nil if no view has a journal.
	Journal *journal.Journal
	record  func(partition string) recorder // nil without a journal
}

// New returns a Store.
func New(c Config) (*Store, error) {
	codec, err := edm.CodecFor(reflect.TypeFor[outboxRow]())
	if err != nil {
		return nil, err
	}
	states, err := stateTable(c.Table.Client)
	if err != nil {
		return nil, err
	}
	owner := &ownership{turn: make(chan struct{}, 1)}
	owner.known.Store(!slices.ContainsFunc(c.Views.Views, func(v *view.View) bool { t, _ := v.Where(); return t != nil }))
	s := &Store{
		Config: c,
		owner:  owner,
		states: states,
		own:    view.NewTable("", c.Table.Client),
		// Stamped, because two workers may store the same.
		records: &txn.Table{Client: c.Table.Client, Codec: codec, Zero: func() any { return new(outboxRow) }, Stamped: true},
	}
	s.follow, s.put = inCall{}, putMessage
	if c.Finisher != nil {
		s.follow, s.put = byFinisher{Finisher: c.Finisher}, c.Finisher.put
	}
	if c.Later {
		s.follow = byWorker{}
	}
	s.lookups = func(*transaction) lookupWriter { return noLookups{} }
	if slices.ContainsFunc(c.Views.Views, func(v *view.View) bool { return v.Shape.Kind == types.Lookups }) {
		s.lookups = newLookups
	}
	s.record = func(string) recorder { return nil }
	if v := c.Views.Journal(); v != nil {
		s.Journal = journal.Of(c.Table, v.Journal)
		s.record = func(partition string) recorder { return s.Journal.Begin(partition) }
	}
	s.expired = func(any) bool { return false }
	if c.Views.HasExpiring() {
		s.expired = func(entity any) bool { return s.Expired(entity, 0) }
	}
	return s, nil
}

// Retain makes the operations of s leave the lookup rows that no version names any more to the function that it returns, which removes them.
func (s *Store) Retain() (remove func(context.Context)) {
	var mu sync.Mutex
	var all []LookupRow
	s.retain = func(rows []LookupRow) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, rows...)
	}
	return func(ctx context.Context) { s.RemoveLookups(ctx, all, func(int, error) {}) }
}

// Expired reports whether an entity has expired, at least so long ago, by the clock of the service, which may be slow and is never fast.
func (s *Store) Expired(entity any, ago time.Duration) bool {
	at, ok := s.Views.Expires(entity)
	age := s.Table.Client.Age(at)
	return ok && age > 0 && age >= ago
}

// Begin begins the span of an operation.
func (s *Store) Begin(ctx context.Context, op string) (context.Context, *wire.Span) {
	return s.Table.Client.Begin(ctx, "store.", op)
}

// Get reads the primary at key, or fails with [azerr.ErrNotFound]. It fails if the row at key
// is one of a view, or not of the table's type. One request.
func (s *Store) Get(ctx context.Context, key keys.Key) (record txn.Record, err error) {
	if s.Where != nil {
		err = s.Where(ctx, key.Partition, func(at *Store) (err error) {
			record, err = at.Get(ctx, key)
			return err
		})
		return record, err
	}
	r, _, err := s.read(ctx, key)
	if err == nil && s.expired(r.Value) {
		err = fmt.Errorf("get: %w: the entity has expired", azerr.ErrNotFound)
	}
	if err != nil {
		return txn.Record{}, err
	}
	return *r, nil
}

// find reads the primary at key; nil if there is none.
func (s *Store) find(ctx context.Context, key keys.Key) (*txn.Record, error) {
	r, _, err := s.read(ctx, key)
	if errors.Is(err, azerr.ErrNotFound) {
		err = nil
	}
	return r, err
}

// read is Get. If there is no primary because the row has only what views have merged into
// it, part is that row.
func (s *Store) read(ctx context.Context, key keys.Key) (primary, part *txn.Record, err error) {
	r, err := s.Table.Get(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	if view.IsPart(&r) {
		return nil, &r, fmt.Errorf("get: %w: the row has only what views have merged into it", azerr.ErrNotFound)
	}
	if err := s.CheckKey(&r); err != nil {
		return nil, nil, err
	}
	return &r, nil, nil
}

// CheckKey refuses the row of a view, and a value that does not imply its own key: its derived rows
// would be made from the wrong fields.
func (s *Store) CheckKey(r *txn.Record) error {
	name, err := s.Views.ViewOf(r)
	if err != nil {
		return err
	}
	if name != "" {
		return &types.ViewError{View: name, Err: fmt.Errorf("%w: the row at this key is the view's", keys.ErrBadKey)}
	}
	key, err := view.KeyOf(s.Table.KeyOf, r.Value)
	if err == nil && key != r.Key {
		err = fmt.Errorf("%w: a value that was read must imply its key, so all fields that the key is made of must be stored", azerr.ErrKeyChanged)
	}
	return err
}

// tableOf returns the table of a view's remote rows; ok is false if the view's target
// is not a table.
func (s *Store) tableOf(v *view.View) (t *view.RemoteTable, ok bool) {
	if !v.Foreign() {
		return s.own, true
	}
	t, _ = v.Where()
	return t, t != nil
}

// unknownOf is the properties of a row that its entity does not have; nil for none.
func unknownOf(o *txn.Origin) *edm.Unknown {
	if o == nil {
		return nil
	}
	return &o.Unknown
}

// valueOf is the entity of r, nil if there is none.
func valueOf(r *txn.Record) any {
	if r == nil {
		return nil
	}
	return r.Value
}
