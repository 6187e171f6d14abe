package indexentity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	LastName   string
	Age        int32
}

func lastName(e *employee) (string, bool) { return e.LastName, e.LastName != "" }

// homes are the places where lists can be stored.
var homes = map[string]func(c *aztables.Client, blobs *container.Client) *indexentity.Index[employee]{
	"same partition": func(*aztables.Client, *container.Client) *indexentity.Index[employee] {
		return indexentity.Intra("lastname", lastName, nil)
	},
	"other partition": func(*aztables.Client, *container.Client) *indexentity.Index[employee] {
		return indexentity.Inter("lastname", nil, lastName, nil)
	},
	"other table": func(c *aztables.Client, _ *container.Client) *indexentity.Index[employee] {
		return indexentity.Inter("lastname", c, lastName, &indexentity.Options[employee]{
			Partition: func(_, value string) string { return "lastname_" + value[:1] }, Fold: true})
	},
	"blob": func(_ *aztables.Client, blobs *container.Client) *indexentity.Index[employee] {
		return indexentity.InterBlob("lastname", blobs, lastName, nil)
	},
}

// world is a store with one index.
type world struct {
	store    *patterns.Store[employee]
	index    *indexentity.Reader[employee]
	messages *harness.OutboxQueue
}

func newWorld(client, other *aztables.Client, blobs *container.Client, home string, w *harness.OutboxQueue) (*world, error) {
	index := homes[home](other, blobs)
	table, err := patterns.NewTable[employee](client, nil)
	if err != nil {
		return nil, err
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{index}, Outbox: w})
	return &world{store, index.On(store), w}, err
}

func each(t *testing.T, body func(t *testing.T, b *harness.Backend, w *world, home string)) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for home := range homes {
			t.Run(home, func(t *testing.T) {
				w, err := newWorld(b.Table(t), b.Table(t), b.Container(t), home, &harness.OutboxQueue{})
				if err != nil {
					t.Fatal(err)
				}
				body(t, b, w, home)
			})
		}
	})
}

func (w *world) hire(t testing.TB, id, name string) {
	t.Helper()
	if _, err := w.store.Insert(t.Context(), &employee{Department: "Sales", ID: id, LastName: name}); err != nil {
		t.Fatalf("%+v", err)
	}
}

func (w *world) members(t testing.TB, name string) []string {
	t.Helper()
	members, err := w.index.Get(t.Context(), "Sales", name)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	ids := []string{}
	for _, m := range members {
		if m.Partition != "Sales" {
			t.Errorf("a member of %q", m.Partition)
		}
		ids = append(ids, m.Row)
	}
	return ids
}

func (w *world) want(t testing.TB, name string, ids ...string) {
	t.Helper()
	if got := w.members(t, name); !slices.Equal(got, ids) {
		t.Errorf("%s: %q, want %q", name, got, ids)
	}
	var entities []string
	for item, err := range w.index.Query(t.Context(), "Sales", name, nil) {
		if err != nil {
			t.Fatalf("%+v", err)
		}
		entities = append(entities, item.Key.Row)
	}
	if !slices.Equal(entities, ids) {
		t.Errorf("entities called %s: %q, want %q", name, entities, ids)
	}
}

func TestListsAreUpdatedWithTheirEntities(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		ctx := t.Context()
		w.want(t, "Jones")
		w.hire(t, "000231", "Jones")
		w.hire(t, "000152", "Jones")
		w.hire(t, "000153", "O'Neil / Smith")
		w.hire(t, "000154", "")
		w.want(t, "Jones", "000152", "000231")
		w.want(t, "O'Neil / Smith", "000153")

		if _, err := w.store.Update(ctx, keys.Key{Partition: "Sales", Row: "000152"}, func(e *employee) error { e.LastName = "Smith"; return nil }); err != nil {
			t.Fatal(err)
		}
		w.want(t, "Jones", "000231")
		w.want(t, "Smith", "000152")
		if _, err := w.store.Put(ctx, &employee{Department: "Sales", ID: "000231", LastName: "Smith"}); err != nil {
			t.Fatal(err)
		}
		w.want(t, "Jones")
		w.want(t, "Smith", "000152", "000231")
		for _, id := range []string{"000152", "000231"} {
			if err := w.store.Delete(ctx, keys.Key{Partition: "Sales", Row: id}); err != nil {
				t.Fatal(err)
			}
		}
		w.want(t, "Smith")
		if n := w.messages.Len(); n != 0 {
			t.Errorf("%d messages left after successful operations", n)
		}
	})
}

