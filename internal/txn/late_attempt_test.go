package txn_test

import (
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// late delays the first request of an operation until b.Arrive.
func late(op string) storagetest.Rule {
	return storagetest.On(op).Nth(1).LateRequest(time.Hour, time.Hour)
}

func unknownOnly(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, patterns.ErrOutcomeUnknown) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrNotFound) {
		t.Errorf("%s: got %v, want an unknown outcome and nothing certain", what, err)
	}
}

// atAnyStamps runs body on every account, with and without stamps.
func atAnyStamps(t *testing.T, body func(t *testing.T, b *harness.Backend, name string, table, other *patterns.Table[counter])) {
	t.Helper()
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, stamped := range map[string]bool{"plain rows": false, "stamped rows": true} {
			t.Run(name, func(t *testing.T) {
				opts := &patterns.TableOptions[counter]{StampWrites: stamped}
				table := harness.UniqueName()
				client := b.NamedTable(t, table)
				b.ClearFaults()
				body(t, b, table, harness.NewTable(t, client, opts), harness.NewTable(t, b.Direct(t, table), opts))
			})
		}
	})
}

func TestAnInsertIsNotRefusedWhileAnAttemptMayArrive(t *testing.T) {
	atAnyStamps(t, func(t *testing.T, b *harness.Backend, _ string, table, other *patterns.Table[counter]) {
		theirs, err := other.Insert(t.Context(), &counter{"hits", "0", 1})
		assert.NoError(t, err)
		b.Fault(late("Table.Insert"), late("Table.Batch"))
		_, err = table.Insert(t.Context(), &counter{"hits", "0", 2})
		unknownOnly(t, "insert", err)
		_, err = table.Batch().Insert(&counter{"hits", "1", 2}).Insert(&counter{"hits", "0", 2}).Commit(t.Context())
		unknownOnly(t, "batch", err)
		assert.NoError(t, other.Delete(t.Context(), theirs.Key, theirs.ETag))
		assert.Equal(t, b.Arrive(), 2, "requests arrive")
		assert.Equal(t, assert.Must(other.Get(t.Context(), theirs.Key))(t).Value.N, 2)
	})
}

func TestARowThatWasReplacedDoesNotRuleOutAnInsert(t *testing.T) {
	atAnyStamps(t, func(t *testing.T, b *harness.Backend, name string, _, other *patterns.Table[counter]) {
		client := b.AfterEachTry(t, name, func(try int) {
			if try > 1 {
				return
			}
			assert.Equal(t, other.Delete(t.Context(), tally, ""), nil)
			assert.Equal(t, assert.ErrorOf(other.Insert(t.Context(), &counter{"hits", "0", 1})), nil)
		})
		table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		b.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
		_, err := table.Insert(t.Context(), &counter{"hits", "0", 2})
		unknownOnly(t, "insert", err)
	})
}

func TestALateAttemptUnderAnETagHasNoEffect(t *testing.T) {
	atAnyStamps(t, func(t *testing.T, b *harness.Backend, _ string, table, other *patterns.Table[counter]) {
		item := assert.Must(other.Insert(t.Context(), &counter{"hits", "0", 1}))(t)
		b.Fault(late("Table.Replace"), late("Table.Delete"))
		item.Value.N = 2
		replaced := assert.Must(table.Replace(t.Context(), item))(t)
		assert.NoError(t, table.Delete(t.Context(), item.Key, replaced.ETag))
		assert.NoError(t, assert.ErrorOf(other.Insert(t.Context(), &counter{"hits", "0", 3})))
		assert.Equal(t, b.Arrive(), 2, "requests arrive")
		assert.Equal(t, assert.Must(other.Get(t.Context(), item.Key))(t).Value.N, 3)
		assert.Equal(t, other.Delete(t.Context(), item.Key, azcore.ETagAny), nil)
	})
}

// A late attempt of a write without a condition makes the row once more the version that an
// update was based on, after the update was applied.
func TestARowThatWasMadeAgainDoesNotRuleOutAnUpdate(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		stamped := &patterns.TableOptions[counter]{StampWrites: true}
		table := harness.NewTable(t, b.NamedTable(t, name), stamped)
		b.Fault(late("Table.*"))
		_, err := table.Upsert(t.Context(), &counter{"hits", "0", 1}, patterns.Replace)
		assert.NoError(t, err)
		b.ClearFaults()

		client := b.AfterEachTry(t, name, func(try int) {
			if try == 2 { // of the update, after its read
				b.Arrive()
			}
		})
		b.Fault(storagetest.On("Table.Replace").LoseReply())
		_, err = harness.NewTable(t, client, stamped).Update(t.Context(), tally, addOne)
		unknownOnly(t, "update", err)
	})
}
