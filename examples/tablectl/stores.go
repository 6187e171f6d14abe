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
//	orders, err := orders.NewStore(a.tables.NewClient("Orders"), queue)
//	return map[string]store{"orders": storeOf(orders)}, err
//
// A Store with other views than those of the service would repair rows that are right.
func stores(a *account) (map[string]store, error) {
	people, err := newPeople(a)
	if err != nil {
		return nil, err
	}
	return map[string]store{"people": storeOf(people)}, nil
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
		sweep: s.Sweep,
	}
}

// openStore returns the Store that the only argument names.
func (c *cli) openStore(ctx context.Context, from accountFlags, args []string) (store, error) {
	if len(args) != 1 {
		return store{}, usagef("one argument is needed, the name of a Store, not %d", len(args))
	}
	a, err := c.open(ctx, from)
	if err != nil {
		return store{}, err
	}
	all, err := stores(a)
	if err != nil {
		return store{}, err
	}
	s, ok := all[args[0]]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(all)), ", ")
		return store{}, usagef("no Store %q; the function stores in stores.go lists %s", args[0], names)
	}
	return s, nil
}
