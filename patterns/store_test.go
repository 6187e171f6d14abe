package patterns_test

import (
	"context"
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func jones() *hire {
	return &hire{Dept: "Sales", ID: "000223", Name: "Ann Jones", Email: "jonesj@contoso.com", Badge: "B7", Last: "Jones", Age: 34}
}

// requests checks how many requests were made since the last check.
func requests(t *testing.T, b *harness.Backend, want int) {
	t.Helper()
	if log := b.Requests(); len(log) != want {
		t.Errorf("%d requests, want %d:\n%v", len(log), want, log)
	}
	b.ResetRequests()
}

func TestLocalCopiesCostOneRequestForInsertAndTwoForTheRest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: []patterns.View[hire]{byEmail()}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		check := func(n int, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			requests(t, b, n)
			if err := verify(ctx, client, nil, []string{"byEmail"}, nil); err != nil {
				t.Error(err)
			}
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

func TestATakenKeyWritesNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, q := b.Table(t), b.Table(t), &memQueue{}
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: allViews(other), Outbox: q})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if _, err := s.Insert(ctx, jones()); err != nil {
			t.Fatal(err)
		}
		refused := func(view string, err error) {
			t.Helper()
			var dup *patterns.DuplicateError
			if !errors.As(err, &dup) || dup.View != view || !errors.Is(err, patterns.ErrExists) {
				t.Errorf("got %v, want a duplicate in %s", err, view)
			}
			if err := verify(ctx, client, other, everyView, nil); err != nil {
				t.Error(err)
			}
			if q.len() != 0 {
				t.Errorf("%d messages are left", q.len())
			}
		}
		h := &hire{Dept: "Sales", ID: "1", Name: "Bob", Email: "jonesj@contoso.com", Last: "Bloggs", Age: 20}
		_, err = s.Insert(ctx, h)
		refused("byEmail", err)
		h.Email, h.Badge = "", "B7"
		_, err = s.Insert(ctx, h)
		refused("byBadge", err)
		h.Badge = ""
		if _, err := s.Insert(ctx, h); err != nil {
			t.Fatal(err)
		}
		_, err = s.Update(ctx, h.key(), func(h *hire) error { h.Badge = "B7"; return nil })
		refused("byBadge", err)
		_, err = s.Update(ctx, h.key(), func(h *hire) error { h.Email = "jonesj@contoso.com"; return nil })
		refused("byEmail", err)
		_, err = s.Insert(ctx, h)
		if !errors.Is(err, patterns.ErrExists) || errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("a second insert: %v", err)
		}
		if q.len() != 0 {
			t.Errorf("%d messages are left", q.len())
		}
	})
}

func TestEveryViewFollowsEveryChange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, q := b.Table(t), b.Table(t), &memQueue{}
		s, err := newHires(client, patterns.StoreOptions[hire]{
			Views: allViews(other), Outbox: q,
			OnPending: func(_ context.Context, _ keys.Key, err error) { t.Errorf("pending: %v", err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if err := verify(ctx, client, other, everyView, nil); err != nil {
				t.Error(err)
			}
			if q.len() != 0 {
				t.Errorf("%d messages are left", q.len())
			}
		}
		h := jones()
		_, err = s.Insert(ctx, h)
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
		left, err := shelve(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		for key := range left {
			if key != "Sales|department" && key != "company|all" {
				t.Errorf("%s is left", key)
			}
		}
	})
}
