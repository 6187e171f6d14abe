package reindex_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

type mailbox struct {
	PartitionKey, RowKey string
	Email                string
	Age                  int32
}

func mailboxKey(id string) keys.Key { return keys.Key{Partition: "p", Row: id} }

// duplicates is a table in which accounts share e-mail addresses, and to which a unique index is added.
type duplicates struct {
	client       *aztables.Client
	queue        *harness.OutboxQueue
	all, unique  *secondaryindex.Index[mailbox]
	old, store   *patterns.Store[mailbox]
	reader       *secondaryindex.Reader[mailbox] // of all
	uniqueReader *secondaryindex.Reader[mailbox]
}

func newDuplicates(t *testing.T, b *harness.Backend, inter bool) *duplicates {
	d := openDuplicates(t, b.Table(t), &harness.OutboxQueue{}, inter)
	for i, e := range []string{"v", "v", "v", "w", "w", "x"} {
		assert.Must(d.old.Insert(t.Context(), &mailbox{"p", fmt.Sprint(i), e, 0}))(t)
	}
	return d
}

func openDuplicates(t testing.TB, client *aztables.Client, queue *harness.OutboxQueue, inter bool) *duplicates {
	t.Helper()
	d := &duplicates{client: client, queue: queue}
	email := func(a *mailbox) (string, bool) { return a.Email, a.Email != "" }
	add := func(name string, o secondaryindex.Options[mailbox]) *secondaryindex.Index[mailbox] {
		if inter {
			return secondaryindex.Inter(name, nil, email, &o)
		}
		return secondaryindex.Intra(name, email, &o)
	}
	d.all = add("emails", secondaryindex.Options[mailbox]{NonUnique: true})
	d.unique = add("email", secondaryindex.Options[mailbox]{Duplicates: d.all})
	open := func(views ...patterns.View[mailbox]) *patterns.Store[mailbox] {
		return harness.NewStore(t, d.client, &patterns.StoreOptions[mailbox]{Views: views, Outbox: d.queue, Expiry: 10 * time.Minute})
	}
	d.old, d.store = open(d.all), open(d.all, d.unique)
	d.reader, d.uniqueReader = d.all.On(d.store), d.unique.On(d.store)
	return d
}

// backfill returns the duplicates, as "primary shares with owner", and the state of the view.
func (d *duplicates) backfill(t *testing.T) (found []string, state string) {
	t.Helper()
	_, err := reindex.Backfill(t.Context(), d.store, "email", "", &reindex.Options{Found: func(f reindex.Finding) {
		if f.Kind == reindex.Duplicate {
			found = append(found, f.Primary.Row+" shares with "+f.Owner.Row)
		}
	}})

	assert.NoError(t, err)
	for _, s := range assert.Must(d.store.ViewStates(t.Context()))(t) {
		if s.View == "email" {
			state = s.State
		}
	}
	slices.Sort(found)
	return found, state
}

func (d *duplicates) set(t *testing.T, id, email string) error {
	t.Helper()
	_, err := d.store.Update(t.Context(), mailboxKey(id), func(a *mailbox) error { a.Email, a.Age = email, a.Age+1; return nil })
	return err
}

func (d *duplicates) wantRefused(t *testing.T, what string, err error) {
	t.Helper()
	var duplicate *patterns.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.View != "email" {
		t.Errorf("%s: %v", what, err)
	}
}

func (d *duplicates) want(t *testing.T, email string, ids ...string) {
	t.Helper()
	var got []string
	for _, e := range assert.All(t, d.reader.Query(t.Context(), "p", secondaryindex.Equal(email), nil)) {
		got = append(got, e.Primary.Row)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("%s: %v, want %v", email, got, ids)
	}
}

