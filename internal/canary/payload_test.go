package canary_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/netip"
	"net/url"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// link is a URL with a decoder of its own, which quotes the text.
type link struct{ url.URL }

func (l *link) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err == nil && u.Scheme == "" {
		err = fmt.Errorf("no scheme in %q", text)
	}
	if err == nil {
		l.URL = *u
	}
	return err
}

func handle[M any](w *eventual.Worker, kind string) {
	eventual.Handle(w, kind, func(context.Context, eventual.Job[M]) error { return nil })
}

// payloads are bodies that cannot be decoded, and the types that quote them.
var payloads = []struct {
	kind, body string
	register   func(*eventual.Worker, string)
}{
	{"time", `"` + bird + `"`, handle[time.Time]},
	{"addr", `"` + bird + `"`, handle[netip.Addr]},
	{"prefix", `"` + address + `/99"`, handle[netip.Prefix]},
	{"big", `"` + bird + `"`, handle[big.Int]},
	{"bigfloat", `"` + bird + `"`, handle[big.Float]},
	{"bignumber", fraction, handle[big.Int]},
	{"number", `"` + bird + `"`, handle[json.Number]},
	{"int8", digits, handle[int8]},
	{"float", `1` + digits + `e999`, handle[float64]},
	{"bytes", `"` + bird + `!"`, handle[[]byte]},
	{"guid", guid[:8], handle[[16]byte]},
	{"link", `"` + bird + `"`, handle[link]},
	{"badlink", `"http://` + bird + `/%zz"`, handle[link]},
	{"quoting", `"` + bird + `"`, handle[quoting]},
	{"map", `{"` + bird + `":{"x":1}}`, handle[map[string]int]},
	{"mapkey", `{"` + bird + `":1}`, handle[map[int]int]},
	{"struct", `{"N":"` + bird + `"}`, handle[struct{ N int }]},
	{"slog", `"` + bird + `"`, handle[slog.Level]},
	{"nothing", `"` + bird + `"`, func(*eventual.Worker, string) {}},
}

// handlers fail with errors that quote the payload.
var handlers = map[string]func(text string) error{
	"new":     func(text string) error { return errors.New("bad " + text) },
	"wrapped": func(text string) error { return fmt.Errorf("bad %s: %w", text, context.Canceled) },
	"joined":  func(text string) error { return errors.Join(errors.New(text), fmt.Errorf("%s", text)) },
	"number":  func(text string) error { _, err := strconv.Atoi(text); return err },
	"cancel":  func(text string) error { return eventual.Cancel("cannot be sent", fmt.Errorf("bad %s", text)) },
	"typed":   func(text string) error { return &quotingError{text} },
	"panic":   func(text string) error { panic("bad " + text) },
	"error":   func(text string) error { panic(fmt.Errorf("bad %s", text)) },
	"bounds":  func(text string) error { i, _ := strconv.Atoi(digits); return errors.New(text[i:]) },
	"assert":  func(text string) error { return any(text).(error) },
	"link":    func(text string) error { _, err := url.Parse("http://" + text + "/%zz"); return err },
	"time":    func(text string) error { _, err := time.Parse(time.RFC3339, text); return err },
	"snooze":  func(text string) error { return fmt.Errorf("%s: %w", text, eventual.Snooze(24*time.Hour)) },
}

