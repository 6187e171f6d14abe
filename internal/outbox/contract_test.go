package outbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestNewStoreNamesTheViewItRefuses(t *testing.T) {
	client := storagetest.New(t).Tables().NewClient("hires")
	named := func(name string, shape patterns.Shape) patterns.View[hire] {
		return patterns.ViewOf(name, shape, func(*hire) ([]patterns.DerivedRow, error) { return nil, nil })
	}
	for want, views := range map[string][]patterns.View[hire]{
		`view "a": view breaks its contract: two views have this name`:     {named("a", patterns.Shape{}), named("a", patterns.Shape{})},
		`a name has 1 to 64 letters`:                                       {named("a b", patterns.Shape{})},
		`view "a": view breaks its contract: it leaves the primary's part`: {named("a", patterns.Shape{Remote: true})},
		`StoreOptions.Outbox is needed`:                                    {named("a", patterns.Shape{Target: patterns.TableTarget("x", client)})},
		`its shape has no List`:                                            {named("a", patterns.Shape{Kind: patterns.Members})},
		`unknown kind`:                                                     {named("a", patterns.Shape{Kind: 7})},
		`view 0: nil`:                                                      {nil},
		`view 0: view breaks its contract: its declaration panicked with a runtime.errorString`: {(*deadView)(nil)},
	} {
		_, err := newHires(client, patterns.StoreOptions[hire]{Views: views})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	assert.WantError(t, assert.ErrorOf(patterns.NewStore[hire](nil, &patterns.StoreOptions[hire]{})), patterns.ErrNil, "no table")
	keyless := assert.Must(patterns.NewTable(client, &patterns.TableOptions[hire]{Keyless: true}))(t)
	assert.WantError(t, assert.ErrorOf(patterns.NewStore(keyless, &patterns.StoreOptions[hire]{})), patterns.ErrBadKey, "a keyless table")
}

// deadView is a View whose nil pointer panics.
type deadView struct{ patterns.View[hire] }

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
			s, err := newHires(b.Table(t), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{patterns.ViewOf("v", patterns.Shape{}, rows)}})
			assert.NoError(t, err)
			_, err = s.Insert(t.Context(), jones())
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "jonesj") {
				t.Errorf("got %v, want %q", err, want)
			}
			b.WantRequestCount(t, 0)
			if strings.HasPrefix(want, "more") {
				var plan *patterns.PlanError
				if !errors.As(err, &plan) || !errors.Is(err, patterns.ErrTooLarge) || plan.Plan.Entities != 101 {
					t.Errorf("no plan in %v", err)
				}
			}
		}
	})
}

// copies derives n copies in the entity's partition.
func copies(n *int) patterns.View[hire] {
	return patterns.ViewOf("copies", patterns.Shape{}, func(h *hire) (rows []patterns.DerivedRow, err error) {
		for i := range *n {
			rows = append(rows, patterns.CopyRow(keys.Key{Partition: h.Dept, Row: fmt.Sprintf("x%02d", i)}, patterns.CopySpec{}))
		}
		return rows, nil
	})
}

// wantTooLarge checks that an operation was refused with a plan of a transaction of that many
// rows, and that nothing was sent.
func wantTooLarge(t *testing.T, b *harness.Backend, rows int, reason string, err error) {
	t.Helper()
	var plan *patterns.PlanError
	if !errors.As(err, &plan) || !errors.Is(err, patterns.ErrTooLarge) || !strings.Contains(err.Error(), reason) {
		t.Fatalf("got %v, want a plan refused because of %s", err, reason)
	}
	assert.Contains(t, plan.Plan.String(), fmt.Sprintf("transaction of %d rows", rows), "the plan is not of", rows, "rows", plan.Plan)
	b.WantRequestCount(t, 0)
}

// Copies of 90 KB are added until the transaction is too large.
func TestATransactionOfMoreThan4MiBIsRefusedWithThePlan(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		n := 40
		s, err := newHires(b.Table(t), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{copies(&n)}})
		assert.NoError(t, err)
		long := strings.Repeat("x", 30_000)
		h := &hire{Dept: "Sales", ID: "1", Name: long, Badge: long, Last: long}
		var sent, before int64
		for ; n < 60; n++ {
			b.ResetRequests()
			h.Age++ // every copy is written
			if _, err = s.Put(t.Context(), h); err != nil {
				break
			}
			log := b.Requests()
			before, sent = sent, log[len(log)-1].RequestBytes
		}
		if row := sent - before; sent > wire.MaxBatchBytes || sent+row <= wire.MaxBatchBytes {
			t.Errorf("%d bytes were sent, and a row of %d more refused", sent, row)
		}
		b.ResetRequests()
		h.ID = "2"
		_, err = s.Insert(t.Context(), h)
		wantTooLarge(t, b, n+1, fmt.Sprint(wire.MaxBatchBytes, " bytes"), err)
	})
}

// 99 copies fit in a transaction without an outbox row.
func TestTheOutboxRowCountsAsAnOperation(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		n, q := 99, &harness.OutboxQueue{}
		s, err := newHires(b.Table(t), patterns.StoreOptions[hire]{Views: []patterns.View[hire]{copies(&n), byBadge()}, Outbox: q})
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(s.Insert(t.Context(), withBadge(""))))
		assert.NoError(t, s.Delete(t.Context(), jones().key()))
		b.ResetRequests()
		_, err = s.Insert(t.Context(), withBadge("B7"))
		wantTooLarge(t, b, 101, "100 operations", err)
		assert.Equal(t, q.Len(), 0, "messages remain")
	})
}
