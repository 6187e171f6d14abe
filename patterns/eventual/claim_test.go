package eventual_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// largestInline is the length of the longest string that fits into a message of kind
// "full" whose id is a UUID and whose time has all nine decimals.
const largestInline = 48<<10 - 512 - len(`{"azp":1,"id":"01234567-0123-0123-0123-0123456789ab","kind":"full","at":"2026-01-01T00:00:00.123456789Z","body":""}`)

func blobs(t testing.TB, c *container.Client) []string {
	t.Helper()
	var names []string
	pager := c.NewListBlobsFlatPager(nil)
	for pager.More() {
		page := assert.Must(pager.NextPage(context.Background()))(t)
		for _, b := range page.Segment.BlobItems {
			names = append(names, *b.Name)
		}
	}
	return names
}

func TestLargePayloadIsStoredInABlob(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, c := range map[string]struct {
			size  int
			blobs int
		}{
			"small":          {1, 0},
			"largest inline": {largestInline, 0},
			"one byte more":  {largestInline + 2 + 8, 1}, // trailing zeros of the time are omitted
			"48 KiB":         {48 << 10, 1},
			"5 MiB":          {5 << 20, 1},
		} {
			t.Run(name, func(t *testing.T) {
				payloads := b.Container(t)
				s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
				var got string
				eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
					if job.Attempt == 1 {
						return errFails
					}
					got = job.Message
					return nil
				})
				want := strings.Repeat("x", c.size)
				b.ResetRequests()
				s.put(t, "full", want, &eventual.EnqueueOptions{Container: payloads})
				b.WantRequests(t, map[string]int{"Queue.Put": 1, "Blob.Put": c.blobs})
				assert.Equal(t, len(blobs(t, payloads)), c.blobs, "blobs")
				wantOutcomes(t, s.until(t, 2), eventual.Retrying, eventual.Done)
				assert.Equal(t, got == want, true, len(got), "bytes")
				assert.Equal(t, len(blobs(t, payloads)), 0, "blobs are left")
				wantEmpty(t, s.queue)
			})
		}
	})
}

func TestLargePayloadWithoutContainerIsRefusedBeforeAnyRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		queue := b.Queue(t)
		b.ResetRequests()
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 48<<10), nil)
		assert.WantError(t, err, patterns.ErrTooLarge)
		b.WantRequests(t, nil)
	})
}

func TestMessageWithDamagedOrMissingPayloadIsMovedToPoisonImmediately(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, c := range map[string]struct {
			spoil  func(c *container.Client, blob string) error
			reason error
		}{
			"deleted": {func(c *container.Client, blob string) error {
				_, err := c.NewBlobClient(blob).Delete(context.Background(), nil)
				return err
			}, eventual.ErrClaimGone},
			"changed": {func(c *container.Client, blob string) error {
				_, err := c.NewBlockBlobClient(blob).UploadBuffer(context.Background(), bytes.Repeat([]byte("y"), 60<<10+2), nil)
				return err
			}, eventual.ErrClaimDamaged},
			"longer": {func(c *container.Client, blob string) error {
				_, err := c.NewBlockBlobClient(blob).UploadBuffer(context.Background(), make([]byte, 1<<20), nil)
				return err
			}, eventual.ErrClaimDamaged},
			"empty": {func(c *container.Client, blob string) error {
				_, err := c.NewBlockBlobClient(blob).UploadBuffer(context.Background(), nil, nil)
				return err
			}, eventual.ErrClaimDamaged},
		} {
			t.Run(name, func(t *testing.T) {
				payloads := b.Container(t)
				s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
				eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
					t.Error("the handler was called")
					return nil
				})
				s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
				assert.NoError(t, c.spoil(payloads, blobs(t, payloads)[0]))
				es := s.until(t, 1)
				wantOutcomes(t, es, eventual.Poisoned)
				assert.WantError(t, es[0].Err, c.reason)
				if d := peek(t, s.poisonQueue(t))[0]; d.Reason != c.reason.Error() || d.Payload != nil {
					t.Errorf("got %+v", d)
				}
			})
		}
	})
}

// The message may be leased by another worker, which reads the payload.
func TestPayloadOfAMessageThatIsNotFoundStays(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
		eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return nil })
		s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		b.Fault(storagetest.On("Queue.Delete").Nth(1).Status(http.StatusNotFound, "MessageNotFound"))
		s.until(t, 1)
		if names := blobs(t, payloads); len(names) != 1 {
			t.Errorf("payloads %q, want one", names)
		}
	})
}

