package secondaryindex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// article has several values.
type article struct {
	PartitionKey, RowKey string
	Title                string
	Tags                 []string `table:",json"`
	Author               string
}

func newArticle(partition, id, author string, tags ...string) *article {
	return &article{PartitionKey: partition, RowKey: id, Title: "Title " + id, Tags: tags, Author: author}
}

func tagsOf(a *article) []string { return a.Tags }

func authorOf(a *article) []string {
	if a.Author == "" {
		return nil
	}
	return []string{a.Author}
}

// acrossPartitions is a partition function: the rows of all partitions are in one partition.
func acrossPartitions(string, string) string { return "all" }

func newLookups(other *aztables.Client) (tags, author *secondaryindex.LookupIndex[article]) {
	tags = secondaryindex.Lookup("tag", other, tagsOf, &secondaryindex.Options[article]{Fold: true, Partition: acrossPartitions})
	return tags, secondaryindex.Lookup("author", nil, authorOf, nil)
}

func newArticles(t testing.TB, b *harness.Backend, opts patterns.StoreOptions[article]) *patterns.Store[article] {
	t.Helper()
	return harness.NewStore(t, b.Table(t), &opts)
}

// articleIDs returns the row keys of items.
func articleIDs(t testing.TB, items func(func(patterns.Item[article], error) bool)) (all []string) {
	t.Helper()
	for item, err := range items {
		assert.NoError(t, err)
		all = append(all, item.Value.RowKey)
	}
	return all
}

func wantItems(t testing.TB, items func(func(patterns.Item[article], error) bool), want ...string) {
	t.Helper()
	if got := articleIDs(t, items); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestALookupReturnsTheEntitiesThatHaveTheValue(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		tags, author := newLookups(b.Table(t))
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{tags, author}})
		byTag, byAuthor := tags.On(store), author.On(store)
		ctx := t.Context()
		for _, a := range []*article{
			newArticle("2026", "1", "Ann", "Go", "Azure"),
			newArticle("2026", "2", "Ben", "go", "gopher", "GO"),
			newArticle("2025", "3", "", "tables"),
			newArticle("2026", "4", "Ann"),
		} {
			assert.Must(store.Insert(ctx, a))(t)
		}
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Equal("GO"), nil), "1", "2") // by the key of the entity
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Prefix("go").In("all"), nil), "1", "2")
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Range("b", "t").In("all"), nil), "1", "2")
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Values{}.In("all"), nil), "1", "2", "3")
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Values{}.In("all"), &patterns.QueryOptions{Limit: 2}), "1", "2")
		wantItems(t, byAuthor.Query(ctx, "2026", secondaryindex.Equal("Ann"), nil), "1", "4")
		wantItems(t, byAuthor.Query(ctx, "2025", secondaryindex.Values{}, nil))
		var all []string
		for page, err := range byTag.Pages(ctx, "", secondaryindex.Values{}.In("all"), "", &patterns.QueryOptions{PageSize: 2}) {
			assert.NoError(t, err)
			for _, item := range page.Items {
				all = append(all, item.Value.RowKey)
			}
		}
		assert.Equal(t, fmt.Sprint(all), "[1 2 3]", "over pages of two rows")
		n := 0
		for key, err := range byTag.Keys(ctx, "", secondaryindex.Equal("go"), nil) {
			assert.NoError(t, err)
			assert.NoError(t, key.Validate())
			n++
		}
		assert.Equal(t, n, 2, "candidates")
		for item, err := range byTag.Query(ctx, "", secondaryindex.Equal("tables"), nil) {
			assert.NoError(t, err)
			changed := item.Value
			changed.Tags = []string{"azure"}
			assert.Must(store.PutItem(ctx, item, &changed))(t)
		}
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Equal("tables"), nil))
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Equal("azure"), nil), "3", "1")
		assert.NoError(t, store.Delete(ctx, keys.Key{Partition: "2026", Row: "1"}))
		wantItems(t, byTag.Query(ctx, "", secondaryindex.Equal("azure"), nil), "3")
		wantItems(t, store.Query(ctx, query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}), "3", "2", "4")
	})
}

