package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Article is an entity that is found by its words.
type Article struct {
	PartitionKey, RowKey string // the shop, and the number
	Name                 string
}

// index is a search index in a file of one process, which the next one goes on with.
type index struct {
	mu   sync.Mutex
	path string
}

// content is what the file contains. Names are of the form shop/number: no key contains a slash.
type content struct {
	Versions map[string]journal.Version // by name, also of articles that were deleted
	Words    map[string][]string        // the names of the articles with a word
}

func (x *index) read() (content, error) {
	c := content{map[string]journal.Version{}, map[string][]string{}}
	text, err := os.ReadFile(x.path)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if errors.Is(err, fs.ErrNotExist) { // of the first change
		err = nil
	}
	return c, err
}

// write replaces the file as a whole.
func (x *index) write(c content) error {
	text, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(x.path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(x.path+".new", x.path)
	}
	return err
}

// put stores what an article is now, nil for deleted, unless a later version is stored. After it has returned nil, the change is not
// delivered again.
func (x *index) put(_ context.Context, key keys.Key, article *Article, version journal.Version) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	c, err := x.read()
	name := key.Partition + "/" + key.Row
	if err != nil || version <= c.Versions[name] {
		return err
	}
	c.Versions[name] = version
	for word, names := range c.Words {
		c.Words[word] = slices.DeleteFunc(names, func(other string) bool { return other == name })
	}
	if article != nil {
		for word := range strings.FieldsSeq(article.Name) {
			c.Words[word] = append(c.Words[word], name)
		}
	}
	return x.write(c)
}

// A search index in a file. Of several changes of an article that are delivered together, the file has the last one.
func ExampleChanges_HandleView_file() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "index")
	check(err)
	defer os.RemoveAll(dir)
	ctx, acct := context.Background(), storagetest.Start(nil)
	queue := acct.Queue("feeds")
	feed, err := journal.NewFeed(queue, "search", nil)
	check(err)
	changes := journal.Of("changes", &journal.Options[Article]{Feeds: []*journal.Feed{feed}, FeedKeep: 24 * time.Hour})
	table, err := patterns.NewTable[Article](acct.Tables().NewClient("Articles"), nil)
	check(err)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Article]{Views: []patterns.View[Article]{changes}})
	check(err)
	check(store.Create(ctx))
	worker, err := eventual.NewWorker(queue, nil)
	check(err)
	check(worker.Create(ctx))

	search := &index{path: filepath.Join(dir, "index.json")}
	indexed := make(chan string, 10)
	changes.On(store).HandleView(worker, feed, func(ctx context.Context, key keys.Key, article *Article, version journal.Version) error {
		err := search.put(ctx, key, article, version)
		if err == nil {
			indexed <- key.Row
		}
		return err // another attempt follows
	})
	for _, a := range []Article{{"shop", "1", "green tea"}, {"shop", "2", "black tea"}, {"shop", "1", "white tea"}} {
		_, err := store.Put(ctx, &a)
		check(err)
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- worker.Run(working) }()
	for range 2 {
		<-indexed
	}
	stop()
	check(<-ended)
	c, err := search.read()
	check(err)
	for _, word := range []string{"tea", "green", "white"} {
		fmt.Println(word, slices.Sorted(slices.Values(c.Words[word])))
	}
	// Output:
	// tea [shop/1 shop/2]
	// green []
	// white [shop/1]
}
