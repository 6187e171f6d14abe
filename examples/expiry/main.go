// Command expiry keeps the sessions of users, which end when they are not used for half an hour.
//
// Problem: the service has no time to live. A nightly scan for old sessions reads the whole table, shows sessions that have ended
// until then, and may delete one that was used again meanwhile.
//
// Layout: each session names a small row in a partition of the ten minutes in which it ends. Using the session changes its time
// and nothing else; a sweep that meets the row in its old partition moves it. A session that has ended is absent for every method of
// the Store, and the sweep deletes it, with its rows, by reading the ended partitions only.
//
//	PartitionKey                  RowKey                         Properties
//	ann                           s1                             Device, Ends, azp_lookups
//	ends_0639313308000000000_1    rcJAtqrxhVOS-nBspq_h MHOUR…    azp_pk and azp_rk (the key of the session), azp_view
//
// Use it if entities end one by one, at times that change. Whole days of rows are dropped as tables: highvolumedelete.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Session is the entity.
type Session struct {
	PartitionKey, RowKey string // user and session
	Device               string // of which a user has one session
	Ends                 time.Time
}

const idle = 30 * time.Minute

var (
	byEnd    = expiry.At("ends", nil, func(s *Session) time.Time { return s.Ends }, nil)
	byDevice = secondaryindex.Intra("device", func(s *Session) (string, bool) { return s.Device, true }, nil)
)

// newSessions declares the table, its index, and when sessions end.
func newSessions(client *aztables.Client) (*patterns.Store[Session], error) {
	table, err := patterns.NewTable[Session](client, nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Session]{Views: []patterns.View[Session]{byEnd, byDevice}})
}

// logIn starts a session. One of the same device that has ended does not prevent it, swept or not.
func logIn(ctx context.Context, sessions *patterns.Store[Session], user, id, device string, ends time.Time) error {
	_, err := sessions.Insert(ctx, &Session{user, id, device, ends})
	return err
}

// use postpones the end of a session, unless it has ended.
func use(ctx context.Context, sessions *patterns.Store[Session], key keys.Key) (bool, error) {
	_, err := sessions.Update(ctx, key, func(s *Session) error {
		s.Ends = time.Now().Add(idle)
		return nil
	})
	if errors.Is(err, patterns.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// clean deletes what has ended. Call it every few minutes, from a worker or a timer, in any number of processes. Rows
// that are younger than an hour are skipped: a request that concerns them may still arrive.
func clean(ctx context.Context, sessions *patterns.Store[Session]) (string, error) {
	report, err := byEnd.On(sessions).Sweep(ctx, &patterns.SweepOptions{Deadline: time.Minute, RequestsPerSecond: 100})
	return fmt.Sprintf("%d due, %d deleted, %d skipped", report.Found, report.Done, report.Skipped), err
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and remove what else uses acct.
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	sessions, err := newSessions(acct.TablesWith(&opts).NewClient("Sessions"))
	if err != nil {
		log.Fatal(err)
	}
	now, yesterday := time.Now().Add(idle), time.Now().Add(-24*time.Hour)
	for _, step := range []struct {
		name string
		do   func() (any, error)
	}{
		{"create the table", func() (any, error) { return nil, sessions.Create(ctx) }},
		{"log in", func() (any, error) { return nil, logIn(ctx, sessions, "ann", "s1", "phone", now) }},
		{"a session that ended yesterday", func() (any, error) { return nil, logIn(ctx, sessions, "ann", "s2", "laptop", yesterday) }},
		{"use the session", func() (any, error) { return use(ctx, sessions, keys.Key{Partition: "ann", Row: "s1"}) }},
		{"use the one that has ended", func() (any, error) { return use(ctx, sessions, keys.Key{Partition: "ann", Row: "s2"}) }},
		{"log in with its device", func() (any, error) { return nil, logIn(ctx, sessions, "ann", "s3", "laptop", now) }},
		{"delete what has ended", func() (any, error) { return clean(ctx, sessions) }},
	} {
		acct.ResetLog()
		result, err := step.do()
		if err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("%-32s requests: %d %v\n", step.name, len(acct.Log()), acct.Log().Ops())
		if result != nil {
			fmt.Println(" ", result)
		}
	}
}