func TestInsertsIntoTheSamePartitionMakeTwoRequests(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		w, err := newWorld(b.Table(t), nil, nil, "same partition", nil)
		if err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		w.hire(t, "1", "Jones")
		b.WantRequestCount(t, 2) // the list, the transaction
	})
}

func TestRacingWritersLoseNoMember(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		const writers, each = 4, 4
		var wg sync.WaitGroup
		var want []string
		for i := range writers {
			for j := range each {
				want = append(want, fmt.Sprintf("%d%d", i, j))
			}
			wg.Go(func() {
				for j := range each {
					e := &employee{Department: "Sales", ID: fmt.Sprintf("%d%d", i, j), LastName: "Jones"}
					for {
						_, err := w.store.Insert(t.Context(), e)
						if err == nil {
							break
						}
						if !errors.Is(err, patterns.ErrConflict) {
							t.Errorf("%+v", err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if err := w.messages.Work(t.Context(), w.store.Handle); err != nil {
			t.Errorf("worker: %+v", err)
		}
		w.want(t, "Jones", want...)
	})
}

func TestLostRepliesLoseNoMember(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		defer b.ClearFaults()
		for _, op := range []string{"Table.Batch", "Table.Insert", "Table.Replace", "Table.Merge", "Table.Delete", "Blob.Put", "Blob.Delete"} {
			b.Fault(storagetest.On(op).Probability(0.3).LoseReply())
		}
		for i := range 6 {
			_, err := w.store.Insert(t.Context(), &employee{Department: "Sales", ID: fmt.Sprint(i), LastName: "Jones"})
			if err != nil && !errors.Is(err, patterns.ErrOutcomeUnknown) { // the rows have no stamps
				t.Errorf("%+v", err)
			}
		}
		if err := w.store.Delete(t.Context(), keys.Key{Partition: "Sales", Row: "3"}); err != nil {
			t.Errorf("%+v", err)
		}
		b.ClearFaults()
		if err := w.messages.Work(t.Context(), w.store.Handle); err != nil {
			t.Errorf("worker: %+v", err)
		}
		w.want(t, "Jones", "0", "1", "2", "4", "5")
	})
}

// After a crash at any request the worker makes the lists what the entities imply.
func TestTheWorkerRepairsACrashAnywhere(t *testing.T) {
	for home := range homes {
		t.Run(home, func(t *testing.T) {
			var w *harness.OutboxQueue // outlives the process; the runs come one after the other
			open := func(ctx context.Context, acct *storagetest.Account) (*world, error) {
				return newWorld(acct.Tables().NewClient("Staff"), acct.Tables().NewClient("Lists"), acct.Container("lists"), home, w)
			}
			storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
				w = &harness.OutboxQueue{}
				acct.Tables().NewClient("Staff").CreateTable(ctx, nil)
				acct.Tables().NewClient("Lists").CreateTable(ctx, nil)
				acct.Container("lists").Create(ctx, nil)
				world, err := open(ctx, acct)
				if err != nil {
					return err
				}
				acct.Arm()
				if _, err := world.store.Insert(ctx, &employee{Department: "Sales", ID: "1", LastName: "Jones"}); err != nil {
					return err
				}
				if _, err := world.store.Insert(ctx, &employee{Department: "Sales", ID: "2", LastName: "Jones"}); err != nil {
					return err
				}
				if _, err := world.store.Update(ctx, keys.Key{Partition: "Sales", Row: "1"}, func(e *employee) error { e.LastName = "Smith"; return nil }); err != nil {
					return err
				}
				return world.store.Delete(ctx, keys.Key{Partition: "Sales", Row: "2"})
			}, func(t *testing.T, acct *storagetest.Account) {
				ctx := t.Context()
				world, err := open(ctx, acct)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Work(ctx, world.store.Handle); err != nil {
					t.Fatalf("worker: %+v", err)
				}
				want := map[string][]string{"Jones": {}, "Smith": {}}
				for _, id := range []string{"1", "2"} {
					item, err := world.store.Get(ctx, keys.Key{Partition: "Sales", Row: id})
					if err == nil {
						want[item.Value.LastName] = append(want[item.Value.LastName], id)
					} else if !errors.Is(err, patterns.ErrNotFound) {
						t.Fatal(err)
					}
				}
				for name, ids := range want {
					if got := world.members(t, name); !slices.Equal(got, ids) {
						t.Errorf("%s: %q, want %q", name, got, ids)
					}
				}
			})
		})
	}
}

// If the list is in the entity's partition and full, the entity is not stored. Otherwise
// the entity is stored, and OnPending receives the error.
func TestAFullListRefusesTheEntityOrIsReported(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for home, list := range map[string]struct {
			at     keys.Key
			before string // each member
		}{
			"same partition":  {keys.Key{Partition: "Sales", Row: "lastname_Jones"}, ""},
			"other partition": {keys.Key{Partition: "lastname_", Row: "Jones"}, "Sales/"},
		} {
			client := b.Table(t)
			index := homes[home](nil, nil)
			var pending error
			store := harness.NewStore(t, client, &patterns.StoreOptions[employee]{
				Views: []patterns.View[employee]{index}, Outbox: &harness.OutboxQueue{},
				OnPending: func(_ context.Context, _ keys.Key, err error) { pending = err },
			})
			if _, err := client.AddEntity(t.Context(), fullList(t, list.at, list.before), nil); err != nil {
				t.Fatal(err)
			}
			_, err := store.Insert(t.Context(), &employee{Department: "Sales", ID: "1", LastName: "Jones"})
			_, found := store.Get(t.Context(), keys.Key{Partition: "Sales", Row: "1"})
			if list.before != "" {
				err, pending = pending, err
			}
			if !errors.Is(err, patterns.ErrTooLarge) || pending != nil {
				t.Errorf("%s: got %v, and %v", home, err, pending)
			}
			if stored := found == nil; stored != (list.before != "") {
				t.Errorf("%s: stored %v", home, stored)
			}
		}
	})
}

