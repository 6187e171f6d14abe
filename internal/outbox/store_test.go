package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestCopiesInThePartitionCostNoRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{byEmail()}}))(t)
		ctx := t.Context()
		check := func(n int, err error) {
			t.Helper()
			assert.NoError(t, err)
			b.WantRequestCount(t, n)
			assert.Equal(t, verify(ctx, client, nil, []string{"byEmail"}, nil), nil)
			b.ResetRequests()
		}
		h := jones()
		item, err := s.Insert(ctx, h)
		check(1, err)
		h.Email = "ann@contoso.com"
		item, err = s.PutItem(ctx, item, h)
		check(1, err)
		_, err = s.UpdateItem(ctx, item, func(h *hire) error { h.Email = ""; return nil })
		check(1, err)
		_, err = s.Update(ctx, h.key(), func(h *hire) error { h.Email = "x@y"; return nil })
		check(2, err)
		h.Email = "z@y"
		item, err = s.Put(ctx, h)
		check(2, err)
		check(1, s.DeleteItem(ctx, item))
		_, err = s.Put(ctx, h)
		check(2, err)
		check(2, s.Delete(ctx, h.key()))
		check(1, s.Delete(ctx, h.key()))
	})
}

func TestADuplicateWritesNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, nil)
		client, other, q := s.client, s.other, s.queue
		ctx := t.Context()
		assert.NoError(t, assert.ErrorOf(s.Insert(ctx, jones())))
		refused := func(view string, err error) {
			t.Helper()
			var dup *patterns.DuplicateError
			if !errors.As(err, &dup) || dup.View != view || !errors.Is(err, patterns.ErrExists) {
				t.Errorf("got %v, want a duplicate in %s", err, view)
			}
			assert.Equal(t, verify(ctx, client, other, everyView, nil), nil)
			assert.Equal(t, q.Len(), 0, "messages remain")
		}
		h := &hire{Dept: "Sales", ID: "1", Name: "Bob", Email: "jonesj@contoso.com", Last: "Bloggs", Age: 20}
		_, err := s.Insert(ctx, h)
		refused("byEmail", err)
		h.Email, h.Badge = "", "B7"
		_, err = s.Insert(ctx, h)
		refused("byBadge", err)
		h.Badge = ""
		assert.NoError(t, assert.ErrorOf(s.Insert(ctx, h)))
		_, err = s.Update(ctx, h.key(), func(h *hire) error { h.Badge = "B7"; return nil })
		refused("byBadge", err)
		_, err = s.Update(ctx, h.key(), func(h *hire) error { h.Email = "jonesj@contoso.com"; return nil })
		refused("byEmail", err)
		_, err = s.Insert(ctx, h)
		if !errors.Is(err, patterns.ErrExists) || errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("a second insert: %v", err)
		}
		assert.Equal(t, q.Len(), 0, "messages remain")
	})
}

func TestEveryViewReflectsEveryChange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, func(_ context.Context, _ keys.Key, err error) { t.Errorf("pending: %v", err) })
		client, other, q := s.client, s.other, s.queue
		ctx := t.Context()
		check := func(err error) {
			t.Helper()
			assert.NoError(t, err)
			assert.Equal(t, verify(ctx, client, other, everyView, nil), nil)
			assert.Equal(t, q.Len(), 0, "messages remain")
		}
		h := jones()
		_, err := s.Insert(ctx, h)
		check(err)
		two := *h
		two.ID, two.Email, two.Badge, two.Head = "2", "", "", true
		_, err = s.Put(ctx, &two)
		check(err)
		_, err = s.Update(ctx, h.key(), func(h *hire) error {
			h.Email, h.Badge, h.Name, h.Last, h.Age = "new@contoso.com", "B8", "Ann Smith", "Smith", 35
			return nil
		})
		check(err)
		_, err = s.Update(ctx, two.key(), func(h *hire) error { h.Head, h.Badge = false, "B7"; return nil })
		check(err)
		_, err = s.Update(ctx, h.key(), func(h *hire) error { h.Head = true; return nil })
		check(err)
		check(s.Delete(ctx, h.key()))
		check(s.Delete(ctx, two.key()))
		left := assert.Must(readTable(ctx, client))(t)
		for key := range left {
			if key != "Sales|department" && key != "company|all" && !strings.HasPrefix(key, "company|~azp_sum_") {
				t.Errorf("%s remains", key)
			}
		}
	})
}

