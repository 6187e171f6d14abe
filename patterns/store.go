package patterns

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// Store is a [Table] that keeps its views: every change of a primary entity
// changes the rows that follow from it. It may be used by any number of goroutines;
// it starts none that outlives a call, and needs no closing.
//
// Rows in the primary's own partition change in one transaction with it. Rows
// elsewhere follow at once in the normal case; after a crash, when a worker handles
// the operation's wake-up: see [Store.Handle].
//
// All changes of primaries must go through a Store with the same views. What the
// Store keeps for itself: row keys that begin with "~azp", and properties that
// begin with "azp_".
type Store[T any] struct {
	table  *Table[T]
	opts   StoreOptions[T]
	views  viewSet[T]
	names  string            // of all views, as stored in azp_views
	own    *tableTarget      // remote rows in the primary's own table
	outbox *Table[outboxRow] // in the same table
}

// StoreOptions are the options of [NewStore].
type StoreOptions[T any] struct {
	// Views of the table. Names must differ.
	Views []View[T]

	// Outbox is the queue of wake-ups. It is needed when a view leaves the
	// primary's partition.
	Outbox Wakeups

	// Grace is how long an operation may take before a worker looks after it. Zero
	// means one minute. An operation that takes longer is not harmed; it may have
	// to start over.
	Grace time.Duration

	// Expiry is how long the record of an operation that a worker finished is kept.
	// It must be far beyond any retry, and beyond any pause of a process in the
	// middle of an operation. Zero means one hour.
	Expiry time.Duration

	// Parallel is how many requests of one operation may be under way at once. Zero
	// means 8.
	Parallel int

	// Tries is how often an operation starts over after a lost race before it gives
	// up with [ErrConflict]. Zero means 16.
	Tries int

	// OnPending, if set, is told of an operation that was carried out but whose
	// remote rows could not all be written: a worker will do that. The operation
	// itself has succeeded.
	//
	// A [*DuplicateError] in err names a place where a row of somebody else's stands.
	// That is a mistake in the view's keys, or a row written past the Store; the
	// worker cannot mend it either until the row is gone, and ends with the wake-up in
	// the poison queue. The outbox row stays, and [Store.Sweep] tries again.
	OnPending func(ctx context.Context, primary keys.Key, err error)
}

const (
	defaultGrace  = time.Minute
	defaultExpiry = time.Hour
)

// NewStore makes a Store on table. It makes no request. It refuses views of the
// same name, and views that leave the partition where there is no outbox; the error
// names the view.
func NewStore[T any](table *Table[T], opts StoreOptions[T]) (*Store[T], error) {
	if table == nil {
		return nil, fmt.Errorf("new store: table: %w", ErrNil)
	}
	if table.keyless {
		return nil, fmt.Errorf("new store: %w: the table is keyless; its rows need keys that follow from their values", ErrBadKey)
	}
	if opts.Grace <= 0 {
		opts.Grace = defaultGrace
	}
	if opts.Expiry <= 0 {
		opts.Expiry = defaultExpiry
	}
	if opts.Parallel <= 0 {
		opts.Parallel = defaultParallel
	}
	if opts.Tries <= 0 {
		opts.Tries = defaultUpdateTries
	}
	opts.Views = slices.Clone(opts.Views)
	s := &Store[T]{table: table, opts: opts, own: &tableTarget{wire: table.wire}}
	if err := s.take(opts.Views); err != nil {
		return nil, fmt.Errorf("new store: %w", err)
	}
	codec, err := edm.CodecFor(reflect.TypeFor[outboxRow]())
	if err != nil {
		return nil, fmt.Errorf("new store: %w", err)
	}
	s.outbox = &Table[outboxRow]{
		wire: table.wire, codec: codec, key: noKey[outboxRow], keyless: true, tries: opts.Tries,
		rows: &rows[outboxRow]{wire: table.wire, codec: codec},
	}
	return s, nil
}

