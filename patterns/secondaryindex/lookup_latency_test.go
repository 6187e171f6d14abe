package secondaryindex_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// perRequest is what a request takes.
const perRequest = 10 * time.Millisecond

// The rows of lookups are written concurrently: before the transaction, and after it.
func TestTheRoundTripsOfALookup(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		tags := secondaryindex.Lookup("tag", nil, tagsOf, &secondaryindex.Options[article]{Partition: func(_, tag string) string { return "tag_" + tag }})
		store := newArticles(t, b, patterns.StoreOptions[article]{Views: []patterns.View[article]{tags}})
		b.Fault(storagetest.On("*").Times(storagetest.Forever).Delay(perRequest))
		key := keys.Key{Partition: "2026", Row: "1"}
		for _, step := range []struct {
			name     string
			do       func() error
			requests int
			trips    time.Duration
		}{
			{"insert with three lookups", func() error {
				_, err := store.Insert(ctx, newArticle("2026", "1", "", "a", "b", "c"))
				return err
			}, 4, 2},
			{"change of all three values", func() error {
				_, err := store.Update(ctx, key, func(a *article) error { a.Tags = []string{"d", "e", "f"}; return nil })
				return err
			}, 8, 4},
			{"change of another property", func() error {
				_, err := store.Update(ctx, key, func(a *article) error { a.Title = "new"; return nil })
				return err
			}, 2, 2},
			{"delete", func() error { return store.Delete(ctx, key) }, 5, 3},
		} {
			b.ResetRequests()
			began := time.Now()
			assert.NoError(t, step.do(), step.name)
			assert.Equal(t, time.Since(began), step.trips*perRequest, step.name)
			assert.Equal(t, len(b.Requests()), step.requests, step.name)
		}
	})
}

// A program with a table, a Store and two lookups is short although it handles every error.
func TestAProgramWithTwoLookupsIsShort(t *testing.T) {
	program := assert.Must(os.ReadFile("example_two_lookups_test.go"))(t)
	if lines := bytes.Count(program, []byte("\n")); lines > 45 { // as many as with package main, and main
		t.Errorf("%d lines", lines)
	}
}
