package secondaryindex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// lookupRows returns the keys of the lookup rows in a table as "partition|value".
func lookupRows(t testing.TB, client *aztables.Client) (all []string) {
	t.Helper()
	pager := client.NewListEntitiesPager(nil)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		assert.NoError(t, err)
		for _, body := range page.Entities {
			if text := string(body); strings.Contains(text, `"azp_view":`) {
				_, partition, _ := strings.Cut(text, `"PartitionKey":"`)
				partition, _, _ = strings.Cut(partition, `"`)
				_, row, _ := strings.Cut(text, `"RowKey":"`)
				row, _, _ = strings.Cut(row, "  ")
				all = append(all, partition+"|"+row)
			}
		}
	}
	return all
}

// findingsOf returns the kinds of what Verify finds.
func findingsOf(t testing.TB, store *patterns.Store[article]) (kinds []reindex.Kind, undecided int) {
	t.Helper()
	var report reindex.Report
	for f, err := range reindex.Verify(t.Context(), store, "", &reindex.Options{Report: &report}) {
		assert.NoError(t, err)
		kinds = append(kinds, f.Kind)
	}
	return kinds, report.Undecided
}

func wantFindings(t testing.TB, store *patterns.Store[article], want ...reindex.Kind) {
	t.Helper()
	if got, _ := findingsOf(t, store); !slices.Equal(got, want) {
		t.Errorf("findings %v, want %v", got, want)
	}
}

var articleKey = keys.Key{Partition: "p", Row: "1"}

// leaveSuperfluous changes the author of an article, and loses the delete of the former lookup row.
func leaveSuperfluous(t testing.TB, b *harness.Backend, store *patterns.Store[article], author string) {
	t.Helper()
	b.Fault(storagetest.On("Table.Delete").Status(403, "AuthorizationFailure"))
	assert.Must(store.Update(t.Context(), articleKey, func(a *article) error { a.Author = author; return nil }))(t)
	b.ClearFaults()
}

func TestASuperfluousLookupRowHasNoEffectAndIsRemovedWhenItIsOld(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		_, author := newLookups(nil)
		cleaning := secondaryindex.Lookup("author", nil, authorOf, &secondaryindex.Options[article]{RemoveSuperfluous: true})
		client := b.Table(t)
		ctx := t.Context()
		table := harness.NewTable[article](t, client, nil)
		open := func(ix *secondaryindex.LookupIndex[article]) *patterns.Store[article] {
			return assert.Must(patterns.NewStore(table, &patterns.StoreOptions[article]{Views: []patterns.View[article]{ix}, Expiry: time.Hour}))(t)
		}
		store, removing := open(author), open(cleaning)
		assert.Must(store.Insert(ctx, newArticle("p", "1", "Ann")))(t)
		leaveSuperfluous(t, b, store, "Ben")
		assert.Equal(t, fmt.Sprint(lookupRows(t, client)), "[author_p|Ann author_p|Ben]")
		wantItems(t, author.On(store).Query(ctx, "p", secondaryindex.Equal("Ann"), nil))
		wantItems(t, author.On(store).Query(ctx, "p", secondaryindex.Values{}, nil), "1")
		wantItems(t, cleaning.On(removing).Query(ctx, "p", secondaryindex.Values{}, nil), "1")
		found, undecided := findingsOf(t, store)
		assert.Equal(t, fmt.Sprint(found, undecided), "[] 1", "a young row")
		report := assert.Must(store.Sweep(ctx, nil))(t)
		assert.Equal(t, report.Lookups, 0, "young rows that were removed")

		time.Sleep(2 * time.Hour)
		wantFindings(t, store, reindex.Superfluous)
		report = assert.Must(store.Sweep(ctx, &patterns.SweepOptions{DryRun: true}))(t)
		assert.Equal(t, report.Lookups, 1, "rows of a dry run")
		b.ResetRequests()
		report = assert.Must(store.Sweep(ctx, nil))(t)
		assert.Equal(t, report.Lookups, 1, "rows that were removed")
		b.WantRequests(t, map[string]int{"Table.Query": 2, "Table.Delete": 1}) // the table, the entities, the row
		assert.Equal(t, fmt.Sprint(lookupRows(t, client)), "[author_p|Ben]")

		leaveSuperfluous(t, b, store, "Ann")
		time.Sleep(2 * time.Hour)
		wantItems(t, author.On(store).Query(ctx, "p", secondaryindex.Values{}, nil), "1")
		assert.Equal(t, len(lookupRows(t, client)), 2, "rows after a reader that removes none")
		wantItems(t, cleaning.On(removing).Query(ctx, "p", secondaryindex.Values{}, nil), "1")
		assert.Equal(t, fmt.Sprint(lookupRows(t, client)), "[author_p|Ann]", "after a reader that removes them")

		leaveSuperfluous(t, b, store, "Ben")
		time.Sleep(2 * time.Hour)
		repaired := assert.Must(reindex.Repair(ctx, store, "", nil))(t)
		assert.Equal(t, fmt.Sprint(repaired.Superfluous, repaired.Repaired, repaired.Failed), "1 1 0")
		wantFindings(t, store)
		assert.Equal(t, fmt.Sprint(lookupRows(t, client)), "[author_p|Ben]")
	})
}