// take checks the views and asks for their shapes.
func (s *Store[T]) take(views []View[T]) error {
	s.views.codec = s.table.codec
	if !s.table.codec.Open() {
		s.views.fields = map[string]bool{}
		for _, f := range s.table.codec.Fields() {
			s.views.fields[f.Name] = true
		}
	}
	var names []string
	for i, v := range views {
		if v == nil {
			return fmt.Errorf("view %d: %w", i, ErrNil)
		}
		l, err := lensOf(v)
		if err != nil {
			return fmt.Errorf("view %d: %w", i, err)
		}
		if err := l.fits(names, s.opts.Outbox != nil); err != nil {
			return err
		}
		names = append(names, l.name)
		s.views.lenses = append(s.views.lenses, l)
		s.views.rows = append(s.views.rows, v.Rows)
	}
	slices.Sort(names)
	s.names = strings.Join(names, ",")
	return nil
}

// lensOf asks a view what it is.
func lensOf[T any](v View[T]) (l *lens, err error) {
	defer func() {
		if p := recover(); p != nil { // a nil *Index in the interface is the likely one
			err = fmt.Errorf("%w: Name or Shape panicked with a %T", ErrBadView, p)
		}
	}()
	l = &lens{name: v.Name()}
	if sh, ok := v.(Shaped); ok {
		l.shape = sh.Shape()
	}
	l.target = l.shape.Target
	return l, nil
}

// fits checks one view against those before it.
func (l *lens) fits(names []string, outbox bool) error {
	switch {
	case !isViewName(l.name):
		return badView(l.name, "a name has 1 to 64 letters, digits, '-', '_' and '.'")
	case slices.Contains(names, l.name):
		return badView(l.name, "two views have this name")
	case l.shape.Kind < Copies || l.shape.Kind > Merges:
		return badView(l.name, "its shape has an unknown kind")
	case l.shape.Kind == Members && l.shape.List == nil && isTable(l.target):
		return badView(l.name, "its shape has no List")
	case (l.foreign() || l.shape.Remote) && !outbox:
		return badView(l.name, "it leaves the primary's partition: StoreOptions.Outbox is needed")
	}
	if l.foreign() && l.target.ID() == "" {
		return badView(l.name, "its target has no ID")
	}
	return nil
}

func isTable(t Target) bool {
	_, ok := t.(*tableTarget)
	return t == nil || ok
}

func isViewName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}

// Table gives back the table that NewStore took. Writing through it leaves the
// views behind.
func (s *Store[T]) Table() *Table[T] { return s.table }

// Views gives back the views that NewStore took.
func (s *Store[T]) Views() []View[T] { return slices.Clone(s.opts.Views) }

// Get is [Table.Get].
func (s *Store[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	return s.table.Get(ctx, key)
}

// find reads the primary at key; nil where there is none.
func (s *Store[T]) find(ctx context.Context, key keys.Key) (*Item[T], error) {
	item, err := s.table.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if item.origin != nil {
		if view, ok := item.origin.rest.Text(propView); ok {
			return nil, &ViewError{view, fmt.Errorf("%w: the row at this key is the view's", ErrBadKey)}
		}
	}
	return &item, s.holdsKey(&item)
}

// holdsKey refuses a value that does not give its own key: its views would follow
// from the wrong fields.
func (s *Store[T]) holdsKey(item *Item[T]) error {
	key, err := s.table.Key(&item.Value)
	if err == nil && key != item.Key {
		err = fmt.Errorf("%w: a value read back must give its key, so all fields that the key is made of must be stored", ErrKeyChanged)
	}
	return err
}

// lens finds a view by name.
func (s *Store[T]) lens(name string) (*lens, error) {
	for _, l := range s.views.lenses {
		if l.name == name {
			return l, nil
		}
	}
	return nil, badView(name, "the store has no view of this name")
}
