package otel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/otel"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// secret is part of all keys and values.
const secret = "0bscure"

type employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Last       string
}

// world is an account whose clients report to OpenTelemetry.
type world struct {
	acct      *storagetest.Account
	spans     *tracetest.InMemoryExporter
	reader    *sdkmetric.ManualReader
	telemetry *otel.Telemetry
	provider  tracing.Provider
	table     *patterns.Table[employee]
	queue     *azqueue.QueueClient
	meter     *heat.Meter
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// newClient returns a client for the table Employees.
func newClient(t testing.TB, opts *aztables.ClientOptions) *aztables.Client {
	key := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	client := assert.Must(aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, key, opts))(t)
	return client.NewClient("Employees")
}

func newWorld(t *testing.T) *world {
	w := &world{acct: storagetest.New(t), spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	var err, failed error
	w.meter, failed = heat.NewMeter(nil)
	w.telemetry, err = otel.New(&otel.Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader)),
	})
	must(t, err, failed)
	w.provider = w.telemetry.Provider()
	var table aztables.ClientOptions
	patterns.Accelerate(&table.ClientOptions)
	w.attach(&table.ClientOptions)
	w.table, err = patterns.NewTable[employee](newClient(t, &table), &patterns.TableOptions[employee]{Tracing: w.provider})
	must(t, err)
	queueKey := assert.Must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	var queue azqueue.ClientOptions
	w.attach(&queue.ClientOptions)
	w.queue, err = azqueue.NewQueueClientWithSharedKeyCredential(w.acct.Queue("work").URL(), queueKey, &queue)
	must(t, err)
	_, err = w.queue.Create(t.Context(), nil)
	must(t, err, w.table.Create(t.Context()))
	w.spans.Reset()
	return w
}

func (w *world) attach(opts *azcore.ClientOptions) {
	opts.Transport = w.acct.Transport()
	w.meter.Attach(opts)
	w.telemetry.Attach(opts)
}

// tree returns the names of the spans since the last call, children after their parents, and
// checks that no attribute contains a key or a value.
func (w *world) tree(t *testing.T) []string {
	t.Helper()
	spans := w.spans.GetSpans() // in the order in which they ended
	w.spans.Reset()
	var names []string
	var add func(parent trace.SpanID, indent string)
	add = func(parent trace.SpanID, indent string) {
		for _, s := range spans {
			if s.Parent.SpanID() == parent {
				names = append(names, indent+s.Name)
				add(s.SpanContext.SpanID(), indent+"  ")
			}
		}
	}
	add(trace.SpanID{}, "")
	if len(names) != len(spans) {
		t.Errorf("%d spans, %d of them in the tree", len(spans), len(names))
	}
	for _, s := range spans {
		if text := fmt.Sprint(s.Name, s.Attributes, s.Events, s.Status); strings.Contains(text, secret) {
			t.Errorf("a span contains a key or a value: %s", text)
		}
	}
	return names
}

func wantNames(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func attributes(all []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range all {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

func wantAttributes(t *testing.T, got []attribute.KeyValue, want map[string]string) {
	t.Helper()
	all := attributes(got)
	for key, value := range want {
		if all[key] != value {
			t.Errorf("%s is %q, want %q", key, all[key], value)
		}
	}
}

func TestRequestsAreChildrenOfTheOperationsOfATable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx := t.Context()
		ken := &employee{"Sales" + secret, "1" + secret, secret}
		item := assert.Must(w.table.Insert(ctx, ken))(t)
		assert.NoError(t, assert.ErrorOf(w.table.Update(ctx, item.Key, func(e *employee) error { e.Last += "x"; return nil })))
		wantNames(t, w.tree(t), "table.insert", "  InsertEntity Employees", "table.update", "  GetEntity Employees", "  UpdateEntity Employees")

		for _, err := range w.table.Query(ctx, query.PartitionKey.Eq(item.Key.Partition), nil) {
			must(t, err)
		}
		for _, err := range w.table.Scan(ctx, query.Filter{}, "", nil) {
			must(t, err)
		}
		assert.NoError(t, assert.ErrorOf(w.table.Page(ctx, query.PartitionKey.Eq(item.Key.Partition), "", nil)))
		wantNames(t, w.tree(t), "table.query", "  QueryEntities Employees", "table.scan", "  QueryEntities Employees", "table.page", "  QueryEntities Employees")

		assert.NoError(t, assert.ErrorOf(w.table.Batch().Upsert(ken, patterns.Replace).Commit(ctx)))
		ops := []patterns.Op[employee]{patterns.UpsertOp(ken, patterns.Replace), patterns.UpsertOp(&employee{ken.Department, "2", secret}, patterns.Replace)}
		_, err := w.table.Bulk(ctx, slices.Values(ops), nil)
		must(t, err, w.table.Delete(ctx, item.Key, azcore.ETagAny))
		wantNames(t, w.tree(t), "table.batch", "  BATCH Employees", "table.bulk", "  BATCH Employees", "table.delete", "  DeleteEntity Employees")
	})
}

