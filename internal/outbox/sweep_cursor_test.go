package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// abandoned returns a cluster with operations whose processes were killed, before and after the
// commit, and whose messages were lost. Requests of an insert are concurrent, so what is left differs
// from call to call.
func abandoned(ctx context.Context) (*cluster, error) {
	c, err := newCluster(ctx, everyView)
	if err != nil {
		return nil, err
	}
	for i := range 12 {
		p, err := c.start(&process{die: 4 + i, after: true, now: true})
		if err != nil {
			return nil, err
		}
		h := &hire{Dept: fmt.Sprint("D", i%3), ID: fmt.Sprint(i), Name: fmt.Sprint("N", i), Email: fmt.Sprint(i, "@x"), Badge: fmt.Sprint("B", i), Last: fmt.Sprint("L", i)}
		_, _ = p.Insert(ctx, h)
	}
	c.queue.Clear()
	return c, nil
}

// The first sweep completes operations and releases reservations. The second removes the records.
func TestASweepInPiecesDoesTheSame(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		for _, inPieces := range []bool{false, true} {
			c, err := abandoned(ctx)
			if err != nil {
				return err
			}
			for _, wait := range []time.Duration{5 * testGrace, 2 * testExpiry} {
				time.Sleep(wait)
				if err := c.account.Fault(storagetest.On("Table.Query").ShortPage(2)); err != nil {
					return err
				}
				sweep := func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
					s, err := c.start(&process{takes: time.Second})
					if err != nil {
						return patterns.SweepReport{}, err
					}
					return s.Sweep(ctx, o)
				}
				before, err1 := readTable(ctx, c.own)
				want, err2 := sweep(&patterns.SweepOptions{DryRun: true})
				want.Requests = 0
				got, cursors := harness.SweepInPieces(t, patterns.SweepOptions{DryRun: true}, sweep)
				after, err3 := readTable(ctx, c.own)
				if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(before, after) || got.Done == 0 || len(cursors) < 3 {
					t.Errorf("the dry run in %d pieces reports %+v, want %+v", len(cursors)+1, got, want)
				}
				var err4 error
				if inPieces {
					got, _ = harness.SweepInPieces(t, patterns.SweepOptions{}, sweep)
				} else {
					got, err4 = sweep(nil)
					got.Requests = 0
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("swept %+v, the dry run of one sweep reported %+v; in pieces: %t", got, want, inPieces)
				}
				c.account.ClearFaults()
				if err := errors.Join(err1, err2, err3, err4); err != nil {
					return err
				}
			}
			if err := c.clean(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A cursor is one of a table, of partitions, and of the number of the table that is being read.
func TestASweepRefusesOtherCursors(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		c, err := abandoned(ctx)
		if err != nil {
			return err
		}
		s, err1 := c.start(&process{takes: time.Second})
		_, cursors := harness.SweepInPieces(t, patterns.SweepOptions{DryRun: true}, func(o *patterns.SweepOptions) (patterns.SweepReport, error) { return s.Sweep(ctx, o) })
		service, err2 := (&harness.Process{Inner: c.inner}).Tables(false, 0)
		if err := errors.Join(err1, err2); err != nil || len(cursors) == 0 {
			return fmt.Errorf("%d cursors, %w", len(cursors), err)
		}
		_, err1 = service.CreateTable(ctx, "hires2", nil)
		stranger, err2 := openHires(service.NewClient("hires2"), false, patterns.StoreOptions[hire]{})
		for _, cursor := range cursors {
			harness.WantBadCursors(t, cursor, func() int { return s.steps }, func(o *patterns.SweepOptions) (patterns.SweepReport, error) { return s.Sweep(ctx, o) })
			if _, err := stranger.Sweep(ctx, &patterns.SweepOptions{Cursor: cursor}); !errors.Is(err, patterns.ErrBadCursor) {
				t.Errorf("another table: %v", err)
			}
		}
		return errors.Join(err1, err2)
	})
	if err != nil {
		t.Error(err)
	}
}
