package access_test

import (
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/query"
)

// claim is a row that the tests write through patterns.Table.
type claim struct {
	PartitionKey, RowKey string
	N                    int32
}

func TestATableOpenedWithATokenKeepsToItsRange(t *testing.T) {
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			onServices(t, func(t *testing.T, a account) {
				_, name := a.table(t, key("alice", "a"), key("bob", "a"))
				s := access.Scope{Table: name, Range: access.Partition("alice"), Allow: access.All, Expiry: time.Now().Add(time.Hour), HTTP: !a.strict}
				token, err := access.Sign(a.cred, a.url, s)
				if err != nil {
					t.Fatal(err)
				}
				opts := &aztables.ClientOptions{ClientOptions: options(a.transport)}
				if mode == "accelerated" {
					opts = patterns.Accelerate(opts)
				}
				client, err := token.Client(opts)
				if err != nil {
					t.Fatal(err)
				}
				table, err := patterns.NewTable[claim](client, nil)
				if err != nil {
					t.Fatal(err)
				}

				if _, err := table.Insert(t.Context(), &claim{"alice", "b", 2}); err != nil {
					t.Error(err)
				}
				if _, err := table.Update(t.Context(), key("alice", "b"), func(c *claim) error { c.N++; return nil }); err != nil {
					t.Error(err)
				}
				if got, err := table.Get(t.Context(), key("alice", "b")); err != nil || got.Value.N != 3 {
					t.Errorf("read %v, %v", got.Value, err)
				}
				if !a.strict {
					return // Azurite ignores ranges, and refuses batches
				}
				if _, err := table.Batch().Insert(&claim{"alice", "c", 1}).Delete(key("alice", "a"), "").Commit(t.Context()); err != nil {
					t.Error(err)
				}
				var got []string
				for item, err := range table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, item.Key.Partition+"/"+item.Key.Row)
				}
				if !slices.Equal(got, []string{"alice/b", "alice/c"}) {
					t.Errorf("the table is %q", got)
				}
				_, err = table.Get(t.Context(), key("bob", "a"))
				wantRefused(t, err, "AuthorizationFailure")
				_, err = table.Insert(t.Context(), &claim{"bob", "b", 1})
				wantRefused(t, err, "AuthorizationFailure")
				err = table.Delete(t.Context(), keys.Key{Partition: "bob", Row: "a"}, "")
				wantRefused(t, err, "AuthorizationFailure")
				if _, err := table.Batch().Insert(&claim{"bob", "b", 1}).Insert(&claim{"bob", "c", 1}).Commit(t.Context()); err == nil {
					t.Error("a batch outside the range was carried out")
				}
			})
		})
	}
}
