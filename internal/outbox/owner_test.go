package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

const rowB7 = "(PartitionKey='badge',RowKey='B7')"

// A worker drains an update that releases a badge, while another update takes the badge
// back for the same entity.
func TestAWorkerReadsTheRowBeforeThePrimary(t *testing.T) {
	testRace(t, func(r *race) {
		setup, a, b, q, w := r.process(), r.process(), r.process(), r.process(), r.process()
		_, err := setup.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		a.changed = a.Kill
		_ = a.setBadge(r.ctx, "B8")
		var back, gone atomic.Bool
		w.sending = func(method, path string) {
			if method == "GET" && strings.HasSuffix(path, rowB7) && back.CompareAndSwap(false, true) {
				r.must(b.setBadge(r.ctx, "B7"))
			}
		}
		w.loseReply = func(method, path string) bool {
			if method == "DELETE" && strings.HasSuffix(path, rowB7) && gone.CompareAndSwap(false, true) {
				_, err := q.Insert(r.ctx, rival())
				r.refused("another entity", err)
			}
			return false
		}
		_, err = w.Handle(r.ctx, r.queue.Message(0))
		r.must(err)
		if !back.Load() {
			r.must(errors.New("the worker did not read the row"))
		}
	})
}

// The badge gets another owner between a writer's transaction and its write of the
// reserved row.
func TestALateWriterLeavesTheRowToItsNextOwner(t *testing.T) {
	testRace(t, func(r *race) {
		a, b, q := r.process(), r.process(), r.process()
		var late atomic.Bool
		a.sending = func(method, path string) {
			if method != "GET" && strings.HasSuffix(path, rowB7) && late.CompareAndSwap(false, true) {
				r.handle(0)
				r.must(b.setBadge(r.ctx, "B8"))
				_, err := q.Insert(r.ctx, rival())
				r.must(err)
			}
		}
		_, err := a.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		if !late.Load() {
			r.must(errors.New("the writer did not write the row"))
		}
	})
}

// An entity takes back a badge that it had released, after another operation has read the
// row and before that one reserves it.
func TestARowThatItsEntityTookBackIsNotFree(t *testing.T) {
	testRace(t, func(r *race) {
		setup, a, b, q := r.process(), r.process(), r.process(), r.process()
		_, err := setup.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		a.changed = a.Kill
		_ = a.setBadge(r.ctx, "B8") // the row still exists
		var back atomic.Bool
		q.sending = func(method, path string) {
			if method != "GET" && strings.HasSuffix(path, rowB7) && back.CompareAndSwap(false, true) {
				r.must(b.setBadge(r.ctx, "B7"))
			}
		}
		_, err = q.Insert(r.ctx, rival())
		r.refused("another entity", err)
		if !back.Load() {
			r.must(errors.New("the row was not read"))
		}
	})
}

func TestAUniqueRowIsNeverFreeWhileItsPrimaryNeedsIt(t *testing.T) {
	err := inVirtualTime(t, func(ctx context.Context) error {
		h := jones()
		badge := func(p *process, badge string) error {
			_, err := p.Update(ctx, h.key(), func(h *hire) error { h.Badge = badge; return nil })
			return err
		}
		var q atomic.Pointer[process]
		// Before the first writer deletes the row of B7, another takes it back for the same entity.
		c, a, done, err := duringRequest(ctx, "DELETE", "(PartitionKey='badge',RowKey='B7')", func(b *process) error {
			q.Store(b)
			return badge(b, "B7")
		})
		if err != nil {
			return err
		}
		if _, err := a.Insert(ctx, h); err != nil {
			return err
		}
		back := a.sending
		var deleted atomic.Bool
		a.sending = func(method, path string) {
			back(method, path)
			if q.Load() != nil && deleted.CompareAndSwap(true, false) { // immediately after the row is deleted, which must not happen
				if _, err := q.Load().Insert(ctx, &hire{Dept: "Sales", ID: "2", Badge: "B7", Last: "x"}); !errors.As(err, new(*patterns.DuplicateError)) {
					t.Errorf("a second entity got the badge: %v", err)
				}
			}
			if method == "DELETE" && strings.Contains(path, "badge") {
				deleted.Store(true)
			}
		}
		err = badge(a, "B8")
		return errors.Join(err, done(), c.recover(ctx), c.clean(ctx))
	})
	assert.Equal(t, err, nil)
}

