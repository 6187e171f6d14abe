package secondaryindex_test

import (
	"context"
	"fmt"
	"log"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Photo has several tags. Its partition key is the user.
type Photo struct {
	PartitionKey, RowKey string
	Tags                 []string `table:",json"`
}

func ExampleLookup() {
	ctx := context.Background()
	acct := storagetest.Start(nil) // an account in this process
	byTag := secondaryindex.Lookup("tag", nil, func(p *Photo) []string { return p.Tags },
		&secondaryindex.Options[Photo]{Partition: func(_, tag string) string { return "tag_" + tag }})
	table, err := patterns.NewTable[Photo](acct.Tables().NewClient("Photos"), nil)
	if err != nil {
		log.Fatal(err)
	}
	photos, err := patterns.NewStore(table, &patterns.StoreOptions[Photo]{Views: []patterns.View[Photo]{byTag}})
	if err != nil {
		log.Fatal(err)
	}
	if err := photos.Create(ctx); err != nil {
		log.Fatal(err)
	}
	for _, p := range []Photo{
		{"ann", "1", []string{"alps", "snow"}},
		{"ben", "7", []string{"snow"}},
	} {
		if _, err := photos.Insert(ctx, &p); err != nil { // a request for each tag, concurrently, and one for the photo
			log.Fatal(err)
		}
	}
	for item, err := range byTag.On(photos).Query(ctx, "", secondaryindex.Equal("snow"), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Key.Partition, item.Value.Tags)
	}
	// Output:
	// ann [alps snow]
	// ben [snow]
}
