package tablectl

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// Store is a Store of a service, for the commands verify, repair and sweep, or something else to sweep. It is immutable, so it is safe for concurrent
// use.
type Store struct {
	name string
	open func(*Account) (eventual.Sweeper, error) // of views as well if it is an opened
}

// StoreOf returns the Store with this name on the command line. open declares it as the service does, and makes no request: a
// Store with other views than those of the service would repair rows that are right.
func StoreOf[T any](name string, open func(*Account) (*patterns.Store[T], error)) Store {
	return Store{name, func(a *Account) (eventual.Sweeper, error) {
		s, err := open(a)
		return storeOf[T]{s}, err
	}}
}

// ToSweep returns what has a sweep and is not a Store, for the command sweep: entities that expire, large or wide entities, or
// claims. open declares it as the service does, and makes no request.
func ToSweep(name string, open func(*Account) (eventual.Sweeper, error)) Store {
	return Store{name, open}
}

// opened is what verify and repair do with a Store, whatever its type of entities.
type opened interface {
	verify(context.Context, string, *reindex.Options) iter.Seq2[reindex.Finding, error]
	repair(context.Context, string, *reindex.Options) (reindex.Report, error)
}

type storeOf[T any] struct{ *patterns.Store[T] }

func (s storeOf[T]) verify(ctx context.Context, cursor string, o *reindex.Options) iter.Seq2[reindex.Finding, error] {
	return reindex.Verify(ctx, s.Store, cursor, o)
}

func (s storeOf[T]) repair(ctx context.Context, cursor string, o *reindex.Options) (reindex.Report, error) {
	return reindex.Repair(ctx, s.Store, cursor, o)
}

// openStore opens a Store of the program, or that of -demo.
func (c *cli) openStore(name string) (eventual.Sweeper, error) {
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
		return nil, usagef("this program knows no Store: the service calls tablectl.Main with its own, see the documentation of package tablectl")
	}
	return nil, usagef("no Store %q: this program knows %s", name, strings.Join(names, ", "))
}
