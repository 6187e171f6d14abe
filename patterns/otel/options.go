package otel

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options struct {
	// TracerProvider creates the spans. nil means the global one.
	TracerProvider trace.TracerProvider

	// MeterProvider records the metrics. nil means the global one.
	MeterProvider metric.MeterProvider
}

const scope = "github.com/azpatterns/azpatterns/patterns/otel"

// Telemetry reports to the providers of its options. [New] makes it. It is safe for concurrent use.
type Telemetry struct {
	meter    metric.Meter
	recorder *recorder
	bridge   *bridge
}

// New returns a Telemetry. The error is that of the MeterProvider.
func New(opts *Options) (*Telemetry, error) {
	o := cmp.Or(opts, &Options{})
	m := cmp.Or(o.MeterProvider, otel.GetMeterProvider()).Meter(scope)
	tracer := cmp.Or(o.TracerProvider, otel.GetTracerProvider()).Tracer(scope)
	recorder, err1 := newRecorder(m, tracer)
	bridge, err2 := newBridge(m, tracer)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("new telemetry: %w", err)
	}
	return &Telemetry{m, recorder, bridge}, nil
}

// The boundaries of the conventions for durations, in seconds.
var (
	databaseBoundaries = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	otherBoundaries    = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10} // messaging and HTTP
)

// seconds returns a histogram of durations.
func seconds(m metric.Meter, name, description string, boundaries []float64) (metric.Float64Histogram, error) {
	return m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(boundaries...))
}

// since returns the seconds since began.
func since(began time.Time) float64 { return time.Since(began).Seconds() }
