package expiry_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// session expires.
type session struct {
	PartitionKey, RowKey string
	User                 string
	Expires              time.Time
}

func expiresOf(s *session) time.Time { return s.Expires }

func userOf(s *session) (string, bool) { return s.User, s.User != "" }

func newSession(row, user string, expires time.Time) *session {
	return &session{PartitionKey: "app", RowKey: row, User: user, Expires: expires}
}

func at(row string) keys.Key { return keys.Key{Partition: "app", Row: row} }

// shortExpiry is [patterns.StoreOptions].Expiry of tests that wait until rows are that old.
const shortExpiry = 2 * time.Second

// run runs body on both accounts, in process in virtual time.
func run(t *testing.T, body func(t *testing.T, b *harness.Backend)) {
	t.Helper()
	t.Parallel() // on Azurite a row grows old in real time
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		if b.InProcess() {
			synctest.Test(t, func(t *testing.T) { body(t, b) })
			return
		}
		body(t, b)
	})
}

// world is a store of sessions with a unique index.
type world struct {
	store  *patterns.Store[session]
	sweep  *expiry.Sweeper[session]
	byUser *secondaryindex.Reader[session]
}

func newWorld(t testing.TB, b *harness.Backend, opts *expiry.Options[session]) *world {
	t.Helper()
	x := expiry.At("expiry", b.Table(t), expiresOf, opts)
	user := secondaryindex.Intra("user", userOf, nil)
	store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[session]{Views: []patterns.View[session]{x, user}, Expiry: shortExpiry})
	return &world{store, x.On(store), user.On(store)}
}

// sweepAll sweeps after the rows are old enough.
func (w *world) sweepAll(t testing.TB, opts *patterns.SweepOptions) patterns.SweepReport {
	t.Helper()
	time.Sleep(shortExpiry + 2*time.Second) // Date has full seconds
	r, err := w.sweep.Sweep(t.Context(), opts)
	assert.NoError(t, err)
	for _, f := range r.Failures {
		assert.NoError(t, f.Err)
	}
	return r
}

func (w *world) stored(t testing.TB) (n int) {
	t.Helper()
	return len(harness.Rows(t, w.store.Table().Client()))
}

func TestAnEntityThatHasExpiredIsAbsent(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		assert.Must(w.store.Insert(ctx, newSession("1", "ann", past)))(t)
		assert.Must(w.store.Insert(ctx, newSession("2", "ben", future)))(t)
		assert.Must(w.store.Insert(ctx, newSession("3", "cem", time.Time{})))(t)
		absent := map[string]func() error{
			"get":          func() error { _, err := w.store.Get(ctx, at("1")); return err },
			"update":       func() error { _, err := w.store.Update(ctx, at("1"), func(*session) error { return nil }); return err },
			"batch delete": func() error { _, err := w.store.Batch().Delete(at("1")).Commit(ctx); return err },
			"batch update": func() error {
				_, err := w.store.Batch().Update(at("1"), func(*session) error { return nil }).Commit(ctx)
				return err
			},
			"index": func() error { _, err := w.byUser.Get(ctx, "app", "ann"); return err },
		}
		for name, call := range absent {
			if err := call(); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("%s: %v, want ErrNotFound", name, err)
			}
		}
		for _, opts := range []*patterns.QueryOptions{nil, {Select: []string{"User"}}, {Limit: 2}} {
			var rows []string
			for item, err := range w.store.Query(ctx, query.PartitionKey.Eq("app"), opts) {
				assert.NoError(t, err)
				rows = append(rows, item.Key.Row)
			}
			assert.Equal(t, fmt.Sprint(rows), "[2 3]")
			var users []string
			for e, err := range w.byUser.Query(ctx, "app", secondaryindex.Values{}, opts) {
				assert.NoError(t, err)
				users = append(users, e.Indexed)
			}
			assert.Equal(t, fmt.Sprint(users), "[ben cem]")
		}
	})
}

func TestAnInsertReplacesAnEntityThatHasExpired(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		writes := map[string]func(*world, *session) error{
			"insert": func(w *world, s *session) error { _, err := w.store.Insert(ctx, s); return err },
			"put":    func(w *world, s *session) error { _, err := w.store.Put(ctx, s); return err },
			"batch":  func(w *world, s *session) error { _, err := w.store.Batch().Insert(s).Commit(ctx); return err },
		}
		for name, write := range writes {
			{
				w := newWorld(t, b, nil)
				assert.Must(w.store.Insert(ctx, newSession("1", "ann", past)))(t)
				assert.NoError(t, write(w, newSession("1", "zoe", future)))
				assert.Equal(t, assert.Must(w.store.Get(ctx, at("1")))(t).Value.User, "zoe")
				_, err := w.byUser.Get(ctx, "app", "ann")
				assert.Equal(t, errors.Is(err, patterns.ErrNotFound), true, err)
				assert.Equal(t, assert.Must(w.byUser.Get(ctx, "app", "zoe"))(t).Primary, at("1"))
				if _, err = w.store.Insert(ctx, newSession("1", "", future)); !errors.Is(err, patterns.ErrExists) {
					t.Errorf("%s: %v, want ErrExists", name, err)
				}
			}
			{ // another entity gets its unique value
				w := newWorld(t, b, nil)
				assert.Must(w.store.Insert(ctx, newSession("1", "ann", past)))(t)
				assert.NoError(t, write(w, newSession("2", "ann", future)))
				assert.Equal(t, assert.Must(w.byUser.Get(ctx, "app", "ann"))(t).Primary, at("2"))
				assert.Equal(t, w.stored(t), 2) // the entity that has expired was deleted
				var duplicate *patterns.DuplicateError
				if err := write(w, newSession("3", "ann", future)); !errors.As(err, &duplicate) {
					t.Errorf("%s: %v, want a DuplicateError", name, err)
				}
			}
		}
	})
}

