package largeentity_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Blobs to mark, to delete, to which a row refers, and young ones are swept twice, in one sweep and in pieces.
func TestAToSweepBlobsInPiecesDoesTheSame(t *testing.T) {
	var reports [2][2]patterns.SweepReport
	for i := range 2 {
		inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
			id := func(n int) keys.Key { return keys.Key{Partition: jones.Partition, Row: fmt.Sprint(n)} }
			insert := func(n int) {
				e := newJones(fmt.Sprint(n), large)
				e.Email = id(n).Row
				assert.Must(table.Insert(t.Context(), e))(t)
			}
			remove := func(from, to int) {
				for n := from; n < to; n++ {
					assert.NoError(t, table.Delete(t.Context(), id(n), azcore.ETagAny))
				}
			}
			for n := range 12 {
				insert(n)
			}
			remove(0, 6)
			time.Sleep(2 * day)
			want := []patterns.SweepReport{report(12, 6, 6, 0), report(13, 9, 3, 6*large)}
			for round := range 2 {
				acct.Fault(storagetest.On("*").Delay(time.Second), storagetest.On("Blob.List").ShortPage(4))
				sweep := func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
					return open[employee](t, table.Client(), table.Container(), nil).Sweep(t.Context(), o)
				}
				before := stored(t, table.Container())
				got, cursors := harness.SweepInPieces(t, patterns.SweepOptions{DryRun: true}, sweep)
				want[round].Skipped = want[round].Found - want[round].Done
				if !reflect.DeepEqual(got, want[round]) || !reflect.DeepEqual(stored(t, table.Container()), before) || len(cursors) < 2 {
					t.Errorf("the dry run in %d pieces reports %+v, want %+v", len(cursors)+1, got, want[round])
				}
				if i == 0 {
					got = assert.Must(sweep(nil))(t)
					got.Requests = 0
				} else {
					got, _ = harness.SweepInPieces(t, patterns.SweepOptions{}, sweep)
				}
				acct.ClearFaults()
				if reports[i][round] = got; len(stored(t, table.Container())) != got.Found-got.Done+got.Marked {
					t.Errorf("swept %+v, %d blobs are left", got, len(stored(t, table.Container())))
				}
				if round == 0 {
					remove(6, 9)
					time.Sleep(2 * day)
					insert(12) // which is young
				}
			}
		})
	}
	assert.DeepEqual(t, reports[1], reports[0], "in pieces")
}

func TestAToSweepBlobsRefusesOtherCursorsAndPartitions(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		item := assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
		item.Value.Photo = noise("b", large)
		assert.Must(table.Replace(t.Context(), item))(t)
		acct.Fault(storagetest.On("Blob.List").Delay(time.Second).ShortPage(1))
		cursor := assert.Must(table.Sweep(t.Context(), &patterns.SweepOptions{Deadline: 1}))(t).Cursor
		harness.WantBadCursors(t, cursor, func() int { return len(acct.Log()) }, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return table.Sweep(t.Context(), o)
		})
		other := open(t, table.Client(), table.Container(), &largeentity.Options[employee]{Prefix: "x"})
		_, prefix := other.Sweep(t.Context(), &patterns.SweepOptions{Cursor: cursor})
		_, partitions := table.Sweep(t.Context(), &patterns.SweepOptions{Partitions: []string{}})
		if !errors.Is(prefix, patterns.ErrBadCursor) || !errors.Is(partitions, patterns.ErrBadOption) {
			t.Errorf("another prefix: %v, Partitions: %v", prefix, partitions)
		}
	})
}
