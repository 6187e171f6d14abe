package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestNewStoreNamesTheViewItRefuses(t *testing.T) {
	client := storagetest.New(t).Tables().NewClient("hires")
	named := func(name string, shape patterns.Shape) patterns.View[hire] {
		return patterns.NewView(name, shape, func(*hire) ([]patterns.DerivedRow, error) { return nil, nil })
	}
	for want, views := range map[string][]patterns.View[hire]{
		`view "a": view breaks its contract: two views have this name`:     {named("a", patterns.Shape{}), named("a", patterns.Shape{})},
		`a name has 1 to 64 letters`:                                       {named("a b", patterns.Shape{})},
		`view "a": view breaks its contract: it leaves the primary's part`: {named("a", patterns.Shape{Remote: true})},
		`StoreOptions.Outbox is needed`:                                    {named("a", patterns.Shape{Target: patterns.TableTarget("x", client)})},
		`its shape has no List`:                                            {named("a", patterns.Shape{Kind: patterns.Members})},
		`unknown kind`:                                                     {named("a", patterns.Shape{Kind: 7})},
		`view 0: nil`:                                                      {nil},
		`view 0: view breaks its contract: Name or Shape panicked`:         {(*deadView)(nil)},
	} {
		_, err := newHires(client, patterns.StoreOptions[hire]{Views: views})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := patterns.NewStore[hire](nil, &patterns.StoreOptions[hire]{}); !errors.Is(err, patterns.ErrNil) {
		t.Errorf("no table: %v", err)
	}
	keyless, err := patterns.NewTable(client, &patterns.TableOptions[hire]{Keyless: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := patterns.NewStore(keyless, &patterns.StoreOptions[hire]{}); !errors.Is(err, patterns.ErrBadKey) {
		t.Errorf("a keyless table: %v", err)
	}
}

func TestARefusedOperationSendsNothing(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		at := func(row string) func(*hire) ([]patterns.DerivedRow, error) {
			return func(h *hire) ([]patterns.DerivedRow, error) {
				return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: h.Dept, Row: row}, patterns.CopySpec{})}, nil
			}
		}
		many := func(h *hire) (rows []patterns.DerivedRow, err error) {
			for i := range 100 {
				rows = append(rows, patterns.CopyRow(keys.Key{Partition: h.Dept, Row: fmt.Sprint("x", i)}, patterns.CopySpec{}))
			}
			return rows, nil
		}
		far := func(h *hire) ([]patterns.DerivedRow, error) {
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "far", Row: h.ID}, patterns.CopySpec{})}, nil
		}
		for want, rows := range map[string]func(*hire) ([]patterns.DerivedRow, error){
			`view "v": view breaks its contract: a row has the primary's own key`: at("id_000223"),
			`a row key begins with "~azp"`:                                        at("~azp_outbox_x"),
			`view "v": view breaks its contract: panic`:                           func(*hire) ([]patterns.DerivedRow, error) { panic("jonesj") },
			`StoreOptions.Outbox is needed`:                                       far,
			`more than 100 operations`:                                            many,
		} {
			s, err := newHires(b.Table(t), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{patterns.NewView("v", patterns.Shape{}, rows)}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Insert(t.Context(), jones())
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "jonesj") {
				t.Errorf("got %v, want %q", err, want)
			}
			requests(t, b, 0)
			if strings.HasPrefix(want, "more") {
				var plan *patterns.PlanError
				if !errors.As(err, &plan) || !errors.Is(err, patterns.ErrTooLarge) || plan.Plan.Entities != 101 {
					t.Errorf("no plan in %v", err)
				}
			}
		}
	})
}

