package shards_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// full is an account whose clients have everything attached that this module offers.
type full struct {
	shards.Account
	storage *storagetest.Account
	meter   *heat.Meter
	refused atomic.Int64
}

func openFull(t *testing.T, name string, accelerated bool) *full {
	t.Helper()
	f := &full{storage: storagetest.New(t), meter: assert.Must(heat.NewMeter(nil))(t)}
	f.storage.Replicate(2 * time.Second)
	f.storage.Throttle(&storagetest.Targets{Partition: 40, Queue: 20, Account: 400})
	governor := assert.Must(govern.New(nil))(t)
	attach := func(o *azcore.ClientOptions) {
		o.Transport = harness.Transport(f.send)
		f.meter.Attach(o)
		governor.Attach(o)
	}
	var opts aztables.ClientOptions
	attach(&opts.ClientOptions)
	var pair regions.Pair
	pair.Attach(&opts.ClientOptions)
	options := &opts
	if accelerated {
		patterns.Accelerate(&options.ClientOptions)
	}
	connection := f.storage.ConnectionString()
	f.Name = name
	f.Tables = assert.Must(aztables.NewServiceClientFromConnectionString(connection, options))(t)
	pair.Use(f.Tables)
	var queues azqueue.ClientOptions
	attach(&queues.ClientOptions)
	f.Queues = assert.Must(azqueue.NewServiceClientFromConnectionString(connection, &queues))(t)
	var blobs azblob.ClientOptions
	attach(&blobs.ClientOptions)
	f.Blobs = assert.Must(service.NewClientFromConnectionString(connection, (*service.ClientOptions)(&blobs)))(t)
	return f
}

// send sends a request with a round trip of 5 ms.
func (f *full) send(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	resp, err := f.storage.Transport().Do(req)
	if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
		f.refused.Add(1)
	}
	return resp, err
}

// counter is the model of an entity, a message or a blob with one writer, which writes 1, 2, 3.
type counter struct{ tried, acknowledged atomic.Int64 }

// change writes the next number.
func (c *counter) change(write func(n int64) error) {
	n := c.tried.Add(1)
	if write(n) == nil {
		c.acknowledged.Store(n)
	}
}

const combinedDocs = 12

func docKey(i int) keys.Key { return keys.Key{Partition: fmt.Sprintf("p%02d", i), Row: "x"} }

// Everything at the same time: three accounts with all that can be attached to their clients are
// throttled, one is added, and two of them lose their primary region, one after the other.
func TestNothingIsLostAndNoReadFailsWithEverythingCombined(t *testing.T) {
	sample := harness.Sample(t, 2)
	for i, mode := range []string{"plain", "accelerated"} {
		if !sample(i) {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { combined(t, mode == "accelerated") })
		})
	}
}

func combined(t *testing.T, accelerated bool) {
	var all []*full
	var list []shards.Account
	for _, name := range []string{"a", "b", "c"} {
		f := openFull(t, name, accelerated)
		assert.MayFail(f.Queues.CreateQueue(t.Context(), "jobs", nil))
		assert.MayFail(f.Blobs.CreateContainer(t.Context(), "box", nil))
		all, list = append(all, f), append(list, f.Account)
	}
	s, table := create(t, list[:2], &shards.Options{Lease: 12 * time.Second})
	store := assert.Must(shards.NewStore(table, &patterns.StoreOptions[doc]{Views: []patterns.View[doc]{byA(own)}}))(t)
	const bulk = 60
	insert := func(yield func(patterns.Op[doc]) bool) {
		for i := range bulk {
			if !yield(patterns.InsertOp(&doc{PartitionKey: "bulk", RowKey: fmt.Sprintf("%03d", i)})) {
				return
			}
		}
	}
	assert.NoError(t, table.WriteWithin(govern.Background(t.Context()), "bulk", func(at *patterns.Table[doc]) error {
		return assert.ErrorOf(at.Bulk(t.Context(), insert, nil))
	}))

	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	repeat := func(pause time.Duration, f func(ctx context.Context, n int)) {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				limited, cancel := context.WithTimeout(ctx, 2*time.Second)
				f(limited, n)
				cancel()
				time.Sleep(pause)
			}
		})
	}
	var docs [combinedDocs]counter
	for i := range docs {
		repeat(60*time.Millisecond, func(ctx context.Context, _ int) {
			docs[i].change(func(n int64) error {
				return assert.ErrorOf(store.Put(ctx, &doc{PartitionKey: docKey(i).Partition, RowKey: "x", A: fmt.Sprint(n)}))
			})
		})
	}
	time.Sleep(3 * time.Second) // each doc is written once, and in the secondary
	var reads, stale, failed atomic.Int64
	for worker := range 4 {
		repeat(20*time.Millisecond, func(_ context.Context, n int) {
			i := (worker + n) % combinedDocs
			least := docs[i].acknowledged.Load()
			var item regions.Item[doc]
			err := table.ReadWithin(ctx, docKey(i).Partition, func(at *patterns.Table[doc]) error {
				either, err := regions.NewTable(at, nil)
				if err == nil {
					item, err = either.Get(ctx, docKey(i))
				}
				return err
			})
			got, _ := strconv.ParseInt(item.Value.A, 10, 64)
			switch reads.Add(1); {
			case ctx.Err() != nil:
			case err != nil:
				failed.Add(1)
				t.Logf("read of %v: %v", docKey(i), err)
			case item.Region == regions.Secondary:
				stale.Add(1)
				least = 1
				fallthrough
			default:
				if got < least || got > docs[i].tried.Load() {
					t.Errorf("%v has %d in the %s, want at least %d", docKey(i), got, item.Region, least)
				}
			}
		})
	}
	var messages, blobs sync.Map // acknowledged ones, to the account
	repeat(20*time.Millisecond, func(ctx context.Context, n int) {
		if a, err := s.Account(ctx, docKey(n%combinedDocs).Partition); err == nil {
			if _, err := a.Queues.NewQueueClient("jobs").EnqueueMessage(ctx, fmt.Sprint(n), nil); err == nil {
				messages.Store(fmt.Sprint(n), a)
			}
		}
	})
	repeat(100*time.Millisecond, func(ctx context.Context, n int) {
		if a, err := s.Account(ctx, docKey(n%combinedDocs).Partition); err == nil {
			body := io.LimitReader(bytes.NewReader(bytes.Repeat([]byte{byte(n)}, 5000)), 5000) // cannot be read again
			if _, err := a.Blobs.NewContainerClient("box").NewBlockBlobClient(fmt.Sprint(n)).UploadStream(ctx, body, nil); err == nil {
				blobs.Store(n, a)
			}
		}
	})
	time.Sleep(3 * time.Second)
	err := s.Add(t.Context(), list[2], nil)
	for try := 0; try < 2 && errors.Is(err, patterns.ErrThrottled); try++ {
		err = s.Add(t.Context(), list[2], nil) // it continues
	}
	assert.NoError(t, err)
	for _, lost := range all[:2] {
		time.Sleep(7 * time.Second)
		lost.storage.Down(storagetest.Primary)
		time.Sleep(time.Second)
		n := 0
		assert.NoError(t, table.ReadWithin(ctx, "bulk", func(at *patterns.Table[doc]) error {
			either := assert.Must(regions.NewTable(at, nil))(t)
			for page, err := range either.Scan(ctx, query.PartitionKey.Eq("bulk"), "", nil) {
				if err != nil {
					return err
				}
				n += len(page.Items)
			}
			return nil
		}))
		assert.Equal(t, n, bulk, "a scan during the outage returned", "rows")
		time.Sleep(4 * time.Second)
		lost.storage.Down()
	}
	time.Sleep(5 * time.Second)
	cancel()
	group.Wait()
	time.Sleep(time.Minute)

	t.Logf("%d reads, %d from the secondary, %d failed; refused: %d, %d, %d", reads.Load(), stale.Load(), failed.Load(),
		all[0].refused.Load(), all[1].refused.Load(), all[2].refused.Load())
	if failed.Load() > 0 || stale.Load() == 0 {
		t.Error("reads failed, or none used the secondary")
	}
	checkCombined(t, all, table, &docs, bulk)
	checkMessagesAndBlobs(t, all, &messages, &blobs)
}

