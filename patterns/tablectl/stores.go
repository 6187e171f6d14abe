package tablectl

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// Store is a Store of a service, for the commands verify, repair and sweep, or something else that belongs to one: see [ToSweep] and
// [JournalOf]. It is immutable, so it is safe for concurrent use.
type Store struct {
	name string
	open func(*Account) (opened, error)
}

// opened is what the commands do with a Store, whatever its type of entities. What it does not have is nil.
type opened struct {
	eventual.Sweeper
	verify  func(context.Context, string, *reindex.Options) iter.Seq2[reindex.Finding, error]
	repair  func(context.Context, string, *reindex.Options) (reindex.Report, error)
	changes func(ctx context.Context, key keys.Key, asOf time.Time, limit int) iter.Seq2[change, error]
}

// StoreOf returns the Store with this name on the command line. open declares it as the service does, and makes no request: a
// Store with other views than those of the service would repair rows that are right.
func StoreOf[T any](name string, open func(*Account) (*patterns.Store[T], error)) Store {
	return Store{name, func(a *Account) (opened, error) {
		s, err := open(a)
		return opened{
			Sweeper: s,
			verify: func(ctx context.Context, cursor string, o *reindex.Options) iter.Seq2[reindex.Finding, error] {
				return reindex.Verify(ctx, s, cursor, o)
			},
			repair: func(ctx context.Context, cursor string, o *reindex.Options) (reindex.Report, error) {
				return reindex.Repair(ctx, s, cursor, o)
			},
		}, err
	}}
}

// ToSweep returns what has a sweep and is not a Store, for the command sweep: entities that expire, large or wide entities, or
// claims. open declares it as the service does, and makes no request.
func ToSweep(name string, open func(*Account) (eventual.Sweeper, error)) Store {
	return Store{name, func(a *Account) (opened, error) {
		s, err := open(a)
		return opened{Sweeper: s}, err
	}}
}

// JournalOf returns the journal of a Store, for the commands journal and sweep. open declares both as the service does, and makes
// no request.
func JournalOf[T any](name string, open func(*Account) (*journal.Changes[T], error)) Store {
	return Store{name, func(a *Account) (opened, error) {
		c, err := open(a)
		return opened{Sweeper: c, changes: func(ctx context.Context, key keys.Key, asOf time.Time, limit int) iter.Seq2[change, error] {
			return changesOf(ctx, c, key, asOf, limit)
		}}, err
	}}
}

// openStore opens a Store of the program, or that of -demo.
func (c *cli) openStore(name string) (opened, error) {
	all := slices.Clone(c.stores)
	if c.accounts[0].demo {
		all = append(all, StoreOf("people", newPeople))
	}
	var names []string
	for _, s := range all {
		if s.name == name {
			return s.open(c.from)
		}
		names = append(names, s.name)
	}
	if names == nil {
		return opened{}, usagef("this program knows no Store: the service calls tablectl.Main with its own, see the documentation of package tablectl")
	}
	return opened{}, usagef("no Store %q: this program knows %s", name, strings.Join(names, ", "))
}