func TestWritesOfAnItemFailIfTheEntityHasChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, nil)
		client, other, q := s.client, s.other, s.queue
		ctx := t.Context()
		was := assert.Must(s.Insert(ctx, jones()))(t)
		assert.NoError(t, assert.ErrorOf(s.Update(ctx, was.Key, func(h *hire) error { h.Email = "two"; return nil })))
		three := jones()
		three.Email = "three"
		assert.WantError(t, assert.ErrorOf(s.PutItem(ctx, was, three)), patterns.ErrConflict, "PutItem")
		assert.WantError(t, s.DeleteItem(ctx, was), patterns.ErrConflict, "DeleteItem")
		runs := 0
		assert.NoError(t, assert.ErrorOf(s.UpdateItem(ctx, was, func(h *hire) error { runs++; h.Last = "Smith"; return nil })))
		assert.Equal(t, runs, 2)
		assert.Equal(t, verify(ctx, client, other, everyView, nil), nil)
		assert.Failed(t, s.DeleteItem(ctx, patterns.Item[hire]{Value: *three, Key: was.Key}), "an item without an ETag was accepted")
		if _, err := s.Update(ctx, was.Key, func(h *hire) error { h.ID = "other"; return nil }); !errors.Is(err, patterns.ErrKeyChanged) {
			t.Errorf("a changed key: %v", err)
		}
		mine := errors.New("mine")
		assert.Equal(t, assert.ErrorOf(s.Update(ctx, was.Key, func(*hire) error { return mine })), mine, "the closure's error became")
		if _, err := s.Update(ctx, keys.Key{Partition: "Sales", Row: "id_x"}, func(*hire) error { return nil }); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("update of nothing: %v", err)
		}
		assert.Equal(t, q.Len(), 0, "messages remain")
	})
}

type tagged struct {
	PartitionKey, RowKey string
	Tags                 []byte
}

// The function changes memory that the item refers to. It runs twice because a copy is
// missing.
func TestAnUpdateThatRunsAgainStartsFromTheStoredRow(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		at := func(tag byte) keys.Key { return keys.Key{Partition: "p", Row: fmt.Sprint("tag_", tag)} }
		view := patterns.ViewOf("byTag", patterns.Shape{}, func(v *tagged) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(at(v.Tags[0]), patterns.CopySpec{})}, nil
		})
		client := b.Table(t)
		table := assert.Must(patterns.NewTable[tagged](client, nil))(t)
		s := assert.Must(patterns.NewStore(table, &patterns.StoreOptions[tagged]{Views: []patterns.View[tagged]{view}}))(t)
		item, err := s.Insert(t.Context(), &tagged{"p", "id_1", []byte{1}})
		assert.NoError(t, err)
		assert.NoError(t, table.Delete(t.Context(), at(1), ""))
		runs := 0
		item, err = s.UpdateItem(t.Context(), item, func(v *tagged) error { runs++; v.Tags[0]++; return nil })
		if err != nil || runs != 2 || item.Value.Tags[0] != 2 {
			t.Errorf("raised to %d in %d runs: %v", item.Value.Tags[0], runs, err)
		}
		assert.Equal(t, assert.ErrorOf(table.Get(t.Context(), at(2))), nil, "the copy")
	})
}

func TestRowsOlderThanTheViewsGetTheirDerivedRows(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, nil)
		client, other := s.client, s.other
		plain := assert.Must(newHires(client, patterns.StoreOptions[hire]{}))(t)
		ctx := t.Context()
		var hires []*hire
		for i := range 5 {
			h := &hire{Dept: "Sales", ID: fmt.Sprint(i), Name: "Ann", Email: fmt.Sprint("e", i), Badge: fmt.Sprint("b", i), Last: "Jones", Age: 30}
			assert.NoError(t, assert.ErrorOf(plain.Insert(ctx, h)))
			hires = append(hires, h)
		}
		thief := *hires[1]
		thief.ID, thief.Email = "9", "e4"
		assert.NoError(t, assert.ErrorOf(s.Insert(ctx, &thief)), "the index does not contain the key yet")
		if _, err := s.Put(ctx, hires[1]); !errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("the badge is taken by now: %v", err)
		}
		assert.NoError(t, s.Delete(ctx, thief.key()))
		for _, h := range hires[:2] {
			assert.NoError(t, assert.ErrorOf(s.Put(ctx, h)))
		}
		assert.NoError(t, assert.ErrorOf(s.Update(ctx, hires[2].key(), func(h *hire) error { h.Email, h.Last = "new", "Smith"; return nil })))
		assert.NoError(t, s.Delete(ctx, hires[3].key()))
		assert.NoError(t, s.Repair(ctx, hires[4].key()))
		assert.NoError(t, verify(ctx, client, other, everyView, nil))

		// Rows that another process deletes are restored.
		raw := client
		assert.NoError(t, assert.ErrorOf(raw.DeleteEntity(ctx, "Sales", "email_e0", nil)))
		assert.NoError(t, assert.ErrorOf(raw.DeleteEntity(ctx, "badge", "b1", nil)))
		assert.NoError(t, assert.ErrorOf(s.Update(ctx, hires[0].key(), func(h *hire) error { h.Age++; return nil })))
		assert.NoError(t, s.Repair(ctx, hires[1].key()))
		assert.NoError(t, verify(ctx, client, other, everyView, nil))
		assert.WantError(t, s.Repair(ctx, keys.Key{Partition: "Sales", Row: "id_none"}), patterns.ErrNotFound, "repair of nothing")
	})
}