func TestASweepDeletesWhatHasExpiredAndNothingElse(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, &expiry.Options[session]{Bucket: time.Second})
		now := time.Now()
		assert.Must(w.store.Insert(ctx, newSession("expired", "a", now.Add(-time.Hour))))(t)
		assert.Must(w.store.Insert(ctx, newSession("later", "b", now.Add(time.Hour))))(t)
		assert.Must(w.store.Insert(ctx, newSession("never", "c", time.Time{})))(t)
		postponed := assert.Must(w.store.Insert(ctx, newSession("postponed", "d", now.Add(-time.Hour))))(t)
		postponed.Value.Expires = now.Add(2 * time.Hour)
		assert.Must(w.store.PutItem(ctx, postponed, &session{"app", "postponed", "d", now.Add(2 * time.Hour)}))(t)
		shortened := assert.Must(w.store.Insert(ctx, newSession("shortened", "e", now.Add(time.Hour))))(t)
		assert.Must(w.store.PutItem(ctx, shortened, &session{"app", "shortened", "e", now.Add(-10 * time.Minute)}))(t)

		assert.Must(w.store.Insert(ctx, newSession("replaced", "f", now.Add(-time.Hour))))(t)
		assert.Must(w.store.Insert(ctx, newSession("replaced", "g", now.Add(time.Hour))))(t)

		r := w.sweepAll(t, &patterns.SweepOptions{DryRun: true})
		assert.Equal(t, [4]int{r.Found, r.Done, r.Lookups, r.Skipped}, [4]int{4, 3, 1, 1}, "of a dry run")
		r = w.sweepAll(t, nil)
		assert.Equal(t, [4]int{r.Found, r.Done, r.Lookups, r.Skipped}, [4]int{4, 3, 1, 1})
		assert.Equal(t, w.sweepAll(t, nil).Found, 0, "in a second sweep")
		var rows []string
		for _, row := range []string{"expired", "later", "never", "postponed", "replaced", "shortened"} {
			if _, err := w.store.Get(ctx, at(row)); err == nil {
				rows = append(rows, row)
			}
		}
		assert.Equal(t, fmt.Sprint(rows), "[later never postponed replaced]")
		assert.Equal(t, w.stored(t), 8) // with a row of the index each
	})
}

func TestTheRequestsOfAWrite(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		now := time.Now()
		plan := assert.Must(w.store.Explain(patterns.InsertEntity(newSession("1", "", now.Add(time.Hour)))))(t)
		assert.Equal(t, [2]int{plan.Requests, plan.RoundTrips}, [2]int{2, 2}, plan)
		assert.Contains(t, fmt.Sprint(plan), "package highvolumedelete")
		b.ResetRequests()
		item := assert.Must(w.store.Insert(ctx, newSession("1", "", now.Add(time.Hour))))(t)
		b.WantRequests(t, map[string]int{"Table.UpsertReplace": 1, "Table.Insert": 1})
		b.ResetRequests()
		item = assert.Must(w.store.PutItem(ctx, item, newSession("1", "", now.Add(3*time.Hour))))(t)
		b.WantRequests(t, map[string]int{"Table.Replace": 1})
		b.ResetRequests()
		assert.Must(w.store.PutItem(ctx, item, newSession("1", "", now.Add(2*time.Hour))))(t)
		b.WantRequests(t, map[string]int{"Table.UpsertReplace": 1, "Table.Replace": 1})
		b.ResetRequests()
		assert.NoError(t, w.store.Delete(ctx, at("1")))
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Delete": 1})
	})
}

// sweepCost returns the requests of a sweep for each of n entities that change has made.
func sweepCost(t testing.TB, w *world, n int) float64 {
	t.Helper()
	r := w.sweepAll(t, nil)
	assert.Equal(t, r.Found, n)
	assert.Equal(t, r.Failed, 0)
	return float64(r.Requests) / float64(n)
}

func TestTheRequestsOfASweep(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		n := 200
		past, future := time.Now().Add(-time.Hour).Truncate(time.Hour), time.Now().Add(time.Hour)
		w := newWorld(t, b, nil)
		for i := range n {
			assert.Must(w.store.Insert(ctx, &session{fmt.Sprintf("app%d", i), "1", "", past}))(t)
		}
		if cost := sweepCost(t, w, n); cost > 2.1 {
			t.Errorf("%.2f requests for an entity alone in its partition", cost)
		}
		for i := range n {
			assert.Must(w.store.Insert(ctx, &session{fmt.Sprintf("app%d", i/50), fmt.Sprint(i), "", past}))(t)
		}
		if cost := sweepCost(t, w, n); cost > 0.3 {
			t.Errorf("%.2f requests for one of 50 in a partition", cost)
		}
		for i := range n {
			item := assert.Must(w.store.Insert(ctx, &session{fmt.Sprintf("app%d", i), "1", "", past}))(t)
			assert.Must(w.store.PutItem(ctx, item, &session{fmt.Sprintf("app%d", i), "1", "", future}))(t)
		}
		if cost := sweepCost(t, w, n); cost > 1.1 {
			t.Errorf("%.2f requests for an entity that was postponed", cost)
		}
		assert.Equal(t, w.stored(t), n)
	})
}