// fullList returns a row at key that has no space for another member: 16 properties of 64
// members of 508 units each. A property has 32 Ki units, a list 508 Ki.
func fullList(t *testing.T, key keys.Key, before string) []byte {
	t.Helper()
	row := map[string]any{"PartitionKey": key.Partition, "RowKey": key.Row, "azp_view": "lastname"}
	for i := range 16 {
		var members []string
		for j := range 64 {
			m := fmt.Sprintf("%sm%04d", before, 64*i+j)
			members = append(members, m+strings.Repeat("x", 505-len(m)))
		}
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		name := "Members"
		if i > 0 {
			name = fmt.Sprintf("Members%02d", i+1)
		}
		row[name] = string(text)
	}
	body, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// wantRefused checks that NewStore and the reader of an index return the error of its declaration
// before any request. want may be nil.
func wantRefused[T any](t *testing.T, what string, index *indexentity.Index[T], want error, key func(*T) (keys.Key, error)) {
	t.Helper()
	ctx, acct := t.Context(), storagetest.New(t)
	table := harness.NewTable(t, acct.Tables().NewClient("Staff"), &patterns.TableOptions[T]{Key: key})
	var v *patterns.ViewError
	_, err := patterns.NewStore(table, &patterns.StoreOptions[T]{Views: []patterns.View[T]{index}, Outbox: &harness.OutboxQueue{}})
	if !errors.As(err, &v) || v.View != index.Name() {
		t.Errorf("%s: the store: %v", what, err)
	}
	store := assert.Must(patterns.NewStore(table, nil))(t)
	r := index.On(store)
	_, get := r.Get(ctx, "Sales", "Jones")
	_, page := r.Page(ctx, "Sales", "Jones", "", nil)
	errs := map[string]error{"NewStore": err, "Get": get, "Page": page}
	for _, err := range r.Query(ctx, "Sales", "Jones", nil) {
		errs["Query"] = err
	}
	for _, err := range r.Pages(ctx, "Sales", "Jones", "", nil) {
		errs["Pages"] = err
	}
	_, errs["Engine"] = index.Engine()
	for call, err := range errs {
		if err == nil || call != "Engine" && !errors.Is(err, patterns.ErrBadView) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %s: got %v, want %v", what, call, err, want)
		}
	}
	if n := len(acct.Log()); n != 0 || len(errs) != 6 {
		t.Errorf("%s: %d requests, errors %v", what, n, errs)
	}
}

