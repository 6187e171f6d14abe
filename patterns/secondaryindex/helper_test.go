package secondaryindex_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// employee is that of the guide. The keys of its rows are department and "empid_" + id.
type employee struct {
	PartitionKey string // department
	RowKey       string
	FirstName    string
	LastName     string
	Age          int32
	EmailAddress string
	Badge        string `table:",omitempty"`
}

func newEmployee(department, id, first, last, email string) *employee {
	return &employee{PartitionKey: department, RowKey: "empid_" + id, FirstName: first, LastName: last, Age: 34, EmailAddress: email}
}

func (e *employee) key() keys.Key { return keys.Key{Partition: e.PartitionKey, Row: e.RowKey} }

func jones() *employee {
	return newEmployee("Sales", "000223", "Mary", "Jones", "jonesj@contoso.com")
}

func emailOf(e *employee) (string, bool) { return e.EmailAddress, e.EmailAddress != "" }
func badgeOf(e *employee) (string, bool) { return e.Badge, e.Badge != "" }
func lastOf(e *employee) (string, bool)  { return e.LastName, true }

// indexes is one index of each kind.
type indexes struct {
	email  *secondaryindex.Index[employee] // in the partition, unique, sparse
	last   *secondaryindex.Index[employee] // in the partition, not unique
	badge  *secondaryindex.Index[employee] // in another table, unique, all in one partition
	byLast *secondaryindex.Index[employee] // in another partition, not unique
	slim   *secondaryindex.Index[employee] // in the partition, slim and folded
	other  *aztables.Client                // of badge
}

func newIndexes(t testing.TB, other *aztables.Client) indexes {
	return indexes{
		other: other,
		email: secondaryindex.Intra("email", emailOf, nil),
		last:  secondaryindex.Intra("last", lastOf, &secondaryindex.Options[employee]{NonUnique: true}),
		badge: secondaryindex.Inter("badge", other, badgeOf, &secondaryindex.Options[employee]{
			Partition: func(_, _ string) string { return "badge_" },
		}),
		byLast: secondaryindex.Inter("lastname", nil, lastOf, &secondaryindex.Options[employee]{NonUnique: true}),
		slim: secondaryindex.Intra("mail", emailOf, &secondaryindex.Options[employee]{
			Fold: true, Only: []string{"FirstName", "LastName"},
		}),
	}
}

func (x indexes) views() []patterns.View[employee] {
	return []patterns.View[employee]{x.email, x.last, x.badge, x.byLast, x.slim}
}

func newStore(t testing.TB, client *aztables.Client, q patterns.OutboxQueue, views ...patterns.View[employee]) *patterns.Store[employee] {
	t.Helper()
	return harness.NewStore(t, client, &patterns.StoreOptions[employee]{Views: views, Outbox: q})
}

func insert(t testing.TB, store *patterns.Store[employee], all ...*employee) {
	t.Helper()
	for _, e := range all {
		assert.Must(store.Insert(t.Context(), e))(t)
	}
}

func ids(all []secondaryindex.Entry[employee]) []string {
	var names []string
	for _, e := range all {
		names = append(names, e.Primary.Row[len("empid_"):])
	}
	return names
}

func wantIDs(t testing.TB, seq iter.Seq2[secondaryindex.Entry[employee], error], want ...string) {
	t.Helper()
	if got := ids(assert.All(t, seq)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// rawTable returns the table that contains the rows of ix.
func rawTable(t testing.TB, x indexes, ix *secondaryindex.Index[employee], store *patterns.Store[employee]) *patterns.Table[employee] {
	t.Helper()
	client := store.Table().Client()
	if assert.Must(ix.Engine())(t).Foreign() {
		client = x.other
	}
	return harness.NewTable(t, client, &patterns.TableOptions[employee]{Keyless: true})
}