// checkCombined compares the tables with the model.
func checkCombined(t *testing.T, all []*full, table *shards.Table[doc], docs *[combinedDocs]counter, bulk int) {
	t.Helper()
	got := map[keys.Key]string{}
	for page, err := range table.Scan(t.Context(), query.Filter{}, "", nil) {
		assert.NoError(t, err)
		for _, item := range page.Items {
			if _, twice := got[item.Key]; twice {
				t.Errorf("%v is returned twice", item.Key)
			}
			got[item.Key] = item.Value.A
		}
	}
	assert.Equal(t, len(got), bulk+2*combinedDocs, "rows, want", bulk, "and two for each of", combinedDocs, "docs")
	for i := range docs {
		key := docKey(i)
		n, _ := strconv.ParseInt(got[key], 10, 64)
		if n < docs[i].acknowledged.Load() || n > docs[i].tried.Load() || n == 0 {
			t.Errorf("%v has %d, acknowledged was %d of %d", key, n, docs[i].acknowledged.Load(), docs[i].tried.Load())
		}
		if _, ok := got[keys.Key{Partition: key.Partition, Row: "a_" + got[key]}]; !ok {
			t.Errorf("%v has no row in its view", key)
		}
	}
	for _, f := range all {
		counted := map[byte]bool{}
		for name := range f.meter.Snapshot().Resources {
			counted[(name + " ")[0]] = true
		}
		if !counted['t'] || !counted['q'] || !counted['b'] {
			t.Errorf("the meter of %s has not counted tables, queues and blobs: %v", f.Name, counted)
		}
	}
}

// checkMessagesAndBlobs looks for everything that was acknowledged.
func checkMessagesAndBlobs(t *testing.T, all []*full, messages, blobs *sync.Map) {
	t.Helper()
	found := map[string]bool{}
	for _, f := range all {
		for queue := f.Queues.NewQueueClient("jobs"); ; {
			resp := assert.Must(queue.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{NumberOfMessages: to(int32(32)), VisibilityTimeout: to(int32(3600))}))(t)
			for _, m := range resp.Messages {
				found[f.Name+*m.MessageText] = true
			}
			if len(resp.Messages) == 0 {
				break
			}
		}
	}
	n := 0
	messages.Range(func(text, a any) bool {
		if n++; !found[a.(shards.Account).Name+text.(string)] {
			t.Errorf("message %v is lost", text)
		}
		return true
	})
	blobs.Range(func(name, a any) bool {
		resp := assert.Must(a.(shards.Account).Blobs.NewContainerClient("box").NewBlobClient(fmt.Sprint(name)).DownloadStream(t.Context(), nil))(t)
		body := assert.Must(io.ReadAll(resp.Body))(t)
		assert.NoError(t, resp.Body.Close())
		if n++; !bytes.Equal(body, bytes.Repeat([]byte{byte(name.(int))}, 5000)) {
			t.Errorf("blob %v has another content", name)
		}
		return true
	})
	if n == 0 {
		t.Error("no messages and blobs")
	}
}

func to[V any](v V) *V { return &v }