func TestInvalidArgumentsAreRefused(t *testing.T) {
	type keyless struct{ Name string }
	keylessName := func(k *keyless) (string, bool) { return k.Name, true }
	lastnames := func(_, _ string) string { return "lastname_" }
	type options = indexentity.Options[employee]
	for what, c := range map[string]struct {
		index *indexentity.Index[employee]
		want  error
	}{
		"name":                  {indexentity.Intra("last_name", lastName, nil), patterns.ErrBadKey},
		"no name":               {indexentity.Inter("", nil, lastName, nil), patterns.ErrBadKey},
		"no function":           {indexentity.Intra[employee]("n", nil, nil), patterns.ErrNil},
		"no container":          {indexentity.InterBlob("n", nil, lastName, nil), patterns.ErrNil},
		"partition":             {indexentity.Intra("n", lastName, &options{Partition: lastnames}), patterns.ErrBadOption},
		"partition of a blob":   {indexentity.InterBlob("n", new(container.Client), lastName, &options{Partition: lastnames}), patterns.ErrBadOption},
		"property":              {indexentity.Intra("n", lastName, &options{Property: "azp_x"}), nil},
		"bare rows of one list": {indexentity.Inter("n", nil, lastName, &options{Bare: true}), patterns.ErrBadOption},
		"separator of keys":     {indexentity.Inter("n", nil, lastName, &options{Separator: "/"}), patterns.ErrBadOption},
		"layout of a blob":      {indexentity.InterBlob("n", new(container.Client), lastName, &options{Plain: true}), patterns.ErrBadOption},
		"two mistakes":          {indexentity.Intra[employee]("last_name", nil, nil), patterns.ErrBadKey},
	} {
		wantRefused(t, what, c.index, c.want, nil)
	}
	for what, index := range map[string]*indexentity.Index[keyless]{
		"separator without keys": indexentity.Inter("n", nil, keylessName, &indexentity.Options[keyless]{Separator: ","}),
		"no key":                 indexentity.Intra("n", keylessName, nil),
	} {
		wantRefused(t, what, index, patterns.ErrBadKey, func(k *keyless) (keys.Key, error) { return keys.Key{Partition: "p", Row: k.Name}, nil })
	}
	store := harness.NewStore[employee](t, storagetest.New(t).Tables().NewClient("Staff"), nil)
	for what, r := range map[string]*indexentity.Reader[employee]{
		"no store": indexentity.Intra("n", lastName, nil).On(nil), "no index": (*indexentity.Index[employee])(nil).On(store),
	} {
		if _, err := r.Get(t.Context(), "Sales", "Jones"); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("%s: %v", what, err)
		}
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w, err := newWorld(b.Table(t), nil, nil, "same partition", nil)
		if err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		_, err = w.store.Insert(t.Context(), &employee{Department: "Sales", ID: "1", LastName: strings.Repeat("secret", 100)})
		if !errors.Is(err, patterns.ErrBadKey) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "lastname") {
			t.Errorf("value that is too long: %v", err)
		}
		if _, err := w.index.Get(t.Context(), "Sales", strings.Repeat("x", 600)); !errors.Is(err, patterns.ErrBadKey) {
			t.Errorf("lookup of a value that is too long: %v", err)
		}
		b.WantRequestCount(t, 0)
	})
}

func TestOptionsArePartOfTheDefinition(t *testing.T) {
	type row struct{ PartitionKey, RowKey string }
	type options = indexentity.Options[row]
	value := func(*row) (string, bool) { return "", true }
	seen := map[string]string{}
	for what, opts := range map[string]*options{
		"none": nil, "fold": {Fold: true}, "partition": {Partition: func(_, _ string) string { return "lastname_" }}, "version": {Version: "2"},
		"property": {Property: "IDs"}, "separator": {Separator: ","},
	} {
		ix := indexentity.Inter("name", nil, value, opts)
		version := assert.Must(ix.Engine())(t).Shape.Version
		if other, twice := seen[version]; twice {
			t.Errorf("%s and %s have the version %s", what, other, version)
		}
		seen[version] = what
	}
}
