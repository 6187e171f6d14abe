package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// failingOnce is a transport that does not send a request until it is sent again.
type failingOnce struct {
	inner policy.Transporter
	mu    sync.Mutex
	seen  map[string]bool // nil: every request is sent
}

var errNotSent = errors.New("not sent")

func (f *failingOnce) Do(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	name := req.Method + req.URL.String()
	fails := f.seen != nil && !f.seen[name]
	if fails {
		f.seen[name] = true
	}
	f.mu.Unlock()
	if fails {
		return nil, errNotSent
	}
	return f.inner.Do(req)
}

// paged is an entity that every package stores.
type paged struct {
	PartitionKey, RowKey string
	Value                string
	ID                   string
	At                   time.Time
}

func (d *paged) key() keys.Key { return keys.Key{Partition: d.PartitionKey, Row: d.RowKey} }

// readOn reads all pages, and after an error from the cursor that came with it. It counts the errors.
func readOn[P, I any](t *testing.T, pages func(cursor string) iter.Seq2[P, error], of func(P) ([]I, string), name func(I) string) (names []string, failed int) {
	t.Helper()
	cursor := ""
	for failed < 1000 {
		var failure error
		for page, err := range pages(cursor) {
			var items []I
			if items, cursor = of(page); err != nil {
				if failure = err; !errors.Is(err, errNotSent) || len(items) > 0 {
					t.Fatalf("%d items and %v", len(items), err)
				}
				continue // the sequence ends
			}
			for _, i := range items {
				names = append(names, name(i))
			}
		}
		if failure == nil {
			return names, failed
		}
		failed++
	}
	t.Fatal("it never ends")
	return nil, 0
}

