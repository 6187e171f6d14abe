package expiry

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/expire"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Expiry is the [patterns.View] of a Store whose entities expire. It is immutable and safe for concurrent
// use. It can be a variable of a package if it needs no client.
type Expiry[T any] struct {
	def      naming.Definition[T]
	table    *aztables.Client
	expiring view.Expiring
}

// Options are the options of [At]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Bucket is how precisely the time of an entity is stored for the sweep, which finds an entity at the end of
	// its bucket: up to so long after it has expired, it is absent and still stored. Zero means 10 minutes. It may be changed
	// at any time.
	Bucket time.Duration

	// Spread is the number of partitions of a bucket, over which the rows of entities that expire
	// at about the same time are spread. Zero means 4. It may be changed at any time.
	Spread int

	// Key returns the key of an entity, for types without fields PartitionKey and RowKey. It must be a
	// pure function.
	Key func(*T) (keys.Key, error)
}

// At returns the view of a Store whose entities expire at the time that at returns. The zero time, and any before 1601, which
// the service cannot store, means never. at must be a pure function.
//
// The rows are in table, which may be in another account, or, if table is nil, in the entities' own
// table. name begins their partition keys; it has 1 to 64 letters, digits, '-' and '.', and must differ from
// that of every index in the table.
//
// At makes no request. If an argument or an option is invalid, [patterns.NewStore] returns an error that
// names it.
func At[T any](name string, table *aztables.Client, at func(*T) time.Time, opts *Options[T]) *Expiry[T] {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	x := &Expiry[T]{table: table, def: naming.Definition[T]{Name: name, Key: o.Key, Value: func(*T) (string, bool) { return "", false }}}
	x.def.Init()
	x.def.NeedsKey()
	if at == nil {
		x.def.Refuse(fmt.Errorf("function for the time: %w", patterns.ErrNil))
	}
	x.def.Refuse(azerr.Default(&o.Bucket, 10*time.Minute, "Bucket"))
	x.def.Refuse(azerr.Default(&o.Spread, 4, "Spread"))
	x.expiring = view.Expiring{At: func(e any) time.Time { return at(e.(*T)) }, Bucket: o.Bucket, Spread: o.Spread}
	return x
}

// Name returns the name of the view.
func (x *Expiry[T]) Name() string { return x.def.Name }

// Engine is for the Store; see [patterns.View].
func (x *Expiry[T]) Engine() (*view.View, error) {
	v := &view.View{Name: x.def.Name, Shape: patterns.Shape{Kind: patterns.Lookups, Remote: true}, Expiring: &x.expiring}
	if x.table != nil {
		v.Shape.Target = patterns.TableTarget(x.def.Name, x.table)
	}
	v.Rows = func(e any) ([]patterns.DerivedRow, error) {
		primary, err := x.def.Primary(e.(*T))
		if err != nil {
			return nil, err
		}
		return x.expiring.Rows(x.def.Name, e, primary)
	}
	return v, x.def.Err()
}

// Sweeper deletes the entities of a Store that have expired. It is safe for concurrent use, also by several
// processes.
type Sweeper[T any] struct {
	expiry *Expiry[T]
	store  *patterns.Store[T]
}

// On returns the sweeper of x in store. It makes no request. If x is not one of the store's views, or is
// invalid, each call of the sweeper fails with [patterns.ErrBadView] before any request.
func (x *Expiry[T]) On(store *patterns.Store[T]) *Sweeper[T] {
	if x == nil {
		x = At[T]("", nil, nil, nil)
	}
	return &Sweeper[T]{expiry: x, store: store}
}

// Sweep deletes the entities that have expired, with all rows of the store's views, like [patterns.Store.Delete]. It reads the rows of the
// buckets that have ended, and of each the entity, and changes nothing if that was changed meanwhile. Any number of
// sweeps may run concurrently with each other and with programs that write. After any error the next one does the rest.
//
// OlderThan leaves entities that expired less than that ago; zero means none. An entity whose row was stored less than
// [patterns.StoreOptions].Expiry ago, an hour by default, is left in any case: with a shorter lifetime it is absent in time, and
// deleted later. Partitions is refused with [patterns.ErrBadOption].
//
// The report's Found are rows that are due, Done those whose entities were deleted, or that no entity named (Lookups), Skipped those
// that were postponed since, are too young, or were changed during the sweep, and Failed those in Failures, which the next
// sweep tries again. A step is a page of up to 1,000 rows, or 100 with a Deadline.
//
// One request for each 1,000 rows, at least one for each bucket partition with rows; one, or a few, for the entities of
// a partition on a page; those of [patterns.StoreBatch] for the deletes, up to 100 entities of a partition in one transaction; and one for up to
// 100 rows in a partition of a bucket, two if they are postponed.
func (s *Sweeper[T]) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	if _, err := naming.Client(s.store, s.expiry, s.expiry.table); err != nil {
		return patterns.SweepReport{}, fmt.Errorf("sweep: %q: %w", s.expiry.Name(), err)
	}
	engine := s.store.Engine()
	ctx, span := engine.Begin(ctx, "expire")
	defer span.End()
	r, err := expire.Sweep(ctx, engine, s.expiry.Name(), opts)
	span.Fail(err)
	return r, err
}
