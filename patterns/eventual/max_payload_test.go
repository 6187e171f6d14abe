package eventual_test

import (
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestMaxPayloadIsAnOption(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for size, want := range map[int64]error{1000: nil, 1001: eventual.ErrBadMessage} {
			_, _, err := process(t, b, size, size, func(o *eventual.Options) { o.MaxPayload = 1000 })
			assert.WantError(t, err, want, size, "bytes")
		}
	})
}

func TestTooLargePayloadIsRefusedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		payloads, queue := b.Container(t), b.Queue(t)
		b.ResetRequests()
		for max, size := range map[int64]int{0: 64 << 20, 1 << 20: 1 << 20} { // and two quotes
			err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", size), &eventual.EnqueueOptions{Container: payloads, MaxPayload: max})
			assert.WantError(t, err, patterns.ErrTooLarge, "MaxPayload", max)
		}
		b.WantRequests(t, nil)
	})
}
