package canary_test

import (
	"context"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/query"
)

// sharded returns a table and a store in two accounts. With an unhealthy network they have no directory.
func sharded(e *env) (*shards.Shards, *shards.Table[person], *shards.Store[person]) {
	s, err := shards.New("sharded", []shards.Account{{Name: bird, Tables: e.service}, {Name: bird + "2", Tables: e.service, Table: "sharded2"}}, nil)
	must(e.t, err)
	_ = s.Create(e.t.Context())
	table, err := shards.NewTable[person](s, nil)
	must(e.t, err)
	store, err := shards.NewStore(table, nil)
	must(e.t, err)
	return s, table, store
}

// shardedTable is a call of a sharded table with each bad value.
func shardedTable(name string, f func(ctx context.Context, t *shards.Table[person], p *person) error) call {
	return call{"shards." + name, func(e *env) []any {
		_, t, _ := sharded(e)
		return each(append(bad()[:6], good(bird)), func(p *person) error { return f(e.t.Context(), t, p) })
	}}
}

// shardedStore is shardedTable for a store.
func shardedStore(name string, f func(ctx context.Context, s *shards.Store[person], p *person) error) call {
	return call{"shards." + name, func(e *env) []any {
		_, _, s := sharded(e)
		return each(append(bad()[:6], good(bird)), func(p *person) error { return f(e.t.Context(), s, p) })
	}}
}

// shardedCall is a call of the accounts.
func shardedCall(name string, f func(ctx context.Context, s *shards.Shards, e *env) error) call {
	return call{"shards." + name, func(e *env) []any {
		s, _, _ := sharded(e)
		return results(f(e.t.Context(), s, e))
	}}
}

var birds = query.And(query.PartitionKey.Eq(bird), query.Prop("Name").Eq(bird))

var shardsCalls = []call{
	shardedCall("New", func(_ context.Context, _ *shards.Shards, e *env) error {
		return failure(shards.New(bird, []shards.Account{{Name: bird, Tables: e.service}, {Name: bird, Tables: e.service}}, nil))
	}),
	shardedCall("Shards.Create", func(ctx context.Context, s *shards.Shards, _ *env) error { return s.Create(ctx) }),
	shardedCall("Shards.Account", func(ctx context.Context, s *shards.Shards, _ *env) error { return failure(s.Account(ctx, bird)) }),
	shardedCall("Shards.Add", func(ctx context.Context, s *shards.Shards, e *env) error {
		return s.Add(ctx, shards.Account{Name: bird + "3", Tables: e.service, Table: "sharded3"}, nil)
	}),
	shardedCall("Shards.Pin", func(ctx context.Context, s *shards.Shards, _ *env) error { return s.Pin(ctx, bird, bird+"4", nil) }),
	shardedCall("NewTable", func(_ context.Context, s *shards.Shards, _ *env) error {
		return failure(shards.NewTable[struct{ Name chan int }](s, nil))
	}),
	shardedCall("NewStore", func(_ context.Context, s *shards.Shards, e *env) error {
		t, err := shards.NewTable[person](s, nil)
		must(e.t, err)
		return failure(shards.NewStore(t, &patterns.StoreOptions[person]{Outbox: e.outbox}))
	}),
	shardedTable("Table.Read", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return t.Read(ctx, p.Key().Partition, func(at *patterns.Table[person]) error { return failure(at.Get(ctx, p.Key())) })
	}),
	shardedTable("Table.Write", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return t.Write(ctx, p.Key().Partition, func(at *patterns.Table[person]) error { return failure(at.Insert(ctx, p)) })
	}),
	shardedTable("Table.Get", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return failure(t.Get(ctx, p.Key()))
	}),
	shardedTable("Table.Insert", func(ctx context.Context, t *shards.Table[person], p *person) error { return failure(t.Insert(ctx, p)) }),
	shardedTable("Table.Upsert", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return failure(t.Upsert(ctx, p, patterns.Merge))
	}),
	shardedTable("Table.Replace", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return failure(t.Replace(ctx, patterns.Item[person]{Value: *p, Key: p.Key(), ETag: bird}))
	}),
	shardedTable("Table.Merge", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return failure(t.Merge(ctx, patterns.Item[person]{Value: *p, Key: p.Key(), ETag: bird}))
	}),
	shardedTable("Table.Update", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return failure(t.Update(ctx, p.Key(), func(was *person) error { *was = *p; return nil }))
	}),
	shardedTable("Table.Delete", func(ctx context.Context, t *shards.Table[person], p *person) error {
		return t.Delete(ctx, p.Key(), bird)
	}),
	shardedTable("Table.Query", func(ctx context.Context, t *shards.Table[person], _ *person) error {
		return failures(t.Query(ctx, birds, nil))
	}),
	shardedTable("Table.Page", func(ctx context.Context, t *shards.Table[person], _ *person) error {
		return failure(t.Page(ctx, birds, bird, nil))
	}),
	shardedTable("Table.Pages", func(ctx context.Context, t *shards.Table[person], _ *person) error {
		return failures(t.Pages(ctx, birds, bird, nil))
	}),
	shardedTable("Table.Scan", func(ctx context.Context, t *shards.Table[person], _ *person) error {
		return failures(t.Scan(ctx, birds, "", nil))
	}),
	shardedStore("Store.Read", func(ctx context.Context, s *shards.Store[person], p *person) error {
		return s.Read(ctx, p.Key().Partition, func(at *patterns.Store[person]) error { return failure(at.Get(ctx, p.Key())) })
	}),
	shardedStore("Store.Write", func(ctx context.Context, s *shards.Store[person], p *person) error {
		return s.Write(ctx, p.Key().Partition, func(at *patterns.Store[person]) error { return failure(at.Insert(ctx, p)) })
	}),
	shardedStore("Store.Get", func(ctx context.Context, s *shards.Store[person], p *person) error {
		return failure(s.Get(ctx, p.Key()))
	}),
	shardedStore("Store.Insert", func(ctx context.Context, s *shards.Store[person], p *person) error { return failure(s.Insert(ctx, p)) }),
	shardedStore("Store.Put", func(ctx context.Context, s *shards.Store[person], p *person) error { return failure(s.Put(ctx, p)) }),
	shardedStore("Store.Update", func(ctx context.Context, s *shards.Store[person], p *person) error {
		return failure(s.Update(ctx, p.Key(), func(was *person) error { *was = *p; return nil }))
	}),
	shardedStore("Store.Delete", func(ctx context.Context, s *shards.Store[person], p *person) error { return s.Delete(ctx, p.Key()) }),
	shardedStore("Store.Query", func(ctx context.Context, s *shards.Store[person], _ *person) error {
		return failures(s.Query(ctx, birds, nil))
	}),
	shardedStore("Store.Page", func(ctx context.Context, s *shards.Store[person], _ *person) error {
		return failure(s.Page(ctx, birds, bird, nil))
	}),
	shardedStore("Store.Pages", func(ctx context.Context, s *shards.Store[person], _ *person) error {
		return failures(s.Pages(ctx, birds, bird, nil))
	}),
	shardedStore("Store.Scan", func(ctx context.Context, s *shards.Store[person], _ *person) error {
		return failures(s.Scan(ctx, birds, "", nil))
	}),
}
