package main

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// stores returns the Stores that verify, repair and sweep know, by name.
//
// What a view contains is Go code, so this program cannot read it from a table. A copy of the
// program lists the Stores of its own service here, declared by the same function as in the
// service:
//
//	s, err := orders.NewStore(a.tables.NewClient("Orders"), outbox)
//	return map[string]store{"orders": storeOf[orders.Order]{s}}, err
//
// A Store with other views than those of the service would repair rows that are right.
func stores(a *account) (map[string]store, error) {
	people, err := newPeople(a)
	return map[string]store{"people": storeOf[person]{people}}, err
}

// store is what the commands do with a Store, whatever its type of entities.
type store interface {
	verify(context.Context, string, *reindex.Options) iter.Seq2[reindex.Finding, error]
	repair(context.Context, string, *reindex.Options) (reindex.Report, error)
	Sweep(context.Context, *patterns.SweepOptions) (patterns.SweepReport, error)
}

type storeOf[T any] struct{ *patterns.Store[T] }

func (s storeOf[T]) verify(ctx context.Context, cursor string, o *reindex.Options) iter.Seq2[reindex.Finding, error] {
	return reindex.Verify(ctx, s.Store, cursor, o)
}

func (s storeOf[T]) repair(ctx context.Context, cursor string, o *reindex.Options) (reindex.Report, error) {
	return reindex.Repair(ctx, s.Store, cursor, o)
}

func (c *cli) openStore(name string) (store, error) {
	all, err := stores(c.from)
	s, ok := all[name]
	if err == nil && !ok {
		err = usagef("no Store %q; the function stores in stores.go lists %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return s, err
}
