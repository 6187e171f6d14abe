package secondaryindex_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type Book struct {
	PartitionKey, RowKey string   // publisher and ISBN
	Authors              []string `table:",json"`
	Subject              string
}

var byAuthor = secondaryindex.Lookup("author", nil, func(b *Book) []string { return b.Authors }, everywhere)
var bySubject = secondaryindex.Lookup("subject", nil, func(b *Book) []string { return []string{b.Subject} }, everywhere)
var everywhere = &secondaryindex.Options[Book]{Partition: func(_, value string) string { return "find_" + value }}

func Example_twoLookups() {
	ctx := context.Background()
	table, err := patterns.NewTable[Book](storagetest.Start(nil).Tables().NewClient("Books"), nil)
	if err != nil {
		log.Fatal(err)
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Book]{Views: []patterns.View[Book]{byAuthor, bySubject}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := store.Insert(ctx, &Book{"Addison", "0201", []string{"Ann", "Bob"}, "go"}); err != nil {
		log.Fatal(err)
	}
	for item, err := range byAuthor.On(store).Query(ctx, "", secondaryindex.Equal("Bob"), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Value.RowKey, item.Value.Subject) // Output: 0201 go
	}
}
