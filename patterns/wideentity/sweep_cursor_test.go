package wideentity_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// abandoned stores entities in three partitions, of each third one the rows of two staged writes whose
// process was killed, and rows of another program.
func abandoned(t *testing.T, b *harness.Backend, name string) {
	t.Helper()
	client := b.Service(t).NewClient(name)
	table := open[properties](t, client, nil)
	for i := range 12 {
		key := keys.Key{Partition: fmt.Sprint("p", i%3), Row: fmt.Sprintf("%03d", i)}
		v := properties{"A": "first"}
		assert.Must(table.Insert(t.Context(), keyed(key, &v)))(t)
		_, err := client.AddEntity(t.Context(), fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q}`, key.Partition, key.Row), nil)
		assert.NoError(t, err)
		if i%4 != 1 {
			continue
		}
		for range 2 {
			killed := open[properties](t, b.Service(t).NewClient(name), nil)
			wideentity.SetBatchBytes(killed, smallBatch)
			b.Fault(storagetest.On("Table.Batch").Nth(2).Times(storagetest.Forever).LoseRequest())
			v := large("x")
			if _, err := killed.Put(t.Context(), keyed(key, &v)); err == nil {
				t.Fatal("the write was not abandoned")
			}
			b.ClearFaults()
		}
	}
}

func TestAToSweepWideEntitiesInPiecesDoesTheSame(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for what, opts := range map[string]patterns.SweepOptions{"all": {}, "two partitions": {Partitions: []string{"p2", "p1", "p2"}}} {
			var reports [2]patterns.SweepReport
			var left [2]int
			for i := range 2 {
				name := harness.UniqueName()
				b.NamedTable(t, name)
				abandoned(t, b, name)
				time.Sleep(2 * time.Hour)
				b.Fault(storagetest.On("*").Delay(time.Second), storagetest.On("Table.Query").ShortPage(3))
				sweep := func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
					return open[properties](t, b.Service(t).NewClient(name), nil).Sweep(t.Context(), o)
				}
				dry := opts
				dry.DryRun = true
				want := assert.Must(sweep(&dry))(t)
				want.Requests = 0
				before := rawRows(t, b, b.Direct(t, name))
				got, cursors := harness.SweepInPieces(t, dry, sweep)
				if !reflect.DeepEqual(got, want) || rawRows(t, b, b.Direct(t, name)) != before || got.Done == 0 || len(cursors) < 10 {
					t.Errorf("%s: the dry run in %d pieces reports %+v, want %+v", what, len(cursors)+1, got, want)
				}
				if reports[i] = got; i == 0 {
					reports[i] = assert.Must(sweep(&opts))(t)
					reports[i].Requests = 0
				} else {
					reports[i], _ = harness.SweepInPieces(t, opts, sweep)
				}
				b.ClearFaults()
				if left[i] = rawRows(t, b, b.Direct(t, name)); left[i] != before-want.Done {
					t.Errorf("%s: %d rows are left of %d", what, left[i], before)
				}
				if r := assert.Must(sweep(&opts))(t); r.Found != 0 {
					t.Errorf("%s: another sweep finds %+v", what, r)
				}
			}
			if !reflect.DeepEqual(reports[0], reports[1]) || left[0] != left[1] {
				t.Errorf("%s: one sweep: %+v, in pieces: %+v", what, reports[0], reports[1])
			}
		}
	})
}

func TestAToSweepWideEntitiesRefusesOtherCursors(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		name, other := harness.UniqueName(), harness.UniqueName()
		b.NamedTable(t, name)
		b.NamedTable(t, other)
		abandoned(t, b, name)
		b.Fault(storagetest.On("*").Delay(time.Second), storagetest.On("Table.Query").ShortPage(3))
		table := open[properties](t, b.Service(t).NewClient(name), nil)
		cursor := assert.Must(table.Sweep(t.Context(), &patterns.SweepOptions{Deadline: 1}))(t).Cursor
		harness.WantBadCursors(t, cursor, func() int { return len(b.Requests()) }, func(o *patterns.SweepOptions) (patterns.SweepReport, error) {
			return table.Sweep(t.Context(), o)
		})
		if _, err := open[properties](t, b.Service(t).NewClient(other), nil).Sweep(t.Context(), &patterns.SweepOptions{Cursor: cursor}); !errors.Is(err, patterns.ErrBadCursor) {
			t.Errorf("another table: %v", err)
		}
	})
}
