package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

type tagged struct {
	PartitionKey, RowKey string
	Tags                 []byte
}

// TestAChangeThatRunsAgainStartsFromTheRow alters what the item read refers to, and
// has to start over because a copy is not where it should be.
func TestAChangeThatRunsAgainStartsFromTheRow(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		at := func(tag byte) keys.Key { return keys.Key{Partition: "p", Row: fmt.Sprint("tag_", tag)} }
		view := patterns.NewView("byTag", patterns.Shape{}, func(v *tagged) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(at(v.Tags[0]), patterns.CopySpec{})}, nil
		})
		client := b.Table(t)
		table, err := patterns.NewTable[tagged](client, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := patterns.NewStore(table, &patterns.StoreOptions[tagged]{Views: []patterns.View[tagged]{view}})
		if err != nil {
			t.Fatal(err)
		}
		item, err := s.Insert(t.Context(), &tagged{"p", "id_1", []byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Delete(t.Context(), at(1), ""); err != nil {
			t.Fatal(err)
		}
		runs := 0
		item, err = s.UpdateItem(t.Context(), item, func(v *tagged) error { runs++; v.Tags[0]++; return nil })
		if err != nil || runs != 2 || item.Value.Tags[0] != 2 {
			t.Errorf("raised to %d in %d runs: %v", item.Value.Tags[0], runs, err)
		}
		if _, err := table.Get(t.Context(), at(2)); err != nil {
			t.Errorf("the copy: %v", err)
		}
	})
}

// TestAConflictIsNeverSaidOfWhatMayHaveBeenDone loses the reply to a Put, changes
// the row before it is read again, and leaves no try.
func TestAConflictIsNeverSaidOfWhatMayHaveBeenDone(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		p, err := newPlace(ctx, viewsHere)
		if err != nil {
			return err
		}
		other, err1 := p.start(&process{})
		a, err2 := p.start(&process{tries: 1})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		h := jones()
		if _, err := a.Insert(ctx, h); err != nil {
			return err
		}
		var raced atomic.Bool
		a.sending = func(method, path string) {
			if method != "GET" || !a.hasLost() || !raced.CompareAndSwap(false, true) {
				return
			}
			_, err = other.Update(ctx, h.key(), func(h *hire) error { h.Age++; return nil })
		}
		a.lost = a.steps + 2 // read, write
		h.Name = "Ann Smith"
		_, perr := a.Put(ctx, h)
		if !raced.Load() || !errors.Is(perr, patterns.ErrOutcomeUnknown) || errors.Is(perr, patterns.ErrConflict) {
			t.Errorf("(raced: %v) got %v", raced.Load(), perr)
		}
		return errors.Join(err, inPartition(ctx, p))
	})
	if err != nil {
		t.Error(err)
	}
}