func TestAReaderRemovesAtMostTenRowsOfAPage(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ix := secondaryindex.Lookup("author", nil, authorOf, &secondaryindex.Options[article]{RemoveSuperfluous: true})
		client := b.Table(t)
		store := harness.NewStore(t, client, &patterns.StoreOptions[article]{Views: []patterns.View[article]{ix}})
		for i := range 12 {
			row := fmt.Sprintf(`{"PartitionKey":"author_p","RowKey":"Ann  %d AAAAAAAAAAAAAAAAAAAAAAAAAA","azp_pk":"p","azp_rk":"%d","azp_view":"author"}`, i, i)
			assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), []byte(row), nil)))
		}
		time.Sleep(1000 * time.Hour)
		wantItems(t, ix.On(store).Query(t.Context(), "p", secondaryindex.Equal("Ann"), nil))
		assert.Equal(t, len(lookupRows(t, client)), 2)
	})
}

func TestMissingLookupRowsAreFoundAndRepaired(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, other := b.Table(t), b.Table(t)
		tags, author := newLookups(other)
		store := harness.NewStore(t, client, &patterns.StoreOptions[article]{Views: []patterns.View[article]{tags, author}})
		ctx := t.Context()
		assert.Must(store.Insert(ctx, newArticle("p", "1", "Ann", "x", "y")))(t)
		wantFindings(t, store)
		pager := other.NewListEntitiesPager(nil)
		page := assert.Must(pager.NextPage(ctx))(t)
		for _, body := range page.Entities {
			if text := string(body); strings.Contains(text, `"RowKey":"x  `) {
				_, row, _ := strings.Cut(text, `"RowKey":"`)
				row, _, _ = strings.Cut(row, `"`)
				assert.NoError(t, assert.ErrorOf(other.DeleteEntity(ctx, "all", row, nil)))
			}
		}
		wantItems(t, tags.On(store).Query(ctx, "", secondaryindex.Equal("x"), nil))
		wantFindings(t, store, reindex.Missing)
		report := assert.Must(reindex.Repair(ctx, store, "", nil))(t)
		assert.Equal(t, fmt.Sprint(report.Missing, report.Repaired, report.Failed), "1 1 0")
		wantFindings(t, store)
		wantItems(t, tags.On(store).Query(ctx, "", secondaryindex.Equal("x"), nil), "1")
		assert.Equal(t, len(lookupRows(t, other))+len(lookupRows(t, client)), 3)

		// A program that knows nothing of lookups replaces the row, and so drops its names.
		row := []byte(`{"PartitionKey":"p","RowKey":"1","Author":"Ben","Tags":"[\"x\"]"}`)
		assert.NoError(t, assert.ErrorOf(client.UpsertEntity(ctx, row, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})))
		wantItems(t, author.On(store).Query(ctx, "p", secondaryindex.Equal("Ben"), nil))
		assert.NoError(t, store.Repair(ctx, articleKey))
		wantItems(t, author.On(store).Query(ctx, "p", secondaryindex.Equal("Ben"), nil), "1")
		wantItems(t, tags.On(store).Query(ctx, "", secondaryindex.Equal("y"), nil))
		wantFindings(t, store)
	})
}

func TestALookupIsAddedAndRemovedWhileTheTableIsInUse(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		_, author := newLookups(nil)
		table := harness.NewTable[article](t, b.Table(t), nil)
		open := func(o patterns.StoreOptions[article]) *patterns.Store[article] {
			return assert.Must(patterns.NewStore(table, &o))(t)
		}
		views := []patterns.View[article]{author}
		before := open(patterns.StoreOptions[article]{})
		building := open(patterns.StoreOptions[article]{Views: views, Building: []string{"author"}})
		ready := open(patterns.StoreOptions[article]{Views: views})
		retired := open(patterns.StoreOptions[article]{Views: views, Retired: []string{"author"}})
		ctx := t.Context()
		for i := range 5 {
			assert.Must(before.Insert(ctx, newArticle("p", fmt.Sprint(i), "Ann")))(t)
		}
		assert.Must(building.Update(ctx, keys.Key{Partition: "p", Row: "0"}, func(a *article) error { a.Title = "x"; return nil }))(t)
		assert.Equal(t, len(lookupRows(t, table.Client())), 0, "rows of a building view")
		report := assert.Must(reindex.Backfill(ctx, ready, "author", "", nil))(t)
		assert.Equal(t, fmt.Sprint(report.Filled, report.Failed), "5 0")
		wantItems(t, author.On(ready).Query(ctx, "p", secondaryindex.Equal("Ann"), nil), "0", "1", "2", "3", "4")
		wantFindings(t, ready)
		assert.Must(building.Update(ctx, keys.Key{Partition: "p", Row: "0"}, func(a *article) error { a.Author = "Ben"; return nil }))(t)
		wantItems(t, author.On(ready).Query(ctx, "p", secondaryindex.Equal("Ben"), nil), "0")
		assert.Must(reindex.Backfill(ctx, retired, "author", "", nil))(t)
		assert.Equal(t, len(lookupRows(t, table.Client())), 0, "rows of a view that was removed")
	})
}

