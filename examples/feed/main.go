// Command feed keeps a view of a table outside tables: a search index.
//
// Problem: a table has no materialized views over other services, and no change feed. A program that writes to the table and to the search
// service loses one of the two writes in a crash, and two programs leave the older version in the index.
//
// Layout: each change adds a row to the partition of the entity, in the same transaction, ordered by an epoch of the partition. Before the
// first change of an epoch the program puts a message for each feed. A worker closes the epoch, delivers its changes, and stores a position.
//
//	PartitionKey    RowKey                                      Properties
//	shop            1017                                        Text, azp_journal (the version)
//	shop            ~azp_feed_0000000001_kTbf…_0000000001       azp_kind, azp_after0 (the note after the change), azp_pk, azp_rk, azp_view
//	shop            ~azp_feed_0000000001_~                      azp_epoch = 2: the epoch is closed, and the next one is 2
//	shop            ~azp_read_search                            azp_epoch = 2: where the feed goes on
//
// Use it for a search index, a cache, a notification, or a copy elsewhere. For a second order of the entities in the same account use
// secondaryindex.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Note is the entity.
type Note struct {
	PartitionKey, RowKey string // owner and number
	Text                 string
}

// index is a search index: the notes that contain a word.
type index struct {
	mu       sync.Mutex
	versions map[keys.Key]journal.Version // also of notes that were deleted
	words    map[string][]string
	changed  chan struct{}
}

// put stores what a note is now, nil for deleted. It ignores a version that is not greater than the one it has.
func (x *index) put(_ context.Context, key keys.Key, note *Note, version journal.Version) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if version <= x.versions[key] {
		return nil
	}
	x.versions[key] = version
	for word, rows := range x.words {
		x.words[word] = slices.DeleteFunc(rows, func(row string) bool { return row == key.Row })
	}
	if note != nil {
		for word := range strings.FieldsSeq(note.Text) {
			x.words[word] = append(x.words[word], key.Row)
		}
	}
	x.changed <- struct{}{}
	return nil
}

// declare declares the journal, its feed, and the worker that keeps the index.
func declare(notes *patterns.Table[Note], queue *azqueue.QueueClient, x *index) (*patterns.Store[Note], *eventual.Worker, error) {
	search, err := journal.NewFeed(queue, "search", &journal.FeedOptions{Delay: 2 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	changes := journal.Of("changes", &journal.Options[Note]{Feeds: []*journal.Feed{search}, FeedKeep: 7 * 24 * time.Hour})
	store, err := patterns.NewStore(notes, &patterns.StoreOptions[Note]{Views: []patterns.View[Note]{changes}})
	if err != nil {
		return nil, nil, err
	}
	worker, err := eventual.NewWorker(queue, &eventual.Options{PollMax: time.Second})
	if err != nil {
		return nil, nil, err
	}
	changes.On(store).HandleView(worker, search, x.put)
	return store, worker, nil
}

// found returns the notes that contain a word.
func (x *index) found(word string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return cmp.Or(strings.Join(slices.Sorted(slices.Values(x.words[word])), " "), "none")
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), acct.Queue by azqueue.NewQueueClient(url, credential, nil).
	acct, ctx := storagetest.Start(nil), context.Background()
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	notes, err := patterns.NewTable[Note](acct.TablesWith(&opts).NewClient("Notes"), nil)
	check(err)
	x := &index{versions: map[keys.Key]journal.Version{}, words: map[string][]string{}, changed: make(chan struct{}, 100)}
	store, worker, err := declare(notes, acct.Queue("feeds"), x)
	check(err)
	check(store.Create(ctx))
	check(worker.Create(ctx))

	for _, n := range []Note{{"ann", "1", "buy milk"}, {"ann", "2", "buy bread"}, {"ann", "3", "buy tea"}} {
		acct.ResetLog()
		_, err := store.Insert(ctx, &n)
		check(err)
		fmt.Printf("%-22s requests: %d %v\n", "note "+n.RowKey, len(acct.Log()), acct.Log().Ops())
	}
	_, err = store.Put(ctx, &Note{"ann", "1", "buy oat milk"})
	check(err)
	check(store.Delete(ctx, keys.Key{Partition: "ann", Row: "2"}))

	working, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- worker.Run(working) }()
	for x.found("oat") != "1" || x.found("tea") != "3" || x.found("bread") != "none" {
		<-x.changed
	}
	stop()
	check(<-ended)
	for _, word := range []string{"buy", "oat", "bread"} {
		fmt.Printf("notes with the word %s: %s\n", word, x.found(word))
	}
}
