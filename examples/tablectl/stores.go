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
//	orders, err := orders.NewStore(a.tables.NewClient("Orders"), outbox)
//	return map[string]store{"orders": storeOf(orders)}, err
//
// A Store with other views than those of the service would repair rows that are right.
func stores(a *account) (map[string]store, error) {
	people, err := newPeople(a)
	return map[string]store{"people": storeOf(people)}, err
}

// store is what the commands do with a Store, whatever its type of entities.
type store struct {
	verify func(context.Context, *reindex.Options) iter.Seq2[reindex.Finding, error]
	repair func(context.Context, *reindex.Options) (reindex.Report, error)
	sweep  func(context.Context, *patterns.SweepOptions) (patterns.SweepReport, error)
}

func storeOf[T any](s *patterns.Store[T]) store {
	return store{
		verify: func(ctx context.Context, o *reindex.Options) iter.Seq2[reindex.Finding, error] {
			return reindex.Verify(ctx, s, o)
		},
		repair: func(ctx context.Context, o *reindex.Options) (reindex.Report, error) {
			return reindex.Repair(ctx, s, o)
		},
		sweep: func(ctx context.Context, o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return s.Sweep(ctx, o)
		},
	}
}

func (c *cli) openStore(ctx context.Context, from *accountFlags, name string) (store, error) {
	a, err := c.open(ctx, from)
	if err != nil {
		return store{}, err
	}
	all, err := stores(a)
	if err != nil {
		return store{}, err
	}
	s, ok := all[name]
	if !ok {
		return s, usagef("no Store %q; the function stores in stores.go lists %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return s, nil
}