func TestAUniqueIndexIsAddedToATableWithDuplicates(t *testing.T) {
	for name, inter := range map[string]bool{"intra": false, "inter": true} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				d := newDuplicates(t, b, inter)
				found, state := d.backfill(t)
				if strings.Join(found, ", ") != "1 shares with 0, 2 shares with 0, 4 shares with 3" || state != patterns.ViewBuilding {
					t.Fatalf("%v, %s", found, state)
				}
				var verified []string
				for _, f := range assert.All(t, reindex.Verify(t.Context(), d.store, "", nil)) {
					verified = append(verified, f.Primary.Row+" shares with "+f.Owner.Row)
				}
				if slices.Sort(verified); !slices.Equal(verified, found) {
					t.Errorf("Verify: %v", verified)
				}

				d.want(t, "v", "0", "1", "2")
				for i, e := range []string{"v", "v", "v", "w", "w", "x"} {
					assert.NoError(t, d.set(t, fmt.Sprint(i), e))
				}
				d.want(t, "v", "0", "1", "2")
				b.ResetRequests()
				assert.Must(d.store.Insert(t.Context(), &mailbox{"p", "6", "y", 0}))(t)
				requests := len(b.Requests())
				fresh := &mailbox{"p", "7", "v", 0}
				_, err := d.store.Insert(t.Context(), fresh)
				d.wantRefused(t, "a new entity while one has the row", err)
				d.wantRefused(t, "another entity", d.set(t, "5", "w"))

				assert.NoError(t, d.set(t, "0", "a")) // the row is free now, but 1 and 2 share the value
				_, err = d.store.Insert(t.Context(), fresh)
				d.wantRefused(t, "a new entity while none has the row", err)
				d.wantRefused(t, "the entity that had the row", d.set(t, "0", "v"))
				d.want(t, "v", "1", "2")
				assert.NoError(t, d.set(t, "1", "b"))
				_, err = d.store.Insert(t.Context(), fresh)
				d.wantRefused(t, "a new entity while one is left", err)
				assert.NoError(t, d.store.Delete(t.Context(), mailboxKey("4")))

				if found, state = d.backfill(t); len(found) > 0 || state != patterns.ViewReady {
					t.Errorf("after all are resolved: %v, %s", found, state)
				}
				if left := assert.All(t, reindex.Verify(t.Context(), d.store, "", nil)); len(left) > 0 {
					t.Errorf("Verify: %+v", left)
				}
				for email, id := range map[string]string{"v": "2", "w": "3", "x": "5", "a": "0", "b": "1"} {
					if e, err := d.uniqueReader.Get(t.Context(), "p", email); err != nil || e.Primary.Row != id {
						t.Errorf("%s: %v, %v", email, e.Primary, err)
					}
				}
				plain := secondaryindex.Intra("email", func(a *mailbox) (string, bool) { return a.Email, a.Email != "" }, nil)
				if inter {
					plain = secondaryindex.Inter("email", nil, func(a *mailbox) (string, bool) { return a.Email, a.Email != "" }, nil)
				}
				after := harness.NewStore(t, d.client, &patterns.StoreOptions[mailbox]{Views: []patterns.View[mailbox]{d.all, plain}, Outbox: d.queue})
				_, err = after.Insert(t.Context(), fresh)
				d.wantRefused(t, "without the option", err)
				fresh.Email = "c"
				b.ResetRequests()
				assert.Must(after.Insert(t.Context(), fresh))(t)
				if n := len(b.Requests()); requests != n+1 {
					t.Errorf("%d requests, and %d with Duplicates, want one more", n, requests)
				}
			})
		})
	}
}

// An entity shares a value, so its update is repeated without a copy in the unique index. Before that,
// another program sets another value. The update then takes it back, and is refused.
func TestAnEntityThatLeftAValueMeanwhileCannotTakeItBack(t *testing.T) {
	for name, inter := range map[string]bool{"intra": false, "inter": true} {
		t.Run(name, func(t *testing.T) {
			harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
				d := newDuplicates(t, b, inter)
				d.backfill(t)
				attempts := 0
				_, err := d.store.Update(t.Context(), mailboxKey("1"), func(m *mailbox) error {
					if attempts++; attempts == 2 { // the first one was refused
						assert.NoError(t, d.set(t, "1", "u"))
					}
					m.Email, m.Age = "v", m.Age+1
					return nil
				})
				if attempts != 3 {
					t.Errorf("%d attempts", attempts)
				}
				d.wantRefused(t, "the entity that left the value", err)
				d.want(t, "v", "0", "2")
			})
		})
	}
}

