package otel

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
)

// ObserveQueue records the backlog of a queue each time that metrics are collected: the
// number of its messages, visible or hidden, and the age of the first visible one, 0 if there
// is none. For the queue of an outbox, that is how long its operations wait for a worker. Ages
// are measured by the clock of the service. Two requests for each collection. A request that
// fails is the error of the collection. Unregister the result to end it.
func ObserveQueue(queue *azqueue.QueueClient, opts *Options) (metric.Registration, error) {
	if queue == nil {
		return nil, fmt.Errorf("observe queue: %w", patterns.ErrNil)
	}
	m := opts.meter()
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
		properties, err := queue.GetProperties(ctx, nil)
		if err != nil {
			return azerr.New("observe queue", err)
		}
		if n := properties.ApproximateMessagesCount; n != nil {
			o.ObserveInt64(messages, int64(*n), name)
		}
		peeked, err := queue.PeekMessage(ctx, nil)
		if err != nil {
			return azerr.New("observe queue", err)
		}
		oldest := 0.0
		for _, m := range peeked.Messages {
			if m != nil && m.InsertionTime != nil && peeked.Date != nil {
				oldest = max(oldest, peeked.Date.Sub(*m.InsertionTime).Seconds())
			}
		}
		o.ObserveFloat64(age, oldest, name)
		return nil
	}, messages, age)
}

// counter is one of the counters of a [heat.Counters].
type counter struct {
	name, unit string
	of         func(*heat.Counters) float64
}

var counters = []counter{
	{"transactions", "{transaction}", func(c *heat.Counters) float64 { return c.Transactions }},
	{"entities.written", "{entity}", func(c *heat.Counters) float64 { return c.Written }},
	{"scans", "{query}", func(c *heat.Counters) float64 { return c.Scans }},
	{"scans.pages", "{page}", func(c *heat.Counters) float64 { return c.ScanPages }},
	{"scans.rows", "{entity}", func(c *heat.Counters) float64 { return c.ScanRows }},
	{"filtered", "{query}", func(c *heat.Counters) float64 { return c.Filtered }},
	{"writes.single", "{entity}", func(c *heat.Counters) float64 { return c.Single }},
	{"writes.batchable", "{entity}", func(c *heat.Counters) float64 { return c.Batchable }},
	{"polls", "{request}", func(c *heat.Counters) float64 { return c.Polls }},
	{"polls.empty", "{request}", func(c *heat.Counters) float64 { return c.EmptyPolls }},
	{"connections.opened", "{connection}", func(c *heat.Counters) float64 { return c.Dialed }},
}

// ObserveHeat records the counters of a meter for each table, queue and container, each time
// that metrics are collected. They are those of the last 12 to 24 hours, so they are gauges.
// No key is recorded: heat.Meter.Handler shows key ranges. Unregister the result to end it.
func ObserveHeat(meter *heat.Meter, opts *Options) (metric.Registration, error) {
	if meter == nil {
		return nil, fmt.Errorf("observe heat: %w", patterns.ErrNil)
	}
	m := opts.meter()
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
			name := metric.WithAttributes(resourceName(resource))
			for i, c := range counters {
				o.ObserveFloat64(gauges[i], c.of(&values), name)
			}
		}
		return nil
	}, observed...)
}

// resourceName returns the attribute for a key of [heat.Snapshot.Resources].
func resourceName(resource string) attribute.KeyValue {
	if resource == "" {
		return attribute.String("azpatterns.resource", "connections")
	}
	switch name := resource[1:]; resource[0] {
	case 't':
		return attribute.String("db.collection.name", name)
	case 'q':
		return attribute.String("messaging.destination.name", name)
	default:
		return attribute.String("azpatterns.container", name)
	}
}
