package otel_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/otel"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// BenchmarkGet measures point reads on the account in the process:
//
//   - off: without package otel
//   - unsampled: with it, and a sampler that records no span
//   - on: with it; spans are recorded, and discarded when they end
func BenchmarkGet(b *testing.B) {
	for _, c := range []struct {
		name    string
		on      bool
		sampler sdktrace.Sampler
	}{{name: "off"}, {"unsampled", true, sdktrace.NeverSample()}, {"on", true, sdktrace.AlwaysSample()}} {
		b.Run(c.name, func(b *testing.B) {
			acct := storagetest.New(b)
			options := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: acct.Transport()}}
			patterns.Accelerate(&options.ClientOptions)
			var provider tracing.Provider
			if c.on {
				opts := &otel.Options{
					TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(c.sampler), sdktrace.WithSpanProcessor(discard{})),
					MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
				}
				telemetry, err := otel.New(opts)
				if err != nil {
					b.Fatal(err)
				}
				provider = telemetry.Provider()
				telemetry.Attach(&options.ClientOptions)
			}
			table, err := patterns.NewTable(newClient(b, options), &patterns.TableOptions[employee]{Tracing: provider})
			if err != nil {
				b.Fatal(err)
			}
			if err := table.Create(b.Context()); err != nil {
				b.Fatal(err)
			}
			item, err := table.Insert(b.Context(), &employee{"Sales", "1", "Kwok"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := table.Get(b.Context(), item.Key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// discard is an exporter that drops spans when they end.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }
