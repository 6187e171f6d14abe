package patterns_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

type photo struct {
	Album   string `table:"PartitionKey"`
	Name    string `table:"RowKey"`
	Content []byte `table:",blob"`
}

type visit struct {
	Person string `table:"PartitionKey"`
	ID     string `table:"RowKey"`
	At     time.Time
}

// exposed is one exported call.
type exposed struct {
	name  string
	write bool
	call  func(ctx context.Context) error
}

func last[A any](seq func(func(A, error) bool)) (err error) {
	for _, e := range seq {
		err = e
	}
	return err
}

// exposedCalls returns calls of every package that reads replies, all of which send through m.
func exposedCalls(t *testing.T, m policy.Transporter, connection, name string, accelerated bool) []exposed {
	t.Helper()
	options := azcore.ClientOptions{Transport: m, Retry: policy.RetryOptions{RetryDelay: time.Microsecond, MaxRetryDelay: time.Microsecond}}
	patterns.LimitReplies(&options)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	opts := &aztables.ClientOptions{ClientOptions: options}
	if accelerated {
		wire.Accelerate(&opts.ClientOptions)
	}
	service, err := aztables.NewServiceClientFromConnectionString(connection, opts)
	must(err)
	client := service.NewClient(name)
	jobs, err := azqueue.NewQueueClientFromConnectionString(connection, "jobs", &azqueue.ClientOptions{ClientOptions: options})
	must(err)
	poison, err := azqueue.NewQueueClientFromConnectionString(connection, "jobs-poison", &azqueue.ClientOptions{ClientOptions: options})
	must(err)
	box, err := container.NewClientFromConnectionString(connection, "box", &container.ClientOptions{ClientOptions: options})
	must(err)
	ctx := t.Context()
	for _, create := range []func() error{
		func() error { _, err := jobs.Create(ctx, nil); return err },
		func() error { _, err := poison.Create(ctx, nil); return err },
		func() error { _, err := box.Create(ctx, nil); return err },
	} {
		must(create())
	}
	table := harness.NewTable[counter](t, client, nil)
	stored := harness.Insert(t, table, counter{"hits", "0", 1})
	all := query.PartitionKey.Eq("hits")
	store, err := patterns.NewStore(table, nil)
	must(err)
	large, err := largeentity.New[photo](client, box, nil)
	must(err)
	wide, err := wideentity.New[counter](client, nil)
	must(err)
	days, err := highvolumedelete.New[visit](service, "days", highvolumedelete.Day, nil)
	must(err)
	logs, err := logdata.NewReader(box, "app", nil)
	must(err)
	pq, err := eventual.NewPoisonQueue(jobs, poison, nil)
	must(err)
	claims, err := eventual.NewClaims(box, nil)
	must(err)
	outbox, err := eventual.NewOutbox(jobs, "", nil)
	must(err)
	index := indexentity.InterBlob("n", box, func(c *counter) (string, bool) { return c.Shard, true }, nil)
	indexed, err := patterns.NewStore(table, &patterns.StoreOptions[counter]{Outbox: outbox, Views: []patterns.View[counter]{index}})
	must(err)
	reader := index.On(indexed)
	_, err = indexed.Insert(ctx, &counter{"indexed", "a", 1})
	must(err)
	fresh := func() *counter { return &counter{"new", time.Now().Format("150405.000000000"), 1} }
	now := time.Now()
	return []exposed{
		{"Get", false, func(ctx context.Context) error { _, err := table.Get(ctx, tally); return err }},
		{"Get in the empty partition", false, func(ctx context.Context) error { _, err := table.Get(ctx, keys.Key{Row: "x"}); return err }},
		{"Query", false, func(ctx context.Context) error { return last(table.Query(ctx, all, nil)) }},
		{"Page", false, func(ctx context.Context) error {
			for cursor := ""; ; {
				page, err := table.Page(ctx, all, cursor, nil)
				if cursor = page.Cursor; err != nil || cursor == "" {
					return err
				}
			}
		}},
		{"Scan", false, func(ctx context.Context) error { return last(table.Scan(ctx, all, "", nil)) }},
		{"Scan in runs", false, func(ctx context.Context) error {
			for cursor := ""; ; {
				var page patterns.ScanPage[counter]
				var err error
				for page, err = range table.Scan(ctx, all, cursor, &patterns.QueryOptions{Parallel: 1}) {
					break
				}
				if cursor = page.Cursor; err != nil || cursor == "" {
					return err
				}
			}
		}},
		{"Insert", true, func(ctx context.Context) error { _, err := table.Insert(ctx, fresh()); return err }},
		{"Upsert", true, func(ctx context.Context) error {
			_, err := table.Upsert(ctx, fresh(), patterns.Replace)
			return err
		}},
		{"Replace", true, func(ctx context.Context) error { _, err := table.Replace(ctx, stored); return err }},
		{"Delete", true, func(ctx context.Context) error {
			return table.Delete(ctx, keys.Key{Partition: "hits", Row: "none"}, "")
		}},
		{"Delete a version", true, func(ctx context.Context) error { return table.Delete(ctx, tally, stored.ETag) }},
		{"Batch", true, func(ctx context.Context) error { _, err := table.Batch().Insert(fresh()).Commit(ctx); return err }},
		{"Bulk", true, func(ctx context.Context) error {
			_, err := table.Bulk(ctx, slices.Values([]patterns.Op[counter]{patterns.InsertOp(fresh())}), nil)
			return err
		}},
		{"Store.Get", false, func(ctx context.Context) error { _, err := store.Get(ctx, tally); return err }},
		{"Store.Insert", true, func(ctx context.Context) error { _, err := store.Insert(ctx, fresh()); return err }},
		{"wideentity.Get", false, func(ctx context.Context) error { _, err := wide.Get(ctx, tally); return err }},
		{"wideentity.Insert", true, func(ctx context.Context) error { _, err := wide.Insert(ctx, fresh()); return err }},
		{"largeentity.Get", false, func(ctx context.Context) error { _, err := large.Get(ctx, tally); return err }},
		{"largeentity.Insert", true, func(ctx context.Context) error {
			_, err := large.Insert(ctx, &photo{"a", fresh().Shard, []byte("content")})
			return err
		}},
		{"largeentity.Sweep", false, func(ctx context.Context) error { _, err := large.Sweep(ctx, nil); return err }},
		{"highvolumedelete.List", false, func(ctx context.Context) error { _, err := days.List(ctx, now.AddDate(0, 0, -9), now); return err }},
		{"highvolumedelete.DropBefore", false, func(ctx context.Context) error {
			_, err := days.DropBefore(ctx, now.AddDate(0, 0, -9), nil)
			return err
		}},
		{"logdata.Query", false, func(ctx context.Context) error { return last(logs.Query(ctx, now.Add(-time.Hour), now, "", nil)) }},
		{"logdata.Write", true, func(ctx context.Context) error {
			w, err := logdata.NewWriter(box, "app", &logdata.WriterOptions{Sync: true})
			if err != nil {
				return err
			}
			err = w.Write(ctx, logdata.Record{Time: time.Now(), Type: "k"})
			return errors.Join(err, w.Close(ctx))
		}},
		{"indexentity.InterBlob: Insert", true, func(ctx context.Context) error { _, err := indexed.Insert(ctx, fresh()); return err }},
		{"indexentity.InterBlob: Get", false, func(ctx context.Context) error { _, err := reader.Get(ctx, "indexed", "a"); return err }},
		{"Store.Handle", false, func(ctx context.Context) error {
			_, err := indexed.Handle(ctx, patterns.OutboxMessage{Partition: "indexed", ID: "00000000000000000000000000"})
			return err
		}},
		{"eventual.Enqueue", true, func(ctx context.Context) error { return eventual.Enqueue(ctx, jobs, "k", 1, nil) }},
		{"Claims.Sweep", false, func(ctx context.Context) error { _, err := claims.Sweep(ctx, nil); return err }},
		{"PoisonQueue.Peek", false, func(ctx context.Context) error { _, err := pq.Peek(ctx, 5); return err }},
		{"PoisonQueue.Take", false, func(ctx context.Context) error { return last(pq.Take(ctx)) }},
		{"eventual.Move", true, func(ctx context.Context) error {
			return eventual.Move(ctx, client, service.NewClient("archive"), eventual.Row{PartitionKey: "hits", RowKey: "0"})
		}},
		{"Create", true, table.Create},
		{"Drop", true, table.Drop},
	}
}