func TestOperationsOfAStoreAndAWorkerAreSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, stop := context.WithCancel(t.Context())
		byLast := secondaryindex.Intra("byLast", func(e *employee) (string, bool) { return e.Last, true }, nil)
		store := assert.Must(patterns.NewStore(w.table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{byLast}}))(t)
		worker := assert.Must(eventual.NewWorker(w.queue, &eventual.Options{Tracing: w.provider, Observe: func(eventual.Event) { stop() }}))(t)
		eventual.Handle(worker, "employee.add", func(ctx context.Context, job eventual.Job[employee]) error {
			_, err := store.Insert(ctx, &job.Message)
			return err
		})
		must(t, eventual.Enqueue(ctx, w.queue, "employee.add", &employee{"Sales" + secret, "1" + secret, secret}, nil))
		wantNames(t, w.tree(t), "send work")
		must(t, worker.Run(ctx))
		var names []string
		for _, name := range w.tree(t) {
			if name != "receive work" { // the worker may have begun the next poll
				names = append(names, name)
			}
		}
		wantNames(t, names, "process work", "  store.insert", "    BATCH Employees", "delete work")
		assert.NoError(t, assert.ErrorOf(store.Get(t.Context(), keys.Key{Partition: "Sales" + secret, Row: "1" + secret})))
		wantNames(t, w.tree(t), "store.get", "  GetEntity Employees")
	})
}

func TestSpansHaveTheAttributesOfTheConventions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.table.Get(t.Context(), keys.Key{Partition: secret, Row: secret}); !errors.Is(err, patterns.ErrNotFound) {
			t.Fatal(err)
		}
		must(t, eventual.Enqueue(t.Context(), w.queue, "letter", secret, nil))
		spans := w.spans.GetSpans() // in the order in which they ended
		w.tree(t)
		if len(spans) != 3 || spans[0].SpanKind != trace.SpanKindClient || spans[1].SpanKind != trace.SpanKindInternal || spans[2].SpanKind != trace.SpanKindClient {
			t.Fatalf("got %v", spans)
		}
		host := strings.TrimPrefix(storagetest.TablesURL, "https://")
		wantAttributes(t, spans[0].Attributes, map[string]string{
			"db.system.name": "azure.table_storage", "db.namespace": storagetest.AccountName, "db.operation.name": "GetEntity", "db.collection.name": "Employees",
			"db.response.status_code": "404", "error.type": "", "server.address": strings.Trim(host, "/"),
		})
		wantAttributes(t, spans[1].Attributes, map[string]string{
			"db.system.name": "azure.table_storage", "db.operation.name": "table.get", "db.collection.name": "Employees", "error.type": "", "db.response.returned_rows": "0",
		})
		wantAttributes(t, spans[2].Attributes, map[string]string{
			"messaging.system": "azure.queue_storage", "messaging.operation.name": "send", "messaging.operation.type": "send", "messaging.destination.name": "work",
			"http.response.status_code": "201",
		})
		if spans[0].Status.Code == codes.Error || spans[1].Status.Code == codes.Error || spans[2].Status.Code == codes.Error {
			t.Errorf("got %v, %v, %v", spans[0].Status, spans[1].Status, spans[2].Status)
		}
	})
}

// The units and the boundaries of the histograms, by name.
var (
	units      = map[string]string{}
	boundaries = map[string]int{}
)