func TestPagesThatFailAreReadAgain(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		lossy := &failingOnce{}
		b.Configure = func(o *azcore.ClientOptions) {
			lossy.inner, o.Transport, o.Retry.MaxRetries = o.Transport, lossy, -1
		}
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		docs := make([]paged, 11)
		for i := range docs {
			docs[i] = paged{"p", fmt.Sprintf("r%03d", i), "v", fmt.Sprintf("r%03d", i), day.AddDate(0, 0, i/4)}
		}
		rowKey := func(i patterns.Item[paged]) string { return i.Key.Row }
		ofPage := func(p patterns.Page[paged]) ([]patterns.Item[paged], string) { return p.Items, p.Cursor }
		f := query.PartitionKey.Eq("p")
		opts := &patterns.QueryOptions{PageSize: 3}

		client, service := b.Table(t), b.Service(t)
		value := func(d *paged) (string, bool) { return d.Value, true }
		second := secondaryindex.Intra("second", value, &secondaryindex.Options[paged]{NonUnique: true})
		list := indexentity.Intra("list", value, nil)
		store := harness.NewStore(t, client, &patterns.StoreOptions[paged]{Views: []patterns.View[paged]{second, list}})
		reader := assert.Must(patterns.Project[paged](store.Table()))(t)
		seconds, lists := second.On(store), list.On(store)

		log := assert.Must(logtail.New(b.Table(t), &logtail.Options[paged]{Buckets: 2}))(t)
		family := assert.Must(compoundkey.New(b.Table(t), func(*paged) compoundkey.ID { return compoundkey.ID{Partition: "p", Parent: "parent"} },
			func(d *paged) (compoundkey.ID, string) {
				return compoundkey.ID{Partition: "p", Parent: "parent"}, d.RowKey
			}, nil))(t)
		registry := assert.Must(entitytype.NewRegistry(nil))(t)
		assert.NoError(t, entitytype.Register[paged](registry, "doc", 1, nil))
		types := assert.Must(entitytype.New(b.Table(t), registry, nil))(t)
		days := assert.Must(highvolumedelete.New[paged](service, harness.UniqueName()[:20]+"x", highvolumedelete.Day, nil))(t)
		accounts := []shards.Account{{Name: "one", Tables: service, Table: harness.UniqueName()}, {Name: "two", Tables: service, Table: harness.UniqueName()}}
		directory := &shards.Options{Directory: harness.UniqueName()}
		for _, name := range []string{accounts[0].Table, accounts[1].Table, directory.Directory} {
			b.NamedTable(t, name)
		}
		all := assert.Must(shards.New(accounts, "docs", directory))(t)
		assert.NoError(t, all.Create(ctx))
		sharded := assert.Must(shards.NewTable[paged](all, nil))(t)
		for i := range docs {
			assert.Must(store.Insert(ctx, &docs[i]))(t)
			assert.Must(log.Append(ctx, "s", &docs[i]))(t)
			assert.Must(family.AddChild(ctx, &docs[i]))(t)
			assert.Must(types.Insert(ctx, docs[i].key(), &docs[i]))(t)
			assert.Must(days.Insert(ctx, &docs[i]))(t)
			assert.Must(sharded.Insert(ctx, &docs[i]))(t)
		}
		t.Cleanup(func() {
			lossy.seen = nil
			assert.Must(days.DropBefore(context.Background(), day.AddDate(1, 0, 0), nil))(t)
		})

		entries := func(p secondaryindex.Page[paged]) ([]secondaryindex.Entry[paged], string) { return p.Entries, p.Cursor }
		entryName := func(e secondaryindex.Entry[paged]) string { return e.Primary.Row }
		reads := map[string]func(t *testing.T) ([]string, int){
			"Table": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] {
					return store.Table().Pages(ctx, query.And(f, query.RowKey.Ge("r"), query.RowKey.Lt("s")), c, opts)
				}, ofPage, rowKey)
			},
			"Reader": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] {
					return reader.Pages(ctx, query.And(f, query.RowKey.Ge("r"), query.RowKey.Lt("s")), c, opts)
				}, ofPage, rowKey)
			},
			"Store": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] { return store.Pages(ctx, f, c, opts) }, ofPage, rowKey)
			},
			"secondaryindex": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[secondaryindex.Page[paged], error] {
					return seconds.Pages(ctx, "p", secondaryindex.Equal("v"), c, &patterns.QueryOptions{PageSize: 3})
				}, entries, entryName)
			},
			"indexentity": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] {
					return lists.Pages(ctx, "p", "v", c, &patterns.QueryOptions{Limit: 3, Parallel: 1})
				}, ofPage, rowKey)
			},
			"logtail": func(t *testing.T) ([]string, int) {
				names, failed := readOn(t, func(c string) iter.Seq2[logtail.Page[paged], error] {
					return log.Pages(ctx, "s", time.Time{}, time.Time{}, c, &patterns.QueryOptions{Limit: 3})
				}, func(p logtail.Page[paged]) ([]logtail.Entry[paged], string) { return p.Entries, p.Cursor }, func(e logtail.Entry[paged]) string { return e.Value.ID })
				slices.Reverse(names) // the newest is first
				return names, failed
			},
			"compoundkey": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] {
					return family.Pages(ctx, compoundkey.ID{Partition: "p", Parent: "parent"}, compoundkey.Span{}, c, opts)
				}, ofPage, func(i patterns.Item[paged]) string { return i.Key.Row[len("parent_"):] })
			},
			"entitytype": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[entitytype.Page, error] { return types.Pages(ctx, f, c, opts) },
					func(p entitytype.Page) ([]entitytype.Entity, string) { return p.Items, p.Cursor },
					func(e entitytype.Entity) string { return e.Key.Row })
			},
			"highvolumedelete": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] {
					return days.Pages(ctx, day, day.AddDate(0, 0, 5), f, c, &highvolumedelete.QueryOptions{QueryOptions: *opts})
				}, ofPage, rowKey)
			},
			"shards": func(t *testing.T) ([]string, int) {
				return readOn(t, func(c string) iter.Seq2[patterns.Page[paged], error] { return sharded.Pages(ctx, f, c, opts) }, ofPage, rowKey)
			},
		}
		rules := map[string]storagetest.Rule{"pages": {}, "short pages": storagetest.On("Table.Query").ShortPage(2), "empty pages": storagetest.On("Table.Query").EmptyPage()}
		for kind, rule := range rules {
			for what, read := range reads {
				b.ClearFaults()
				if kind != "pages" && what != "indexentity" { // which has no queries
					b.Fault(rule)
				}
				lossy.seen = map[string]bool{}
				got, failed := read(t)
				var want []string
				for _, d := range docs {
					want = append(want, d.RowKey)
				}
				if !slices.Equal(got, want) || failed < 4 {
					t.Errorf("%s of %s: %v after %d errors", kind, what, got, failed)
				}
			}
		}
	})
}