func TestAnotherEntitysRowIsNeverTouched(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, q := b.Table(t), b.Table(t), &memQueue{}
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: allViews(other), Outbox: q})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		anything, err := patterns.NewTable(client, &patterns.TableOptions[struct{ What string }]{Keyless: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []keys.Key{{Partition: "Sales", Row: "email_jonesj@contoso.com"}, {Partition: "badge", Row: "B7"}, {Partition: "Sales", Row: "last_Jones"}} {
			_, err := anything.Do(ctx, patterns.InsertOp(&struct{ What string }{"mine"}).At(key))
			if err != nil {
				t.Fatal(err)
			}
			before, err := shelve(ctx, client)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Insert(ctx, jones()); !errors.As(err, new(*patterns.DuplicateError)) {
				t.Errorf("a row at %v: %v", key, err)
			}
			after, err := shelve(ctx, client)
			if err != nil {
				t.Fatal(err)
			}
			if len(after) != len(before) {
				t.Errorf("a row at %v: %v became %v", key, before, after)
			}
			if err := anything.Delete(ctx, key, ""); err != nil {
				t.Fatal(err)
			}
		}
		// Nor is a copy taken for an entity.
		if _, err := s.Insert(ctx, jones()); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(ctx, keys.Key{Partition: "Sales", Row: "email_jonesj@contoso.com"}); !errors.Is(err, patterns.ErrBadKey) {
			t.Errorf("delete of a copy: %v", err)
		}
		if err := s.Delete(ctx, keys.Key{Partition: "Sales", Row: "~azp_outbox_x"}); !errors.Is(err, patterns.ErrBadKey) {
			t.Errorf("delete of an outbox row: %v", err)
		}
		if err := verify(ctx, client, other, everyView, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestACopyElsewhereThatMeetsAnothersRowStaysPending has a row stand where a copy that is
// not unique should go.
func TestACopyElsewhereThatMeetsAnothersRowStaysPending(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, q := b.Table(t), b.Table(t), &memQueue{}
		var pending []error
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: allViews(other), Outbox: q,
			OnPending: func(_ context.Context, key keys.Key, err error) {
				if key != jones().key() {
					t.Errorf("pending: %v", key)
				}
				pending = append(pending, err)
			}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, at := t.Context(), keys.Key{Partition: "name_Ann Jones", Row: "Sales_000223"}
		taken := func(err error) {
			t.Helper()
			var dup *patterns.DuplicateError
			if !errors.As(err, &dup) || dup.View != "byName" || dup.Key != at {
				t.Errorf("got %v, want the place of byName", err)
			}
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = other.AddEntity(ctx, fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q,"What":"mine"}`, at.Partition, at.Row), nil)
		check(err)
		_, err = s.Insert(ctx, jones())
		check(err)
		if len(pending) != 1 || q.len() != 1 {
			t.Fatalf("told of %v; %d wake-ups", pending, q.len())
		}
		taken(pending[0])
		_, err = s.Handle(ctx, q.messages[0].wakeup)
		taken(err)
		rows, err := shelve(ctx, other)
		check(err)
		if got := show(rows[at.Partition+"|"+at.Row]); got != `{"What":"mine"}` {
			t.Errorf("the other's row became %s", got)
		}
		check(verify(ctx, client, other, everyView, func(table, key string) bool { // the other places are right
			return table == "other" && key == at.Partition+"|"+at.Row || strings.Contains(key, "~azp_outbox_")
		}))
		_, err = other.DeleteEntity(ctx, at.Partition, at.Row, nil)
		check(err)
		_, err = s.Handle(ctx, q.messages[0].wakeup)
		check(err)
		check(verify(ctx, client, other, everyView, func(_, key string) bool { return strings.Contains(key, "~azp_outbox_") }))
	})
}

func TestATableThatIsOlderThanItsViewsIsTakenOver(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, q := b.Table(t), b.Table(t), &memQueue{}
		plain, err := newHires(client, patterns.StoreOptions[hire]{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: allViews(other), Outbox: q})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		var hires []*hire
		for i := range 5 {
			h := &hire{Dept: "Sales", ID: fmt.Sprint(i), Name: "Ann", Email: fmt.Sprint("e", i), Badge: fmt.Sprint("b", i), Last: "Jones", Age: 30}
			if _, err := plain.Insert(ctx, h); err != nil {
				t.Fatal(err)
			}
			hires = append(hires, h)
		}
		thief := *hires[1]
		thief.ID, thief.Email = "9", "e4"
		if _, err := s.Insert(ctx, &thief); err != nil {
			t.Fatalf("nobody has the key in the index yet: %v", err)
		}
		if _, err := s.Put(ctx, hires[1]); !errors.As(err, new(*patterns.DuplicateError)) {
			t.Errorf("the badge is taken by now: %v", err)
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		check(s.Delete(ctx, thief.key()))
		for _, h := range hires[:2] {
			_, err := s.Put(ctx, h)
			check(err)
		}
		_, err = s.Update(ctx, hires[2].key(), func(h *hire) error { h.Email, h.Last = "new", "Smith"; return nil })
		check(err)
		check(s.Delete(ctx, hires[3].key()))
		err = s.Repair(ctx, hires[4].key())
		check(err)
		check(verify(ctx, client, other, everyView, nil))

		// And what somebody else breaks, heals.
		raw := client
		_, err = raw.DeleteEntity(ctx, "Sales", "email_e0", nil)
		check(err)
		_, err = raw.DeleteEntity(ctx, "badge", "b1", nil)
		check(err)
		_, err = s.Update(ctx, hires[0].key(), func(h *hire) error { h.Age++; return nil })
		check(err)
		err = s.Repair(ctx, hires[1].key())
		check(err)
		check(verify(ctx, client, other, everyView, nil))
		if err := s.Repair(ctx, keys.Key{Partition: "Sales", Row: "id_none"}); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("repair of nothing: %v", err)
		}
	})
}

func TestAnItemFormFailsWhereTheEntityHasChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other, q := b.Table(t), b.Table(t), &memQueue{}
		s, err := newHires(client, patterns.StoreOptions[hire]{Views: allViews(other), Outbox: q})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		was, err := s.Insert(ctx, jones())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Update(ctx, was.Key, func(h *hire) error { h.Email = "two"; return nil }); err != nil {
			t.Fatal(err)
		}
		three := jones()
		three.Email = "three"
		if _, err := s.PutItem(ctx, was, three); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("PutItem: %v", err)
		}
		if err := s.DeleteItem(ctx, was); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("DeleteItem: %v", err)
		}
		runs := 0
		if _, err := s.UpdateItem(ctx, was, func(h *hire) error { runs++; h.Last = "Smith"; return nil }); err != nil || runs != 2 {
			t.Errorf("UpdateItem: %v after %d runs", err, runs)
		}
		if err := verify(ctx, client, other, everyView, nil); err != nil {
			t.Error(err)
		}
		if err := s.DeleteItem(ctx, patterns.Item[hire]{Value: *three, Key: was.Key}); err == nil {
			t.Error("an item without an ETag was taken for one that was read")
		}
		if _, err := s.Update(ctx, was.Key, func(h *hire) error { h.ID = "other"; return nil }); !errors.Is(err, patterns.ErrKeyChanged) {
			t.Errorf("a changed key: %v", err)
		}
		mine := errors.New("mine")
		if _, err := s.Update(ctx, was.Key, func(*hire) error { return mine }); err != mine {
			t.Errorf("the closure's error became %v", err)
		}
		if _, err := s.Update(ctx, keys.Key{Partition: "Sales", Row: "id_x"}, func(*hire) error { return nil }); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("update of nothing: %v", err)
		}
		if q.len() != 0 {
			t.Errorf("%d messages are left", q.len())
		}
	})
}

// deadView is a View that needs to be more than nil.
type deadView struct{ patterns.View[hire] }