func TestManyEntitiesWithLookups(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		n := harness.Sized(5000, 1200)
		if !b.InProcess() {
			n = 120
		}
		_, author := newLookups(nil)
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{author}})
		ctx := t.Context()
		b.ResetRequests()
		report := assert.Must(store.Bulk(ctx, func(yield func(patterns.StoreOp[article]) bool) {
			for i := range n {
				if !yield(patterns.InsertEntity(newArticle("p", fmt.Sprintf("%04d", i), "Ann"))) {
					return
				}
			}
		}, nil))(t)
		assert.Equal(t, report.Done, n)
		chunks := (n + 99) / 100
		b.WantRequests(t, map[string]int{"Table.Batch": 2 * chunks})
		got := articleIDs(t, author.On(store).Query(ctx, "p", secondaryindex.Equal("Ann"), nil))
		assert.Equal(t, len(got), n)
		assert.Equal(t, slices.IsSorted(got), true, "in the order of the keys")

		batch := store.Batch()
		batch.Delete(keys.Key{Partition: "p", Row: "0000"})
		batch.Put(newArticle("p", "0001", "Ben"))
		batch.Insert(newArticle("p", "new", "Ben"))
		assert.Must(batch.Commit(ctx))(t)
		wantItems(t, author.On(store).Query(ctx, "p", secondaryindex.Equal("Ben"), nil), "0001", "new")
		assert.Equal(t, len(articleIDs(t, author.On(store).Query(ctx, "p", secondaryindex.Equal("Ann"), nil))), n-2)
		wantFindings(t, store)
	})
}

func TestARefusedChangeLeavesNoLookupRow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		_, author := newLookups(nil)
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{author}})
		ctx := t.Context()
		was := assert.Must(store.Insert(ctx, newArticle("p", "1", "Ann")))(t)
		assert.WantError(t, assert.ErrorOf(store.Insert(ctx, newArticle("p", "1", "Ben"))), patterns.ErrExists)
		assert.Must(store.Update(ctx, was.Key, func(a *article) error { a.Title = "y"; return nil }))(t)
		assert.WantError(t, assert.ErrorOf(store.PutItem(ctx, was, newArticle("p", "1", "Cid"))), patterns.ErrConflict)
		assert.Equal(t, fmt.Sprint(lookupRows(t, store.Table().Client())), "[author_p|Ann]")
	})
}

// The plan of a change has the requests that it takes.
func TestExplainHasTheRequestsOfLookups(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		tags, author := newLookups(nil)
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{tags, author}})
		ctx := t.Context()
		was, now := newArticle("p", "1", "Ann", "x", "y"), newArticle("p", "1", "Ben", "y", "z")
		check := func(x *patterns.Explanation, err error, trips int, do func() error) {
			t.Helper()
			assert.NoError(t, err)
			b.ResetRequests()
			assert.NoError(t, do())
			assert.Equal(t, x.Requests, len(b.Requests()), "requests", x)
			assert.Equal(t, x.RoundTrips, trips, "round trips", x)
		}
		x, err := store.Explain(patterns.InsertEntity(was))
		check(x, err, 2, func() error { return assert.ErrorOf(store.Insert(ctx, was)) })
		x, err = store.ExplainChange(was, now)
		check(x, err, 4, func() error { return assert.ErrorOf(store.Put(ctx, now)) })
		x, err = store.ExplainChange(now, nil)
		check(x, err, 3, func() error { return store.Delete(ctx, articleKey) })
		assert.Equal(t, len(store.Views()), 2)
		for _, err := range store.Query(ctx, query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
			t.Errorf("an entity is left, %v", err)
		}
	})
}

// The partition function may return the partition of the entity.
func TestLookupRowsInThePartitionOfTheirEntityAreVerified(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ix := secondaryindex.Lookup("author", nil, authorOf, &secondaryindex.Options[article]{
			Partition: func(partition, _ string) string { return partition },
		})
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{ix}})
		assert.Must(store.Insert(t.Context(), newArticle("p", "1", "Ann")))(t)
		leaveSuperfluous(t, b, store, "Ben")
		found, undecided := findingsOf(t, store)
		assert.Equal(t, fmt.Sprint(found, undecided), "[] 1", "a young row")
		time.Sleep(1000 * time.Hour)
		wantFindings(t, store, reindex.Superfluous)
		assert.Must(reindex.Repair(t.Context(), store, "", nil))(t)
		wantFindings(t, store)
		wantItems(t, ix.On(store).Query(t.Context(), "p", secondaryindex.Equal("Ben"), nil), "1")
	})
}
