package secondaryindex_test

import (
	"context"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// After a crash before or after any request, and after a late one, each article has the tags of one version or the other, is found
// by each of them, and has at most one superfluous row for each tag of the operation.
func TestACrashLeavesNoLookupRowMissing(t *testing.T) {
	one, two := newArticle("p", "1", "", "a", "b"), newArticle("p", "2", "", "b")
	type store = *patterns.Store[article]
	retag := func(a *article) error { a.Tags = []string{"b", "c"}; return nil }
	key := keys.Key{Partition: "p", Row: "1"}
	for name, c := range map[string]struct {
		before []*article
		run    func(context.Context, store) error
		rows   int // of the operation
	}{
		"insert": {nil, func(ctx context.Context, s store) error { _, err := s.Insert(ctx, one); return err }, 2},
		"update": {[]*article{one}, func(ctx context.Context, s store) error { _, err := s.Update(ctx, key, retag); return err }, 2},
		"delete": {[]*article{one, two}, func(ctx context.Context, s store) error { return s.Delete(ctx, key) }, 2},
		"batch": {[]*article{two}, func(ctx context.Context, s store) error {
			_, err := s.Batch().Insert(one).Update(keys.Key{Partition: "p", Row: "2"}, retag).Commit(ctx)
			return err
		}, 4},
		"bulk": {[]*article{two}, func(ctx context.Context, s store) error {
			_, err := s.Bulk(ctx, slices.Values([]patterns.StoreOp[article]{patterns.InsertEntity(one), patterns.DeleteEntity[article](keys.Key{Partition: "p", Row: "2"})}), nil)
			return err
		}, 3},
		"repair": {[]*article{one}, func(ctx context.Context, s store) error { return s.Repair(ctx, key) }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(acct *storagetest.Account) (store, *secondaryindex.LookupReader[article]) {
				tags := secondaryindex.Lookup("tag", nil, tagsOf, &secondaryindex.Options[article]{Partition: acrossPartitions})
				table := assert.Must(patterns.NewTable[article](acct.TablesWith(harness.Accelerated()).NewClient("articles"), nil))(t)
				s := assert.Must(patterns.NewStore(table, &patterns.StoreOptions[article]{Views: []patterns.View[article]{tags}}))(t)
				return s, tags.On(s)
			}
			storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
				s, _ := open(acct)
				if err := s.Create(ctx); err != nil {
					return err
				}
				for _, a := range c.before {
					if _, err := s.Insert(ctx, a); err != nil {
						return err
					}
				}
				acct.Arm()
				return c.run(ctx, s)
			}, func(t *testing.T, acct *storagetest.Account) {
				s, tags := open(acct)
				articles := assert.All(t, s.Query(t.Context(), query.PartitionKey.Eq("p"), nil))
				named := 0
				for _, item := range articles {
					for _, tag := range item.Value.Tags {
						named++
						found := articleIDs(t, tags.Query(t.Context(), "", secondaryindex.Equal(tag), nil))
						assert.Equal(t, slices.Contains(found, item.Value.RowKey), true, item.Value.RowKey, "is found by", tag)
					}
				}
				rows := len(harness.Rows(t, s.Table().Client())) - len(articles)
				if rows < named || rows > named+c.rows {
					t.Errorf("%d rows of %d tags", rows, named)
				}
			})
		})
	}
}
