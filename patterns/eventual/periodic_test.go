package eventual_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestPeriodicTaskRunsAgainAfterErrorsAndPanics(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		var log locked
		s := newFixture(t, b, func(o *eventual.Options) {
			infrequentPolls(o)
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		n := 0
		eventual.Every(s.worker, "task", time.Hour, func(context.Context) error {
			switch n++; n {
			case 1:
				return errFails
			case 2:
				panic("oh")
			}
			return nil
		})
		stop := s.start(t)
		time.Sleep(10 * time.Hour) // the first run is at a random time in the first hour
		stop()
		assert.Equal(t, n, 10, "runs in 10 hours")
		if text := log.b.String(); strings.Count(text, "task=task") != 2 || !strings.Contains(text, "handler panicked: value of type string") {
			t.Errorf("log:\n%s", text)
		}
	})
}

func TestMalformedPeriodicTaskIsRefused(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	for name, c := range map[string]struct {
		register func(*eventual.Worker)
		want     string
		is       error
	}{
		"nil function": {func(w *eventual.Worker) { eventual.Every(w, "task", time.Hour, nil) }, "function", patterns.ErrNil},
		"interval":     {func(w *eventual.Worker) { eventual.Every(w, "task", 0, nothing) }, "interval", nil},
		"nil store":    {func(w *eventual.Worker) { eventual.HandleSweep(w, time.Hour, nil, nil) }, "store", patterns.ErrNil},
	} {
		w := assert.Must(eventual.NewWorker(newQueueClient(t), nil))(t)
		c.register(w)
		err := w.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRegistrationWhileTheWorkerRunsIsRefused(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		var log locked
		s := newFixture(t, b, func(o *eventual.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.worker.Run(ctx) }()
		time.Sleep(time.Second)
		eventual.Every(s.worker, "late task", time.Hour, func(context.Context) error { return nil })
		eventual.Handle(s.worker, "late-kind", func(context.Context, eventual.Job[int]) error { return nil })
		if text := log.b.String(); !strings.Contains(text, "late task") || !strings.Contains(text, "late-kind") {
			t.Errorf("log:\n%s", text)
		}
		stop()
		for _, err := range []error{<-ended, s.worker.Run(t.Context())} { // the same worker cannot run again
			if !errors.Is(err, eventual.ErrBadKind) || !strings.Contains(err.Error(), "late task") || !strings.Contains(err.Error(), "late-kind") {
				t.Errorf("Run returned %v", err)
			}
		}
	})
}