// collect returns the metrics by name: for a gauge its values, for a histogram and a counter
// the count.
func (w *world) collect(t *testing.T) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	must(t, w.reader.Collect(t.Context(), &all))
	if text := fmt.Sprintf("%+v", all); strings.Contains(text, secret) {
		t.Error("a metric contains a key or a value")
	}
	values := map[string]float64{}
	for _, m := range slices.Concat(all.ScopeMetrics[0].Metrics) {
		units[m.Name] = m.Unit
		switch d := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				boundaries[m.Name] = len(p.Bounds)
				values[m.Name] += float64(p.Count)
			}
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				values[m.Name] += float64(p.Value)
			}
		case metricdata.Gauge[int64]:
			for _, p := range d.DataPoints {
				values[m.Name] += float64(p.Value)
			}
		case metricdata.Gauge[float64]:
			for _, p := range d.DataPoints {
				values[m.Name] += p.Value
			}
		default:
			t.Errorf("%s is a %T", m.Name, d)
		}
	}
	return values
}

func TestMetricsHaveTheNamesOfTheConventions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		assert.NoError(t, assert.ErrorOf(w.telemetry.ObserveQueue(w.queue)))
		assert.NoError(t, assert.ErrorOf(w.telemetry.ObserveHeat(w.meter)))
		for i := range 3 {
			assert.NoError(t, assert.ErrorOf(w.table.Insert(t.Context(), &employee{"Sales" + secret, fmt.Sprint(i, secret), secret})))
			must(t, eventual.Enqueue(t.Context(), w.queue, "letter", secret, nil))
		}
		time.Sleep(time.Minute)
		worker := assert.Must(eventual.NewWorker(w.queue, &eventual.Options{Tracing: w.provider}))(t)
		eventual.Handle(worker, "letter", func(context.Context, eventual.Job[string]) error { return nil })
		must(t, eventual.Enqueue(t.Context(), w.queue, "letter", secret, &eventual.EnqueueOptions{Tracing: w.provider}))
		must(t, worker.Process(t.Context(), `{"azp":1,"id":"op","kind":"letter","body":"`+secret+`"}`, 1))
		got := w.collect(t)
		for name, want := range map[string]float64{
			"db.client.operation.duration":        4, // with the request that created the table
			"azpatterns.operation.duration":       3,
			"messaging.client.sent.messages":      4,
			"messaging.client.operation.duration": 8, // with those for the queue, the span of a message and the gauges
			"messaging.process.duration":          1,
			"messaging.client.consumed.messages":  1,
			"azpatterns.queue.messages":           4,
			"azpatterns.queue.age":                60,
			"azpatterns.heat.write.entities":      3,
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
		for name, want := range map[string]int{
			"db.client.operation.duration": 9, "messaging.client.operation.duration": 14, "messaging.process.duration": 14, "azpatterns.operation.duration": 9,
		} {
			if boundaries[name] != want || units[name] != "s" {
				t.Errorf("%s: %d boundaries, in %q", name, boundaries[name], units[name])
			}
		}
		doc := assert.Must(os.ReadFile("doc.go"))(t)
		for name, unit := range units {
			if line := regexp.MustCompile(`(?m)^//\t` + regexp.QuoteMeta(name) + ` +(\S+)`).FindSubmatch(doc); line == nil || string(line[1]) != unit {
				t.Errorf("doc.go does not name %s in %s", name, unit)
			}
		}
	})
}

func TestTelemetryAddsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.acct.ResetLog()
		item := assert.Must(w.table.Insert(t.Context(), &employee{"Sales", "1", "Kwok"}))(t)
		assert.NoError(t, assert.ErrorOf(w.table.Get(t.Context(), item.Key)))
		if ops := fmt.Sprint(w.acct.Log().Ops()); ops != "[Table.Insert Table.Get]" {
			t.Error(ops)
		}
	})
}

func TestMisuseIsAnError(t *testing.T) {
	telemetry := assert.Must(otel.New(nil))(t)
	for _, telemetry := range []*otel.Telemetry{telemetry, {}, nil} {
		if _, err := telemetry.ObserveQueue(nil); !errors.Is(err, patterns.ErrNil) {
			t.Error(err)
		}
		if _, err := telemetry.ObserveHeat(nil); !errors.Is(err, patterns.ErrNil) {
			t.Error(err)
		}
		telemetry.Attach(nil)
		if telemetry != nil {
			telemetry.Provider()
		}
	}
	var opts azcore.ClientOptions
	new(otel.Telemetry).Attach(&opts)
	if opts.Transport != nil {
		t.Errorf("a zero Telemetry attached a %T", opts.Transport)
	}
}
