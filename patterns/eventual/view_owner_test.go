package eventual_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// Two Stores over different tables have a view of the same name in one table. The messages of the
// second are retried, wait in the poison queue, and are processed after an operator has decided.
func TestMessagesOfARefusedStoreAreKept(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		index := b.Table(t)
		newStore := func(s *fixture, primaries *aztables.Client) *patterns.Store[member] {
			byEmail := patterns.ViewOf("byEmail", patterns.Shape{Target: patterns.TableTarget("index", index)}, func(m *member) ([]patterns.DerivedRow, error) {
				return []patterns.DerivedRow{patterns.CopyRow(keys.Key{Partition: "email", Row: m.Email}, patterns.CopySpec{Unique: true})}, nil
			})
			store := harness.NewStore(t, primaries, &patterns.StoreOptions[member]{Views: []patterns.View[member]{byEmail}, Outbox: newOutbox(t, s.queue, "")})
			eventual.HandleOutbox(s.worker, "", store)
			return store
		}
		first := newStore(newFixture(t, b, nil), b.Table(t))
		assert.NoError(t, first.Create(t.Context()))
		assert.Must(first.Insert(t.Context(), ken("first")))(t)

		s := newFixture(t, b, infrequentPolls)
		second := newStore(s, b.Table(t))
		b.Fault(crashBefore(4)...) // after put, reserve and transaction
		_, _ = second.Insert(t.Context(), ken("second"))
		b.ClearFaults()
		before := harness.Rows(t, index)

		es := s.until(t, 100)
		for i, e := range es {
			var v *patterns.ViewError
			want := eventual.Retrying
			if i == 99 {
				want = eventual.Poisoned
			}
			if e.Outcome != want || !errors.Is(e.Err, patterns.ErrBadView) || !errors.As(e.Err, &v) || v.View != "byEmail" {
				t.Fatalf("delivery %d: %v: %v", i+1, e.Outcome, e.Err)
			}
		}
		assert.Equal(t, len(harness.Rows(t, index)), len(before), "rows, there were")
		dead := peek(t, s.poisonQueue(t))
		if len(dead) != 1 || !strings.Contains(dead[0].Reason, `view "byEmail"`) || !strings.Contains(dead[0].Reason, "~azp_owner_byEmail") {
			t.Fatalf("poison queue: %+v", dead)
		}

		assert.Must(index.DeleteEntity(t.Context(), "~azp", "~azp_owner_byEmail", nil))(t)
		takeAll(t, s.poisonQueue(t), func(d *eventual.PoisonMessage) {
			assert.NoError(t, s.poisonQueue(t).Replay(t.Context(), d))
		})
		s.drain(t)()
		wantEmpty(t, s.poison)
		assert.Equal(t, records(t, second), 0, "records are left behind")
		copies := harness.NewTable[member](t, index, nil)
		if got := harness.Get(t, copies, keys.Key{Partition: "email", Row: "second"}); got.Value.Age != 23 {
			t.Errorf("the copy is %+v", got)
		}
	})
}
