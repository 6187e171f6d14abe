package otel

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
)

// collectTimeout is how long the requests of a collection may take.
const collectTimeout = 10 * time.Second

// ObserveQueue records the backlog of a queue each time that metrics are collected: the
// number of its messages, visible or hidden, and the age of the first visible one, 0 if there
// is none. For the queue of an outbox, that is how long its operations wait for a worker. Ages
// are measured by the clock of the service. Unregister the result to end it.
//
// Requests: two for each collection of each reader, which end with its context, or after 10
// seconds. A request that fails is reported to the error handler of OpenTelemetry, see
// otel.SetErrorHandler, and its gauge has no value then. It is not an error of the collection,
// for which a reader would discard the metrics of the whole process.
func (t *Telemetry) ObserveQueue(queue *azqueue.QueueClient) (metric.Registration, error) {
	if t == nil || t.meter == nil || queue == nil {
		return nil, fmt.Errorf("observe queue: %w", patterns.ErrNil)
	}
	m := t.meter
	messages, err := m.Int64ObservableGauge("azpatterns.queue.messages", metric.WithUnit("{message}"),
		metric.WithDescription("Messages on the queue, visible or hidden."))
	if err != nil {
		return nil, fmt.Errorf("observe queue: %w", err)
	}
	age, err := m.Float64ObservableGauge("azpatterns.queue.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the first visible message."))
	if err != nil {
		return nil, fmt.Errorf("observe queue: %w", err)
	}
	address, _, _ := strings.Cut(queue.URL(), "?")
	name := metric.WithAttributes(attribute.String("messaging.system", "azure.queue_storage"),
		attribute.String("messaging.destination.name", path.Base(address)))
	return m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, collectTimeout)
		defer cancel()
		if properties, err := queue.GetProperties(ctx, nil); err != nil {
			otel.Handle(sdkerr.New("observe queue", err))
		} else if n := properties.ApproximateMessagesCount; n != nil {
			o.ObserveInt64(messages, int64(*n), name)
		}
		if peeked, err := queue.PeekMessage(ctx, nil); err != nil {
			otel.Handle(sdkerr.New("observe queue", err))
		} else {
			o.ObserveFloat64(age, firstAge(&peeked), name)
		}
		return nil
	}, messages, age)
}

// firstAge returns the age of a peeked message in seconds, 0 if there is none.
func firstAge(peeked *azqueue.PeekMessagesResponse) float64 {
	oldest := 0.0
	for _, m := range peeked.Messages {
		if m != nil && m.InsertionTime != nil && peeked.Date != nil {
			oldest = max(oldest, peeked.Date.Sub(*m.InsertionTime).Seconds())
		}
	}
	return oldest
}

// counter is one of the counters of a [heat.Counters].
type counter struct {
	of         string // the services whose resources have it, by the first letter of their keys; "c" for connections
	name, unit string
	value      func(*heat.Counters) float64
}

// counters are all of them, in the order of heat.Counters.
var counters = []counter{
	{"tqb", "transactions", "{transaction}", func(c *heat.Counters) float64 { return c.Transactions }},
	{"t", "write.entities", "{entity}", func(c *heat.Counters) float64 { return c.Written }},
	{"t", "write.ascending", "{entity}", func(c *heat.Counters) float64 { return c.Ascending }},
	{"t", "write.descending", "{entity}", func(c *heat.Counters) float64 { return c.Descending }},
	{"t", "partition.last_changes", "{change}", func(c *heat.Counters) float64 { return c.LastChanged }},
	{"t", "partition.first_changes", "{change}", func(c *heat.Counters) float64 { return c.FirstChanged }},
	{"t", "scan.queries", "{query}", func(c *heat.Counters) float64 { return c.Scans }},
	{"t", "scan.minutes", "min", func(c *heat.Counters) float64 { return c.ScanMinutes }},
	{"t", "scan.pages", "{page}", func(c *heat.Counters) float64 { return c.ScanPages }},
	{"t", "scan.rows", "{entity}", func(c *heat.Counters) float64 { return c.ScanRows }},
	{"t", "filter.queries", "{query}", func(c *heat.Counters) float64 { return c.Filtered }},
	{"t", "filter.pages", "{page}", func(c *heat.Counters) float64 { return c.FilteredPages }},
	{"t", "filter.rows", "{entity}", func(c *heat.Counters) float64 { return c.FilteredRows }},
	{"t", "filter.duration", "s", func(c *heat.Counters) float64 { return c.FilteredMillis / 1000 }},
	{"t", "point.requests", "{request}", func(c *heat.Counters) float64 { return c.Points }},
	{"t", "point.duration", "s", func(c *heat.Counters) float64 { return c.PointMillis / 1000 }},
	{"t", "write.single", "{entity}", func(c *heat.Counters) float64 { return c.Single }},
	{"t", "write.batchable", "{entity}", func(c *heat.Counters) float64 { return c.Batchable }},
	{"tqb", "write.large", "{request}", func(c *heat.Counters) float64 { return c.Large }},
	{"tqb", "write.large_failed", "{request}", func(c *heat.Counters) float64 { return c.LargeFailed }},
	{"tqb", "write.large_resent", "By", func(c *heat.Counters) float64 { return c.LargeResent }},
	{"q", "poll.requests", "{request}", func(c *heat.Counters) float64 { return c.Polls }},
	{"q", "poll.empty", "{request}", func(c *heat.Counters) float64 { return c.EmptyPolls }},
	{"q", "poll.minutes", "min", func(c *heat.Counters) float64 { return c.PollMinutes }},
	{"c", "connection.requests", "{request}", func(c *heat.Counters) float64 { return c.Traced }},
	{"c", "connection.opened", "{connection}", func(c *heat.Counters) float64 { return c.Dialed }},
}

// ObserveHeat records the counters of a meter, described at [heat.Counters], each time that
// metrics are collected: for each table, queue and container, of which a meter has at most 128,
// those that it can have. They are of the last 12 to 24 hours, so they are gauges. It makes no
// request. No key is recorded: heat.Meter.Handler shows key ranges. Unregister the result to
// end it.
func (t *Telemetry) ObserveHeat(meter *heat.Meter) (metric.Registration, error) {
	if t == nil || t.meter == nil || meter == nil {
		return nil, fmt.Errorf("observe heat: %w", patterns.ErrNil)
	}
	m := t.meter
	gauges := make([]metric.Float64ObservableGauge, len(counters))
	observed := make([]metric.Observable, len(counters))
	for i, c := range counters {
		g, err := m.Float64ObservableGauge("azpatterns.heat."+c.name, metric.WithUnit(c.unit))
		if err != nil {
			return nil, fmt.Errorf("observe heat: %w", err)
		}
		gauges[i], observed[i] = g, g
	}
	return m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for resource, values := range meter.Snapshot().Resources {
			service, name := resourceOf(resource)
			for i, c := range counters {
				if strings.Contains(c.of, service) {
					o.ObserveFloat64(gauges[i], c.value(&values), name)
				}
			}
		}
		return nil
	}, observed...)
}

// resourceOf returns the letter of the service and the attribute for a key of
// [heat.Snapshot.Resources].
func resourceOf(resource string) (service string, name metric.MeasurementOption) {
	if resource == "" {
		return "c", metric.WithAttributes()
	}
	service, key := resource[:1], "azpatterns.container"
	switch service {
	case "t":
		key = "db.collection.name"
	case "q":
		key = "messaging.destination.name"
	}
	return service, metric.WithAttributes(attribute.String(key, resource[1:]))
}
