package expiry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func ExampleAt() {
	type Token struct {
		PartitionKey, RowKey string // the user, and the token
		Until                time.Time
	}
	byTime := expiry.At("expiry", nil, func(t *Token) time.Time { return t.Until }, nil)

	ctx := context.Background()
	table, err := patterns.NewTable[Token](storagetest.Start(nil).Tables().NewClient("Tokens"), nil)
	if err != nil {
		log.Fatal(err)
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[Token]{Views: []patterns.View[Token]{byTime}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Create(ctx); err != nil {
		log.Fatal(err)
	}
	for token, until := range map[string]time.Time{"old": time.Now().Add(-time.Hour), "new": time.Now().Add(time.Hour)} {
		if _, err := store.Insert(ctx, &Token{"ann", token, until}); err != nil {
			log.Fatal(err)
		}
	}
	for _, token := range []string{"old", "new"} {
		_, err := store.Get(ctx, keys.Key{Partition: "ann", Row: token})
		fmt.Println(token, errors.Is(err, patterns.ErrNotFound))
	}
	// It is still stored: its row is too young for a sweep.
	report, err := byTime.On(store).Sweep(ctx, &patterns.SweepOptions{Deadline: time.Minute, RequestsPerSecond: 100})
	fmt.Println(report.Found, report.Done, report.Skipped, err)
	// Output:
	// old true
	// new false
	// 1 0 1 <nil>
}
