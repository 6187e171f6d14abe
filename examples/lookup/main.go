// Command lookup finds articles by their tags, over all partitions: an index without a queue and a worker.
//
// Problem: an article has several tags, and articles with one tag are in many partitions. A copy of the article for each
// tag would need an outbox, and a worker that is always running.
//
// Layout: a row for each tag, with nothing but the key of the article. It is inserted before the article, and deleted after the
// article has lost the tag, so it may be superfluous, and is never missing. The article names its rows in azp_lookups; a reader
// reads the article and returns it only if it names the row.
//
//	PartitionKey  RowKey                             Properties
//	2026-11       trip                               Title, Tags, azp_lookups
//	tag           alps  2026-11_trip 6UIQVE7N67VVP…  azp_pk and azp_rk (the key of the article), azp_view
//
// Use it if several entities share a value. Unique values in other partitions need secondaryindex/inter.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Article is the entity.
type Article struct {
	PartitionKey, RowKey string // month and name
	Title                string
	Tags                 []string `table:",json"`
}

// byTag has the rows of all months in one partition. NewStore returns its error.
var byTag = secondaryindex.Lookup("tag", nil, func(a *Article) []string { return a.Tags },
	&secondaryindex.Options[Article]{Fold: true, Partition: func(_, _ string) string { return "tag" }})

// newBlog declares the table and its index, without an outbox.
func newBlog(client *aztables.Client) (*patterns.Store[Article], error) {
	table, err := patterns.NewTable[Article](client, nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Article]{Views: []patterns.View[Article]{byTag}})
}

// tagged returns the titles of the articles with a tag. The items could be changed and written back.
func tagged(ctx context.Context, blog *patterns.Store[Article], tag string) (titles []string, err error) {
	for item, err := range byTag.On(blog).Query(ctx, "", secondaryindex.Equal(tag), nil) {
		if err != nil {
			return nil, err
		}
		titles = append(titles, item.Value.Title)
	}
	return titles, nil
}

// retag inserts the rows of new tags, replaces the article, and deletes the rows of the others.
func retag(ctx context.Context, blog *patterns.Store[Article], key keys.Key, tags ...string) error {
	_, err := blog.Update(ctx, key, func(a *Article) error {
		a.Tags = tags
		return nil
	})
	return err
}

// clean removes rows that crashed programs have left. Run it from time to time; readers do not need it.
func clean(ctx context.Context, blog *patterns.Store[Article]) (removed int, err error) {
	report, err := blog.Sweep(ctx, nil)
	return report.Lookups, err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	blog, err := newBlog(acct.TablesWith(&opts).NewClient("Articles"))
	if err != nil {
		log.Fatal(err)
	}
	trip := Article{"2026-11", "trip", "A trip", []string{"Alps", "snow"}}
	storm := Article{"2026-12", "storm", "A storm", []string{"snow"}}
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"create the table", func() (any, error) { return nil, blog.Create(ctx) }},
		{"insert an article with two tags", func() (any, error) { _, err := blog.Insert(ctx, &trip); return nil, err }},
		{"insert an article with one tag", func() (any, error) { _, err := blog.Insert(ctx, &storm); return nil, err }},
		{"find by a tag", func() (any, error) { return tagged(ctx, blog, "snow") }},
		{"change a tag", func() (any, error) {
			return nil, retag(ctx, blog, keys.Key{Partition: "2026-11", Row: "trip"}, "Alps", "sun")
		}},
		{"find by the former tag", func() (any, error) { return tagged(ctx, blog, "snow") }},
		{"delete an article", func() (any, error) {
			return nil, blog.Delete(ctx, keys.Key{Partition: "2026-12", Row: "storm"})
		}},
		{"remove what crashes have left", func() (any, error) { return clean(ctx, blog) }},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-42s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