func TestTheRequestsOfALookup(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		var views []patterns.View[article]
		for _, name := range []string{"one", "two", "three"} {
			views = append(views, secondaryindex.Lookup(name, nil, func(a *article) []string { return []string{name + a.Author} }, nil))
		}
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: views})
		ctx := t.Context()
		b.ResetRequests()
		assert.Must(store.Insert(ctx, newArticle("p", "1", "Ann")))(t)
		b.WantRequests(t, map[string]int{"Table.UpsertReplace": 3, "Table.Insert": 1})
		b.ResetRequests()
		assert.Must(store.Update(ctx, keys.Key{Partition: "p", Row: "1"}, func(a *article) error { a.Title = "x"; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Replace": 1})

		one := secondaryindex.Lookup("one", nil, authorOf, nil)
		store = newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{one}})
		b.ResetRequests()
		assert.Must(store.Insert(ctx, newArticle("q", "1", "Ann")))(t)
		b.WantRequests(t, map[string]int{"Table.UpsertReplace": 1, "Table.Insert": 1})
		b.ResetRequests()
		assert.Must(store.Update(ctx, keys.Key{Partition: "q", Row: "1"}, func(a *article) error { a.Author = "Ben"; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.UpsertReplace": 1, "Table.Replace": 1, "Table.Delete": 1})
		b.ResetRequests()
		wantItems(t, one.On(store).Query(ctx, "q", secondaryindex.Equal("Ben"), nil), "1")
		b.WantRequests(t, map[string]int{"Table.Query": 1, "Table.Get": 1})
		b.ResetRequests()
		assert.NoError(t, store.Delete(ctx, keys.Key{Partition: "q", Row: "1"}))
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Delete": 2})
		assert.Equal(t, len(harness.Rows(t, store.Table().Client())), 0, "rows")
	})
}

func TestWhatALookupRefuses(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[article](t, b.Table(t), nil)
		refused := func(want error, ix *secondaryindex.LookupIndex[article]) {
			t.Helper()
			b.ResetRequests()
			_, err := patterns.NewStore(table, &patterns.StoreOptions[article]{Views: []patterns.View[article]{ix}})
			assert.WantError(t, err, want)
			for _, err := range ix.On(harness.NewStore[article](t, b.Table(t), nil)).Query(t.Context(), "p", secondaryindex.Equal("a"), nil) {
				assert.WantError(t, err, patterns.ErrBadView)
			}
			b.WantRequests(t, map[string]int{})
		}
		options := func(o secondaryindex.Options[article]) *secondaryindex.LookupIndex[article] {
			return secondaryindex.Lookup("tag", nil, tagsOf, &o)
		}
		refused(patterns.ErrNil, secondaryindex.Lookup[article]("tag", nil, nil, nil))
		refused(patterns.ErrBadKey, secondaryindex.Lookup("a_b", nil, tagsOf, nil))
		refused(patterns.ErrBadOption, options(secondaryindex.Options[article]{NonUnique: true}))
		refused(patterns.ErrBadOption, options(secondaryindex.Options[article]{Only: []string{"Title"}}))
		refused(patterns.ErrBadOption, options(secondaryindex.Options[article]{Adopt: patterns.AdoptLeave}))

		tags := secondaryindex.Lookup("tag", nil, tagsOf, nil)
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{tags}})
		var many []string
		for i := range 900 {
			many = append(many, fmt.Sprint(i))
		}
		b.ResetRequests()
		assert.WantError(t, assert.ErrorOf(store.Insert(t.Context(), newArticle("p", "1", "", many...))), patterns.ErrTooLarge, "too many")
		assert.WantError(t, assert.ErrorOf(store.Insert(t.Context(), newArticle("p", "1", "", strings.Repeat("x", 1020)))), patterns.ErrBadKey, "too long")
		assert.WantError(t, assert.ErrorOf(store.Insert(t.Context(), newArticle("p", "1", "", "go", "~azp"))), patterns.ErrBadView, "reserved")
		for _, err := range tags.On(store).Query(t.Context(), "p", secondaryindex.Equal("a"), &patterns.QueryOptions{Select: []string{"Title"}}) {
			assert.WantError(t, err, patterns.ErrBadOption, "select")
		}
		b.WantRequests(t, map[string]int{})
	})
}