func TestPoisonMessageKeepsItsPayloadUntilDiscarded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		payloads := b.Container(t)
		s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
		works := false
		eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
			if works && len(job.Message) == 60<<10 {
				return nil
			}
			return eventual.Cancel("", errFails)
		})
		for range 2 {
			s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		}
		s.until(t, 2)
		assert.Equal(assert.Now(t), len(blobs(t, payloads)), 2, "blobs")
		p := s.poisonQueue(t)
		n := 0
		takeAll(t, p, func(d *eventual.PoisonMessage) {
			do := p.Replay
			if n++; n == 2 {
				do = p.Discard
			}
			assert.Equal(t, do(t.Context(), d), nil)
		})
		assert.Equal(t, len(blobs(t, payloads)), 1, "blobs after one was discarded")
		works = true
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		assert.Equal(t, len(blobs(t, payloads)), 0, "blobs")
	})
}

func TestLostResponseWhileStoringThePayloadIsNoError(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		payloads, queue := b.Container(t), b.Queue(t)
		b.Fault(storagetest.On("Blob.Put").Nth(1).LoseReply())
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		assert.NoError(t, err)
		if b, m := len(blobs(t, payloads)), count(t, queue); b != 1 || m != 1 {
			t.Errorf("%d blobs, %d messages", b, m)
		}
	})
}

func TestPayloadIsDeletedIfItsMessageIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		payloads, queue := b.Container(t), b.Queue(t)
		b.Fault(storagetest.On("Queue.Put").Status(403, "AuthorizationFailure"))
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		var e *patterns.Error
		if !errors.As(err, &e) || e.Status != 403 || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		assert.Equal(t, len(blobs(t, payloads)), 0, "blobs")
	})
}

// The first try adds the message and its response is lost; the next tries are refused.
func TestRefusalAfterALostResponseLeavesTheOutcomeUnknown(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, status := range []int{403, 503} {
			payloads, queue := b.Container(t), b.Queue(t)
			b.Fault(storagetest.On("Queue.Put").Nth(1).LoseReply(), storagetest.On("Queue.Put").Nth(2).Times(storagetest.Forever).Status(status, "Refused"))
			err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
			b.ClearFaults()
			if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrThrottled) != (status == 503) {
				t.Errorf("%d: %v", status, err)
			}
			if b, m := len(blobs(t, payloads)), count(t, queue); b != 1 || m != 1 {
				t.Errorf("%d: %d blobs, %d messages", status, b, m)
			}
		}
	})
}

func TestClaimsAreSweptWhenTheyAreOld(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		payloads, queue := b.Container(t), b.Queue(t)
		put := func() {
			err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
			assert.NoError(t, err)
		}
		put()
		put()
		assert.NoError(t, assert.ErrorOf(payloads.NewBlockBlobClient("other").UploadBuffer(t.Context(), nil, nil)))
		time.Sleep(20 * 24 * time.Hour)
		put()
		time.Sleep(11 * 24 * time.Hour)
		size := int64(60<<10 + 2) // of the payload as JSON
		for _, c := range []struct {
			dryRun  bool
			done    int
			deletes int
		}{{true, 2, 0}, {false, 2, 2}, {false, 0, 0}} {
			b.ResetRequests()
			report, err := sweepClaims(t, payloads, &patterns.SweepOptions{DryRun: c.dryRun})
			wantSwept(t, report, err, c.done, 1, int64(c.done)*size)
			assert.Equal(t, report.Requests, 1+c.deletes, "requests")
			b.WantRequests(t, map[string]int{"Blob.List": 1, "Blob.Delete": c.deletes})
		}
		if left := blobs(t, payloads); len(left) != 2 {
			t.Errorf("%v are left", left)
		}
	})
}

// sweepClaims sweeps the payloads in a container.
func sweepClaims(t testing.TB, c *container.Client, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	t.Helper()
	return assert.Must(eventual.NewClaims(c, nil))(t).Sweep(t.Context(), opts)
}

// wantSwept fails unless the report counts so many payloads, of so many bytes.
func wantSwept(t testing.TB, report patterns.SweepReport, err error, done, skipped int, bytes int64) {
	t.Helper()
	want := patterns.Progress{Found: done + skipped, Done: done, Skipped: skipped, Bytes: bytes, Requests: report.Requests}
	if err != nil || report.Progress != want {
		t.Errorf("got %+v, %v, want %+v", report, err, want)
	}
}