func TestNoEventLogSpanOrPoisonReasonContainsAPayload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, false)
		main, poison := e.queue("main"), e.queue("poison")
		var text, object bytes.Buffer
		events := make(chan eventual.Event, 1<<12)
		spans := make(chan string, 1<<12)
		provider := tracing.NewProvider(func(name, version string) tracing.Tracer {
			return tracing.NewTracer(func(ctx context.Context, name string, _ *tracing.SpanOptions) (context.Context, tracing.Span) {
				return ctx, tracing.NewSpan(tracing.SpanImpl{SetStatus: func(_ tracing.SpanStatus, text string) { spans <- text }})
			}, nil)
		}, nil)
		level := &slog.HandlerOptions{Level: slog.LevelDebug}
		w, err := eventual.NewWorker(main, &eventual.Options{Poison: poison, Tries: 2, Parallel: 1, Tracing: provider,
			Backoff: func(int) time.Duration { return time.Second }, Observe: func(event eventual.Event) { events <- event },
			Decode: func(text string) (string, []byte, error) {
				switch text {
				case bird + "1":
					return "", nil, fmt.Errorf("cannot decode %s", text)
				case bird + "2":
					panic(text)
				case bird + "3":
					return "kind of " + text, []byte(text), nil
				}
				return eventual.Raw, []byte(text), nil
			},
			Logger: slog.New(multi{slog.NewTextHandler(&text, level), slog.NewJSONHandler(&object, level)})})
		assert.NoError(t, err)
		send := func(message string) {
			assert.NoError(t, assert.ErrorOf(main.EnqueueMessage(t.Context(), message, nil)))
		}
		for _, p := range payloads {
			p.register(w, p.kind)
			send(base64.StdEncoding.EncodeToString([]byte(`{"azp":1,"id":"op","kind":"` + p.kind + `","at":"` + day + `","body":` + p.body + `}`)))
		}
		for kind, fail := range handlers {
			eventual.Handle(w, "fail-"+kind, func(_ context.Context, j eventual.Job[string]) error { return fail(j.Message) })
			assert.NoError(t, eventual.Enqueue(t.Context(), main, "fail-"+kind, bird, nil))
		}
		for _, damaged := range []string{bird, bird + "1", bird + "2", bird + "3", `{"azp":1,"id":"` + bird + `"`, `{"azp":1,"at":"` + bird + `"}`, `{"azp":` + digits + `}`,
			`{"azp":1,"id":"op","kind":"a ` + bird + `","at":"` + day + `","body":1}`, `{"azp":1,"id":"` + repeated(300) + `","kind":"a","at":"` + day + `","body":1}`} {
			send(damaged)
		}
		eventual.Every(w, "task", time.Minute, func(context.Context) error { return fmt.Errorf("task: %s", bird) })
		eventual.Every(w, "panics", time.Minute, func(context.Context) error { panic(bird) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		assert.NoError(t, w.Run(ctx))
		close(events)
		close(spans)
		poisoned := 0
		for event := range events {
			inspect(t, "event of "+event.Kind, event)
			if event.Err != nil {
				inspect(t, "error of "+event.Kind, event.Err)
			}
			if event.Outcome == eventual.Poisoned {
				poisoned++
			}
		}
		for status := range spans {
			search(t, "span", status)
		}
		search(t, "text log", text.String())
		search(t, "JSON log", object.String())
		p := assert.Must(w.PoisonQueue())(t)
		for m, err := range p.Take(t.Context()) {
			assert.NoError(t, err)
			search(t, "reason of "+m.Kind, m.Reason)
			if m.Reason == "" {
				t.Errorf("%s: no reason", m.Kind)
			}
		}
		assert.Equal(t, poisoned, len(payloads)+len(handlers)-1+9, "messages were moved to the poison queue")
	})
}

// The text of a handler's error is lost by default, but not the error.
func TestTheErrorOfAHandlerCanBeFoundAndPrintedInFull(t *testing.T) {
	for name, reason := range map[string]func(error) string{"error of type *canary_test.quotingError": nil, bird: error.Error, "own": func(error) string { return "own" }} {
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t, false)
			main := e.queue("main")
			events := make(chan eventual.Event, 10)
			w := assert.Must(eventual.NewWorker(main, &eventual.Options{Poison: e.queue("poison"), Reason: reason, Tries: 1, Observe: func(event eventual.Event) { events <- event }}))(t)
			eventual.Handle(w, "kind", func(_ context.Context, j eventual.Job[string]) error { return &quotingError{j.Message} })
			assert.NoError(t, eventual.Enqueue(t.Context(), main, "kind", bird, nil))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			assert.NoError(t, w.Run(ctx))
			event := <-events
			var found *quotingError
			if !errors.As(event.Err, &found) || event.Err.Error() != name || fmt.Sprintf("%+v", event.Err) != bird {
				t.Errorf("want %s, got %v, in full %+v", name, event.Err, event.Err)
			}
			p := assert.Must(w.PoisonQueue())(t)
			ms := assert.Must(p.Peek(t.Context(), 1))(t)
			assert.Equal(assert.Now(t), len(ms), 1, name)
			assert.Equal(t, ms[0].Reason, name, name)
		})
	}
}

// multi writes each record to all its handlers.
type multi []slog.Handler

func (multi) Enabled(context.Context, slog.Level) bool { return true }
func (m multi) WithAttrs([]slog.Attr) slog.Handler     { return m }
func (m multi) WithGroup(string) slog.Handler          { return m }
func (m multi) Handle(ctx context.Context, r slog.Record) error {
	for _, h := range m {
		if err := h.Handle(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
