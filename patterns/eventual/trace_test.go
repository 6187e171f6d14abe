package eventual_test

import (
	"context"
	"errors"
	"sort"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestNoMessageIsTooLargeBecauseOfItsTrace(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := b.Queue(t)
		assert.NoError(t, assert.ErrorOf(queue.Create(t.Context(), nil)))
		outbox := assert.Must(eventual.NewOutbox(queue, "", nil))(t)
		const header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		traced := calls.WithTrace(t.Context(), func(context.Context) string { return header })
		for name, send := range map[string]func(ctx context.Context, n int) error{
			"enqueue": func(ctx context.Context, n int) error {
				return eventual.Enqueue(ctx, queue, "k", strings.Repeat("x", n), &eventual.EnqueueOptions{ID: "i"})
			},
			"outbox": func(ctx context.Context, n int) error {
				_, err := outbox.Put(ctx, patterns.OutboxMessage{Partition: strings.Repeat("x", n), ID: "i"}, 0)
				return err
			},
		} {
			fits := func(n int) bool { return !errors.Is(send(t.Context(), n), patterns.ErrTooLarge) }
			largest := 45<<10 + sort.Search(5<<10, func(n int) bool { return !fits(45<<10 + n) }) - 1
			const digits = 10 // in which the texts of two times may differ
			for n, want := range map[int]error{10: nil, largest - 100: nil, largest - 2*digits: nil, largest + 2*digits: patterns.ErrTooLarge} {
				assert.WantError(t, send(traced, n), want, name, n-largest, "bytes")
			}
		}
	})
}