// Two entities use one key in different views.
func TestTwoViewsOfOneKeySpaceAreUniqueTogether(t *testing.T) {
	spare := func(partition func(*hire) string) patterns.View[hire] {
		return patterns.ViewOf("bySpare", patterns.Shape{Remote: true}, func(h *hire) ([]patterns.DerivedRow, error) {
			if h.Last == "" {
				return nil, nil
			}
			return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: partition(h), Row: h.Last}, patterns.CopySpec{Unique: true})}, nil
		})
	}
	local := patterns.ViewOf("byBadge", patterns.Shape{}, func(h *hire) ([]patterns.DerivedRow, error) {
		if h.Badge == "" {
			return nil, nil
		}
		return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: h.Dept, Row: h.Badge}, patterns.CopySpec{})}, nil
	})
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for what, views := range map[string][]patterns.View[hire]{
			"elsewhere":        {byBadge(), spare(func(*hire) string { return "badge" })},
			"in the partition": {local, spare(func(h *hire) string { return h.Dept })},
		} {
			client := b.Table(t)
			s := assert.Must(newHires(client, patterns.StoreOptions[hire]{Views: views, Outbox: &harness.OutboxQueue{}}))(t)
			assert.NoError(t, assert.ErrorOf(s.Insert(t.Context(), &hire{Dept: "Sales", ID: "1", Badge: "B7"})))
			before, err := readTable(t.Context(), client)
			assert.NoError(t, err)
			_, err = s.Insert(t.Context(), &hire{Dept: "Sales", ID: "2", Badge: "B8", Last: "B7"})
			var dup *patterns.DuplicateError
			if !errors.As(err, &dup) || dup.View != "bySpare" {
				t.Errorf("%s: got %v, want a duplicate in bySpare", what, err)
			}
			after, err := readTable(t.Context(), client)
			assert.NoError(t, err)
			for key, p := range after {
				assert.Equal(t, show(p), show(before[key]), what, key, "became")
			}
			// The row moves from one view of an entity to the other.
			_, err = s.Update(t.Context(), keys.Key{Partition: "Sales", Row: "id_1"}, func(h *hire) error {
				h.Badge, h.Last = h.Last, h.Badge
				return nil
			})
			assert.Equal(t, err, nil)
			if after, err = readTable(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			row := after["badge|B7"]
			if row == nil {
				row = after["Sales|B7"]
			}
			if row["azp_view"] != "bySpare" || row["azp_rk"] != "id_1" || row["azp_op"] != nil {
				t.Errorf("%s: the row is %s", what, show(row))
			}
		}
	})
}

func TestRowsOfOtherEntitiesAreNotChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFullStore(t, b, nil)
		client, other := s.client, s.other
		ctx := t.Context()
		anything := assert.Must(patterns.NewTable(client, &patterns.TableOptions[struct{ What string }]{Keyless: true}))(t)
		for _, key := range []keys.Key{{Partition: "Sales", Row: "email_jonesj@contoso.com"}, {Partition: "badge", Row: "B7"}, {Partition: "Sales", Row: "last_Jones"}} {
			assert.NoError(t, assert.ErrorOf(anything.Do(ctx, patterns.InsertOp(&struct{ What string }{"mine"}).At(key))))
			before := assert.Must(readTable(ctx, client))(t)
			if _, err := s.Insert(ctx, jones()); !errors.As(err, new(*patterns.DuplicateError)) {
				t.Errorf("a row at %v: %v", key, err)
			}
			after := assert.Must(readTable(ctx, client))(t)
			assert.Equal(t, len(after), len(before), "a row at", key, before, "became", after)
			assert.NoError(t, anything.Delete(ctx, key, ""))
		}
		// A copy is not mistaken for an entity.
		assert.NoError(t, assert.ErrorOf(s.Insert(ctx, jones())))
		assert.WantError(t, s.Delete(ctx, keys.Key{Partition: "Sales", Row: "email_jonesj@contoso.com"}), patterns.ErrBadKey, "delete of a copy")
		assert.WantError(t, s.Delete(ctx, keys.Key{Partition: "Sales", Row: "~azp_outbox_x"}), patterns.ErrBadKey, "delete of an outbox row")
		assert.Equal(t, verify(ctx, client, other, everyView, nil), nil)
	})
}

// A foreign row exists at the key of a remote copy that is not unique.
func TestACopyWhoseRowIsTakenStaysPending(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		var pending []error
		s := newFullStore(t, b, func(_ context.Context, key keys.Key, err error) {
			assert.Equal(t, key, jones().key(), "pending")
			pending = append(pending, err)
		})
		client, other, q := s.client, s.other, s.queue
		ctx, at := t.Context(), keys.Key{Partition: "name_Ann Jones", Row: "Sales_000223"}
		taken := func(err error) {
			t.Helper()
			var dup *patterns.DuplicateError
			if !errors.As(err, &dup) || dup.View != "byName" || dup.Key != at {
				t.Errorf("got %v, want the row of byName", err)
			}
		}
		_, err := other.AddEntity(ctx, fmt.Appendf(nil, `{"PartitionKey":%q,"RowKey":%q,"What":"mine"}`, at.Partition, at.Row), nil)
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(s.Insert(ctx, jones())))
		assert.Equal(assert.Now(t), len(pending), 1)
		assert.Equal(assert.Now(t), q.Len(), 1)
		taken(pending[0])
		_, err = s.Handle(ctx, q.Message(0))
		taken(err)
		rows := assert.Must(readTable(ctx, other))(t)
		assert.Equal(t, show(rows[at.Partition+"|"+at.Row]), `{"What":"mine"}`, "the foreign row became")
		assert.NoError(t, verify(ctx, client, other, everyView, func(table, key string) bool { // all other rows are correct
			return table == "other" && key == at.Partition+"|"+at.Row || strings.Contains(key, "~azp_outbox_")
		}))
		assert.NoError(t, assert.ErrorOf(other.DeleteEntity(ctx, at.Partition, at.Row, nil)))
		assert.NoError(t, assert.ErrorOf(s.Handle(ctx, q.Message(0))))
		assert.NoError(t, verify(ctx, client, other, everyView, func(_, key string) bool { return strings.Contains(key, "~azp_outbox_") }))
	})
}
