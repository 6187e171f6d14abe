package eventual_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// largestInline is the length of the longest string that fits into a message of
// kind "full" whose id is a UUID and whose time has all its nine digits.
const largestInline = 48<<10 - 512 - len(`{"azp":1,"id":"01234567-0123-0123-0123-0123456789ab","kind":"full","at":"2026-01-01T00:00:00.123456789Z","body":""}`)

func blobs(t testing.TB, c *container.Client) []string {
	t.Helper()
	var names []string
	pager := c.NewListBlobsFlatPager(nil)
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range page.Segment.BlobItems {
			names = append(names, *b.Name)
		}
	}
	return names
}

func TestAPayloadThatDoesNotFitGoesThroughABlob(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for name, c := range map[string]struct {
			size  int
			blobs int
		}{
			"small":         {1, 0},
			"just fits":     {largestInline, 0},
			"one too much":  {largestInline + 2 + 8, 1}, // the time may be shorter by its zeros
			"48 KiB":        {48 << 10, 1},
			"five megabyte": {5 << 20, 1},
		} {
			t.Run(name, func(t *testing.T) {
				blobsOf := b.Container(t)
				s := newBench(t, b, func(o *eventual.Options) { o.Container = blobsOf })
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
				s.put(t, "full", want, &eventual.EnqueueOptions{Container: blobsOf})
				wantRequests(t, b, map[string]int{"Queue.Put": 1, "Blob.Put": c.blobs})
				if n := len(blobs(t, blobsOf)); n != c.blobs {
					t.Errorf("%d blobs", n)
				}
				wantOutcomes(t, s.until(t, 2), eventual.Retrying, eventual.Done)
				if got != want {
					t.Errorf("got %d bytes", len(got))
				}
				if n := len(blobs(t, blobsOf)); n != 0 {
					t.Errorf("%d blobs are left", n)
				}
				wantEmpty(t, s.queue)
			})
		}
	})
}

func TestWithoutAContainerALargePayloadIsRefusedBeforeAnyRequest(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		queue := b.Queue(t)
		b.ResetRequests()
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 48<<10), nil)
		if !errors.Is(err, patterns.ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		wantRequests(t, b, nil)
	})
}

func TestADamagedOrMissingPayloadMakesAPoisonMessageAtOnce(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for name, c := range map[string]struct {
			spoil  func(c *container.Client, blob string) error
			reason error
		}{
			"gone": {func(c *container.Client, blob string) error {
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
				blobsOf := b.Container(t)
				s := newBench(t, b, func(o *eventual.Options) { o.Container = blobsOf })
				eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
					t.Error("handled")
					return nil
				})
				s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: blobsOf})
				if err := c.spoil(blobsOf, blobs(t, blobsOf)[0]); err != nil {
					t.Fatal(err)
				}
				es := s.until(t, 1)
				wantOutcomes(t, es, eventual.Poisoned)
				if !errors.Is(es[0].Err, c.reason) {
					t.Errorf("got %v", es[0].Err)
				}
				if d := peek(t, s.tools(t))[0]; d.Reason != c.reason.Error() || d.Payload != nil {
					t.Errorf("got %+v", d)
				}
			})
		}
	})
}

func TestAPoisonMessageKeepsItsPayloadUntilItIsDiscarded(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		blobsOf := b.Container(t)
		s := newBench(t, b, func(o *eventual.Options) { o.Container = blobsOf })
		works := false
		eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
			if works && len(job.Message) == 60<<10 {
				return nil
			}
			return eventual.Cancel(errFails)
		})
		for range 2 {
			s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: blobsOf})
		}
		s.until(t, 2)
		if n := len(blobs(t, blobsOf)); n != 2 {
			t.Fatalf("%d blobs", n)
		}
		p := s.tools(t)
		n := 0
		taken(t, p, func(d *eventual.Dead) {
			do := p.Replay
			if n++; n == 2 {
				do = p.Discard
			}
			if err := do(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
		if n := len(blobs(t, blobsOf)); n != 1 {
			t.Errorf("%d blobs after one was discarded", n)
		}
		works = true
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		if n := len(blobs(t, blobsOf)); n != 0 {
			t.Errorf("%d blobs", n)
		}
	})
}

func TestAReplyLostWhileThePayloadIsStoredDoesNoHarm(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		blobsOf, queue := b.Container(t), b.Queue(t)
		b.Fault(fault.On("Blob.Put").Nth(1).LoseReply())
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: blobsOf})
		if err != nil {
			t.Fatal(err)
		}
		if b, m := len(blobs(t, blobsOf)), count(t, queue); b != 1 || m != 1 {
			t.Errorf("%d blobs, %d messages", b, m)
		}
	})
}

func TestAPayloadWhoseMessageIsRefusedIsTakenBack(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		blobsOf, queue := b.Container(t), b.Queue(t)
		b.Fault(fault.On("Queue.Put").Status(403, "AuthorizationFailure"))
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: blobsOf})
		var e *eventual.Error
		if !errors.As(err, &e) || e.Status != 403 || errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		if n := len(blobs(t, blobsOf)); n != 0 {
			t.Errorf("%d blobs", n)
		}
	})
}

// The first try puts the message, its reply is lost, and the next are refused.
func TestARefusalAfterALostReplyIsNoAnswer(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for _, status := range []int{403, 503} {
			blobsOf, queue := b.Container(t), b.Queue(t)
			b.Fault(fault.On("Queue.Put").Nth(1).LoseReply(), fault.On("Queue.Put").Nth(2).Times(fault.Forever).Status(status, "Refused"))
			err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: blobsOf})
			b.ClearFaults()
			if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrThrottled) != (status == 503) {
				t.Errorf("%d: %v", status, err)
			}
			if b, m := len(blobs(t, blobsOf)), count(t, queue); b != 1 || m != 1 {
				t.Errorf("%d: %d blobs, %d messages", status, b, m)
			}
		}
	})
}

func TestSweepDeletesOldPayloadsOnly(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		blobsOf, queue := b.Container(t), b.Queue(t)
		put := func() {
			err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: blobsOf})
			if err != nil {
				t.Fatal(err)
			}
		}
		put()
		put()
		if _, err := blobsOf.NewBlockBlobClient("somebody's").UploadBuffer(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * 24 * time.Hour)
		put()
		time.Sleep(11 * 24 * time.Hour)
		for _, want := range []int{2, 0} {
			b.ResetRequests()
			n, err := eventual.SweepClaims(t.Context(), blobsOf, 0)
			if err != nil || n != want {
				t.Errorf("swept %d, %v, want %d", n, err, want)
			}
			wantRequests(t, b, map[string]int{"Blob.List": 1, "Blob.Delete": want})
		}
		if left := blobs(t, blobsOf); len(left) != 2 {
			t.Errorf("%v are left", left)
		}
	})
}