// Explain counts the check that Duplicates adds to an operation which takes a value, and to no other.
func TestExplainCountsTheCheckForDuplicates(t *testing.T) {
	for name, inter := range map[string]bool{"intra": false, "inter": true} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				d := newDuplicates(t, b, inter)
				d.backfill(t)
				to := func(id, email string) (patterns.StoreOp[mailbox], *mailbox) {
					stored := assert.Must(d.store.Get(t.Context(), mailboxKey(id)))(t).Value
					return patterns.UpdateEntity(mailboxKey(id), func(m *mailbox) error { m.Email, m.Age = email, m.Age+1; return nil }), &stored
				}
				insert := patterns.InsertEntity(&mailbox{"p", "6", "y", 0})
				for _, c := range []struct {
					what   string
					op     func() (patterns.StoreOp[mailbox], *mailbox)
					checks int
				}{
					{"insert", func() (patterns.StoreOp[mailbox], *mailbox) { return insert, nil }, 1},
					{"keep a value of one entity", func() (patterns.StoreOp[mailbox], *mailbox) { return to("5", "x") }, 0},
					{"take another value", func() (patterns.StoreOp[mailbox], *mailbox) { return to("5", "z") }, 1},
					{"leave a value", func() (patterns.StoreOp[mailbox], *mailbox) { return to("5", "") }, 0},
				} {
					op, stored := c.op()
					b.ResetRequests()
					plan := assert.Must(d.store.Explain(op, stored))(t)
					b.WantRequestCount(t, 0)
					checks, messages := 0, 0
					for _, s := range plan.Steps {
						switch {
						case strings.HasPrefix(s.Title, "check that no other"):
							checks += s.Requests
						case strings.Contains(s.Title, "message"):
							messages++ // of the queue, which is no part of the account
						}
					}
					_, err := d.store.Batch().Add(op).Commit(t.Context())
					assert.NoError(t, err)
					if sent := len(b.Requests()) + messages; checks != c.checks || plan.Requests != sent {
						t.Errorf("%s: %d requests, %d checks, want %d checks\n%v", c.what, sent, checks, c.checks, plan)
					}
				}
			})
		})
	}
}

func TestDuplicatesAreInAnIndexThatFits(t *testing.T) {
	value := func(m *mailbox) (string, bool) { return m.Email, true }
	all := secondaryindex.Intra("all", value, &secondaryindex.Options[mailbox]{NonUnique: true})
	one := secondaryindex.Intra("one", value, nil)
	for what, o := range map[string]secondaryindex.Options[mailbox]{
		"of a unique index":    {Duplicates: one},
		"for an index of many": {Duplicates: all, NonUnique: true},
		"of other values":      {Duplicates: all, Fold: true},
		"of other partitions":  {Duplicates: all, Partition: func(_, value string) string { return value }},
	} {
		if _, err := secondaryindex.Inter("email", nil, value, &o).Engine(); !errors.Is(err, patterns.ErrBadOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	missing := secondaryindex.Intra("email", value, &secondaryindex.Options[mailbox]{Duplicates: all})
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[mailbox]{Views: []patterns.View[mailbox]{missing}})
		_, err := store.Insert(t.Context(), &mailbox{"p", "0", "v", 0})
		assert.WantError(t, err, patterns.ErrBadView)
	})
}

// Entities that share a value change it, take it back and change something else while new ones try
// to take it, and while Backfill runs. The value never belongs to a new entity and another one.
func TestNoDuplicateIsAddedWhileWritersRun(t *testing.T) {
	for name, inter := range map[string]bool{"intra": false, "inter": true} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(harness.Sized(8, 2)) {
				harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
					d := newDuplicates(t, b, inter)
					if seed%2 == 0 {
						d.backfill(t)
					}
					var writers sync.WaitGroup
					for w := range 6 {
						chance := rand.New(rand.NewPCG(seed, uint64(w)))
						writers.Go(func() {
							for i := range 12 {
								switch id := fmt.Sprint(w % 3); {
								case w < 3:
									_ = d.set(t, id, []string{"v", "v", "u" + id}[chance.IntN(3)])
								default:
									_, _ = d.store.Insert(t.Context(), &mailbox{"p", fmt.Sprint("new", w, "-", i), "v", 0})
								}
							}
						})
					}
					d.backfill(t)
					writers.Wait()
					for range d.queue.Len() {
						assert.Must(d.queue.WorkOne(t.Context(), d.store, time.Minute))(t)
					}
					var old, fresh []string
					for item, err := range d.store.Query(t.Context(), query.PartitionKey.Eq("p"), nil) {
						assert.NoError(t, err)
						switch isNew := strings.HasPrefix(item.Key.Row, "new"); {
						case item.Value.Email != "v":
						case isNew:
							fresh = append(fresh, item.Key.Row)
						default:
							old = append(old, item.Key.Row)
						}
					}
					if len(fresh) > 1 || len(fresh) == 1 && len(old) > 0 {
						t.Errorf("seed %d: %v and %v", seed, old, fresh)
					}
				})
			}
		})
	}
}
