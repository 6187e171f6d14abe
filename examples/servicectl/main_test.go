package main

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/tablectl"
)

// want runs a command of the service and compares its exit code.
func want(t *testing.T, code int, args ...string) {
	t.Helper()
	got := tablectl.Run(t.Context(), args, tablectl.StoreOf("sessions", open), tablectl.ToSweep("ended-sessions", openEnded),
		tablectl.JournalOf("session-changes", openChanges))
	if got != code {
		t.Errorf("%v: exit code %d, want %d", args, got, code)
	}
}

func rows(t *testing.T, client *aztables.Client) (n int) {
	t.Helper()
	for pager := client.NewListEntitiesPager(nil); pager.More(); {
		n += len(assert.Must(pager.NextPage(t.Context()))(t).Entities)
	}
	return n
}

func TestTheServiceVerifiesRepairsAndSweepsItsSessions(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	t.Setenv("SERVICE", server.ConnectionString())
	client := acct.Tables().NewClient("Sessions")
	sessions := assert.Must(newSessions(client))(t)
	assert.NoError(t, sessions.Create(t.Context()))
	for _, s := range []Session{
		{"ann", "s1", "phone", time.Now().Add(time.Hour)},
		{"ann", "s2", "laptop", time.Now().Add(time.Hour)},
		{"bob", "s1", "phone", time.Now().Add(-2 * time.Hour)},
	} {
		assert.NoError(t, assert.ErrorOf(sessions.Insert(t.Context(), &s)))
	}
	want(t, 0, "verify", "-env", "SERVICE", "sessions")
	want(t, 2, "verify", "-env", "SERVICE", "ended-sessions") // has no views

	// A program that does not know the Store changes a row.
	phone := keys.Key{Partition: "ann", Row: "s1"}
	changed := assert.Must(client.GetEntity(t.Context(), phone.Partition, phone.Row, nil))(t)
	merge := []byte(`{"PartitionKey":"ann","RowKey":"s1","Device":"watch"}`)
	etag := azcore.ETag(changed.ETag)
	assert.NoError(t, assert.ErrorOf(client.UpdateEntity(t.Context(), merge, &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeMerge})))
	want(t, 1, "verify", "-env", "SERVICE", "sessions")
	want(t, 0, "repair", "-env", "SERVICE", "sessions")
	want(t, 0, "verify", "-env", "SERVICE", "sessions")
	want(t, 0, "sweep", "-env", "SERVICE", "sessions")
	want(t, 0, "journal", "-env", "SERVICE", "session-changes", "ann", "s1")
	want(t, 0, "sweep", "-env", "SERVICE", "session-changes")
	want(t, 2, "journal", "-env", "SERVICE", "sessions", "ann", "s1") // has no journal

	// Bob's session has ended, but its row is less than an hour old. The second sweep is of a Store with a shorter Expiry.
	before := rows(t, client)
	want(t, 0, "sweep", "-env", "SERVICE", "ended-sessions")
	assert.Equal(t, rows(t, client), before, "rows")
	soon := tablectl.ToSweep("ended-sessions", func(a *tablectl.Account) (eventual.Sweeper, error) {
		table := assert.Must(patterns.NewTable[Session](a.Table("Sessions"), nil))(t)
		views := []patterns.View[Session]{byEnd, byDevice, changes}
		store, err := patterns.NewStore(table, &patterns.StoreOptions[Session]{Views: views, Grace: time.Millisecond, Expiry: 2 * time.Millisecond})
		return byEnd.On(store), err
	})
	for rows(t, client) == before && t.Context().Err() == nil { // the service states its time in whole seconds
		if code := tablectl.Run(t.Context(), []string{"sweep", "-env", "SERVICE", "ended-sessions"}, soon); code != 0 {
			t.Fatalf("exit code %d", code)
		}
	}
	assert.Equal(t, before-rows(t, client), 3-1, "rows of a session that were removed, without the one of its journal that was added")
}
