package otel

import (
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options are the options of all functions of this package. nil and the zero value mean the
// defaults.
type Options struct {
	// TracerProvider creates the spans. nil means the global one.
	TracerProvider trace.TracerProvider

	// MeterProvider records the metrics. nil means the global one.
	MeterProvider metric.MeterProvider
}

const scope = "github.com/azpatterns/azpatterns/patterns/otel"

func (o *Options) tracer() trace.Tracer {
	if o != nil && o.TracerProvider != nil {
		return o.TracerProvider.Tracer(scope)
	}
	return otel.Tracer(scope)
}

func (o *Options) meter() metric.Meter {
	if o != nil && o.MeterProvider != nil {
		return o.MeterProvider.Meter(scope)
	}
	return otel.Meter(scope)
}

// seconds returns a histogram of durations with the boundaries of the conventions.
func seconds(m metric.Meter, name, description string) (metric.Float64Histogram, error) {
	return m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10))
}

// since returns the seconds since began.
func since(began time.Time) float64 { return time.Since(began).Seconds() }
