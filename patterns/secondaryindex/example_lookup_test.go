package secondaryindex_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Article has several tags. Its partition key is the month.
type Article struct {
	PartitionKey, RowKey string
	Title                string
	Tags                 []string `table:",json"`
}

func ExampleLookup() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	account := storagetest.Start(nil) // an account in this process
	table, err := patterns.NewTable[Article](account.Tables().NewClient("Articles"), nil)
	check(err)
	check(table.Create(ctx))

	byTag := secondaryindex.Lookup("tag", nil, func(a *Article) []string { return a.Tags },
		&secondaryindex.Options[Article]{Partition: func(_, tag string) string { return "tag_" + tag }})
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Article]{Views: []patterns.View[Article]{byTag}})
	check(err)
	for _, a := range []Article{
		{"2026-11", "trip", "A trip", []string{"alps", "snow"}},
		{"2026-12", "hut", "A hut", []string{"alps"}},
		{"2026-12", "storm", "A storm", []string{"snow"}},
	} {
		_, err := store.Insert(ctx, &a) // a request for each tag, concurrently, then one for the article
		check(err)
	}
	for item, err := range byTag.On(store).Query(ctx, "", secondaryindex.Equal("alps"), nil) {
		check(err)
		fmt.Println(item.Value.Title) // as it is now; the item can be changed and written back
	}
	// Output:
	// A trip
	// A hut
}
