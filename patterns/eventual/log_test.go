package eventual_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// locked is a buffer that may be used concurrently.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func TestEveryAttemptIsLoggedAndTraced(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		var log locked
		type span struct {
			name, status string
			ended        bool
			parent       any
		}
		var spans []*span
		type spanKey struct{}
		provider := tracing.NewProvider(func(name, version string) tracing.Tracer {
			return tracing.NewTracer(func(ctx context.Context, name string, o *tracing.SpanOptions) (context.Context, tracing.Span) {
				s := &span{name: name, parent: ctx.Value(spanKey{})}
				spans = append(spans, s)
				return context.WithValue(ctx, spanKey{}, s), tracing.NewSpan(tracing.SpanImpl{
					End:       func() { s.ended = true },
					SetStatus: func(_ tracing.SpanStatus, text string) { s.status = text },
				})
			}, nil)
		}, nil)
		s := newFixture(t, b, func(o *eventual.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			o.Tracing = provider
		})
		eventual.Handle(s.worker, "letter", func(ctx context.Context, j eventual.Job[letter]) error {
			if ctx.Value(spanKey{}) == nil {
				t.Error("no span in the handler's context")
			}
			if j.Attempt == 1 {
				return errFails
			}
			return nil
		})
		s.put(t, "letter", letter{To: "secret"}, &eventual.EnqueueOptions{ID: "op"})
		s.until(t, 2)
		if len(spans) != 2 || spans[0].status != errFails.Error() || spans[1].status != "" || !spans[0].ended || !spans[1].ended || !strings.HasPrefix(spans[0].name, "process ") {
			t.Errorf("spans %+v", spans)
		}
		text := log.b.String()
		for _, want := range []string{"level=WARN", "outcome=retrying kind=letter id=op attempt=1", `error="no stamps left"`, "level=DEBUG", "outcome=done"} {
			assert.Contains(t, text, want, "no", "in")
		}
		if strings.Contains(text, "secret") {
			t.Errorf("the log contains the payload:\n%s", text)
		}
	})
}

// slog.TextHandler formats errors with the verb %+v, which prints keys, unless the error
// is a slog.LogValuer.
func TestLogContainsNoKeys(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		var log locked
		s := newFixture(t, b, func(o *eventual.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		table := harness.NewTable[letter](t, b.Table(t), &patterns.TableOptions[letter]{Keyless: true})
		eventual.Handle(s.worker, "letter", func(ctx context.Context, j eventual.Job[letter]) error {
			_, err := table.Get(ctx, keys.Key{Partition: "secret", Row: "secret"})
			return err
		})
		eventual.Every(s.worker, "task", time.Second, func(ctx context.Context) error {
			_, err := table.Get(ctx, keys.Key{Partition: "secret", Row: "secret"})
			return err
		})
		s.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Update").Nth(1).Status(400, "InvalidInput"), storagetest.On("Queue.Get").Nth(3).Status(400, "InvalidInput"))
		stop := s.start(t)
		s.next(t, 1)
		time.Sleep(time.Minute)
		stop()
		text := log.b.String()
		for _, want := range []string{"job", "message not released", "task failed", "poll failed"} {
			assert.Contains(t, text, want, "no", "in")
		}
		if strings.Contains(text, "'secret'") || strings.Contains(text, "https://") {
			t.Errorf("the log contains keys or addresses:\n%s", text)
		}
	})
}
