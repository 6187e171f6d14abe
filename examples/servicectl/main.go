// Command servicectl is tablectl for the Stores of a service: verify, repair, sweep and journal know them.
//
// Problem: what an index contains is Go code, so no tool that is installed can check it, what expires is deleted by a sweep
// that nothing runs as long as the service has no worker, and no tool prints what a journal has recorded.
//
// Solution: a second program of the service, which declares its Stores by the functions that the service uses.
//
//	go run ./examples/servicectl verify -azurite sessions
//	go run ./examples/servicectl repair -azurite sessions
//	go run ./examples/servicectl sweep -azurite -rate 100 sessions       # lost operations
//	go run ./examples/servicectl sweep -azurite -rate 100 ended-sessions # expired entities
//	go run ./examples/servicectl journal -azurite session-changes ann s1 # what has happened to a session
//	go run ./examples/servicectl sweep -azurite session-changes          # old changes
//	go run ./examples/servicectl dump -azurite backup                    # all commands of tablectl
package main

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/tablectl"
)

// Session is an entity of the service.
type Session struct {
	PartitionKey, RowKey string // user and session
	Device               string
	Ends                 time.Time
}

var (
	byEnd    = expiry.At("ends", nil, func(s *Session) time.Time { return s.Ends }, nil)
	changes  = journal.Of("changes", &journal.Options[Session]{Keep: 90 * 24 * time.Hour})
	byDevice = secondaryindex.Intra("device", func(s *Session) (string, bool) { return s.Device, true }, nil)
)

// newSessions declares the Store. The service calls it too, so it would be in a package that both import.
func newSessions(client *aztables.Client) (*patterns.Store[Session], error) {
	table, err := patterns.NewTable[Session](client, nil)
	if err != nil {
		return nil, err
	}
	return patterns.NewStore(table, &patterns.StoreOptions[Session]{Views: []patterns.View[Session]{byEnd, byDevice, changes}})
}

func open(a *tablectl.Account) (*patterns.Store[Session], error) {
	return newSessions(a.Table("Sessions"))
}

func openEnded(a *tablectl.Account) (eventual.Sweeper, error) {
	sessions, err := open(a)
	return byEnd.On(sessions), err
}

func openChanges(a *tablectl.Account) (*journal.Changes[Session], error) {
	sessions, err := open(a)
	return changes.On(sessions), err
}

func main() {
	tablectl.Main(tablectl.StoreOf("sessions", open), tablectl.ToSweep("ended-sessions", openEnded), tablectl.JournalOf("session-changes", openChanges))
}
