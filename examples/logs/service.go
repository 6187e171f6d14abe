package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns/logdata"
)

const (
	pause      = 5 * time.Second // between two requests to a host
	flushEvery = 2 * time.Minute
)

// serve simulates the service on one host for a day. It logs to a [slog.Logger] and flushes
// the records every two minutes. A real service does not call Flush: it sets
// Options.FlushAge, and calls Close when it ends. That does not work here, because the
// clock is simulated.
func serve(ctx context.Context, logs *container.Client, host string) (records int, err error) {
	w, err := logdata.NewWriter(logs, "web", &logdata.Options{Name: host, FlushAge: -1})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close(context.WithoutCancel(ctx))) }()
	handler, err := logdata.NewHandler(w, nil)
	if err != nil {
		return 0, err
	}
	now := today
	log := slog.New(&simulated{handler, &now}).With("host", host)
	for ; now.Before(today.AddDate(0, 0, 1)); now = now.Add(pause) {
		request(ctx, log, records)
		records++
		if now.Add(pause).Sub(today)%flushEvery == 0 {
			if err := w.Flush(ctx); err != nil {
				return records, err
			}
		}
	}
	return records, nil
}

// request handles the n-th order, and logs the result.
func request(ctx context.Context, log *slog.Logger, n int) {
	order := slog.Group("order", "id", 100000+n, "items", n%7+1)
	switch {
	case n%13 == 8:
		log.ErrorContext(ctx, "payment refused", order, "reason", `card "expired"; asked again`)
	case n%5 == 3:
		log.WarnContext(ctx, "slow", order, "took", time.Duration(n%11)*time.Second)
	default:
		log.InfoContext(ctx, "served", order)
	}
}

// simulated is a handler that sets the time of records to that of the simulated clock.
type simulated struct {
	slog.Handler
	now *time.Time
}

func (s *simulated) Handle(ctx context.Context, r slog.Record) error {
	r.Time = *s.now
	return s.Handler.Handle(ctx, r)
}

func (s *simulated) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &simulated{s.Handler.WithAttrs(attrs), s.now}
}

func (s *simulated) WithGroup(name string) slog.Handler {
	return &simulated{s.Handler.WithGroup(name), s.now}
}
