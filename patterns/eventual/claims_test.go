package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAToSweepClaimsInPiecesDoesTheSame(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		var reports [2]patterns.SweepReport
		for i := range 2 {
			payloads, queue := b.Container(t), b.Queue(t)
			for n := range 12 {
				err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10+n), &eventual.EnqueueOptions{Container: payloads})
				assert.NoError(t, err)
				putBlob(t, payloads, fmt.Sprintf("azp_claim/%x", n), []byte("another"))
				if n == 8 {
					time.Sleep(31 * 24 * time.Hour)
				}
			}
			b.Fault(storagetest.On("*").Delay(time.Second), storagetest.On("Blob.List").ShortPage(5))
			sweep := func(o *patterns.SweepOptions) (patterns.SweepReport, error) { return sweepClaims(t, payloads, o) }
			want := assert.Must(sweep(&patterns.SweepOptions{DryRun: true}))(t)
			want.Requests = 0
			got, cursors := harness.SweepInPieces(t, patterns.SweepOptions{DryRun: true}, sweep)
			if !reflect.DeepEqual(got, want) || got.Done != 9 || got.Skipped != 3 || len(blobs(t, payloads)) != 24 || len(cursors) < 8 {
				t.Errorf("the dry run in %d pieces reports %+v, want %+v", len(cursors)+1, got, want)
			}
			if i == 0 {
				reports[i] = assert.Must(sweep(nil))(t)
				reports[i].Requests = 0
			} else {
				reports[i], _ = harness.SweepInPieces(t, patterns.SweepOptions{}, sweep)
			}
			b.ClearFaults()
			if !reflect.DeepEqual(reports[i], want) || len(blobs(t, payloads)) != 15 {
				t.Errorf("%d: swept %+v, want %+v; %d blobs are left", i, reports[i], want, len(blobs(t, payloads)))
			}
		}
	})
}

func TestAToSweepClaimsRefusesOtherCursorsAndPartitions(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		payloads, other := b.Container(t), b.Container(t)
		for range 3 {
			err := eventual.Enqueue(t.Context(), b.Queue(t), "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
			assert.NoError(t, err)
		}
		b.Fault(storagetest.On("Blob.List").Delay(time.Second).ShortPage(1))
		r := assert.Must(sweepClaims(t, payloads, &patterns.SweepOptions{Deadline: 1}))(t)
		b.ResetRequests()
		harness.WantBadCursors(t, r.Cursor, func() int { return len(b.Requests()) }, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return sweepClaims(t, payloads, o)
		})
		_, wrong := sweepClaims(t, other, &patterns.SweepOptions{Cursor: r.Cursor})
		_, partitions := sweepClaims(t, payloads, &patterns.SweepOptions{Partitions: []string{}})
		_, deadline := sweepClaims(t, payloads, &patterns.SweepOptions{Deadline: -1})
		if !errors.Is(wrong, patterns.ErrBadCursor) || !errors.Is(partitions, patterns.ErrBadOption) || !errors.Is(deadline, patterns.ErrBadOption) {
			t.Errorf("another container: %v, Partitions: %v, negative Deadline: %v", wrong, partitions, deadline)
		}
		b.WantRequests(t, nil)
	})
}

// sweeper records the cursors with which it is called, and has as many steps as there are reports.
type sweeper struct {
	reports []error
	cursors []string
}

func (s *sweeper) Sweep(_ context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	s.cursors = append(s.cursors, opts.Cursor)
	n := len(s.cursors) - 1
	if n >= len(s.reports) {
		return patterns.SweepReport{}, nil
	}
	r := patterns.SweepReport{Progress: patterns.Progress{Cursor: fmt.Sprint(n)}}
	if s.reports[n] != nil {
		r.Cursor = opts.Cursor
	}
	return r, s.reports[n]
}

// A sweep that is repeated continues where the one before it stopped, and begins again after its end, and after an
// error that it does not get over.
func TestHandleSweepContinues(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w := newFixture(t, b, infrequentPolls)
		s := &sweeper{reports: []error{nil, nil, errFails, nil}}
		eventual.HandleSweep(w.worker, time.Hour, s, &patterns.SweepOptions{Deadline: time.Minute, Cursor: "first"})
		stop := w.start(t)
		time.Sleep(6 * time.Hour)
		stop()
		if want := []string{"first", "0", "1", "", "3", ""}; !slices.Equal(s.cursors, want) {
			t.Errorf("cursors %q, want %q", s.cursors, want)
		}
	})
}
