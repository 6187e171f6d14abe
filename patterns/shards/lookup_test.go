package shards_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
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
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// lookedUp is a Store with a lookup of the values A and B of docs, and its reader.
type lookedUp struct {
	*shards.Store[doc]
	values *secondaryindex.LookupReader[doc]
	rows   *aztables.Client
}

// valuesOf returns the values of a doc, each once.
func valuesOf(d *doc) (all []string) {
	for _, value := range []string{d.A, d.B} {
		if value != "" && !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return all
}

// lookupExpiry is [patterns.StoreOptions].Expiry.
const lookupExpiry = 30 * time.Minute

func newLookedUp(table *shards.Table[doc], rows *aztables.Client) (*lookedUp, error) {
	values := secondaryindex.Lookup("value", rows, valuesOf, &secondaryindex.Options[doc]{Partition: func(string, string) string { return "all" }, RemoveSuperfluous: true})
	store, err := shards.NewStore(table, &patterns.StoreOptions[doc]{Views: []patterns.View[doc]{values}, Expiry: lookupExpiry})
	if err != nil {
		return nil, err
	}
	return &lookedUp{store, values.On(store.Lookups()), rows}, nil
}

// with returns the keys of the entities with a value.
func (l *lookedUp) with(ctx context.Context, value string) (all []keys.Key, err error) {
	for item, err := range l.values.Query(ctx, "", secondaryindex.Equal(value), nil) {
		if err != nil {
			return nil, err
		}
		if item.Value.A != value && item.Value.B != value {
			return nil, fmt.Errorf("%v was returned for %q", item.Value, value)
		}
		all = append(all, item.Key)
	}
	return all, nil
}

// lookupRows returns the number of lookup rows.
func (l *lookedUp) lookupRows(ctx context.Context) (n int, err error) {
	table, err := patterns.NewTable[patterns.Row](l.rows, nil)
	if err != nil {
		return 0, err
	}
	for _, err := range table.Query(ctx, query.PartitionKey.Eq("all"), nil) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// check checks that each entity is found once by each of its values. exact means that there is no other lookup row.
func (l *lookedUp) check(ctx context.Context, exact bool) error {
	values := 0
	for item, err := range l.Query(ctx, query.Filter{}, everything) {
		if err != nil {
			return err
		}
		for _, value := range valuesOf(&item.Value) {
			values++
			found, err := l.with(ctx, value)
			if err != nil {
				return err
			}
			n := 0
			for _, key := range found {
				if key == item.Key {
					n++
				}
			}
			if n != 1 {
				return fmt.Errorf("%+v was found %d times by %q", item.Value, n, value)
			}
		}
	}
	if n, err := l.lookupRows(ctx); err != nil || exact && n != values {
		return fmt.Errorf("%d lookup rows for %d values, %w", n, values, err)
	}
	return nil
}

func TestLookupsOfAStoreInSeveralAccounts(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		list, o := onBackend(t, b, 3)
		o.Lease = time.Millisecond
		s, table := create(t, list[:2], o)
		store := assert.Must(newLookedUp(table, b.Table(t)))(t)
		var all []keys.Key
		for p := range 6 {
			all = append(all, assert.Must(store.Insert(ctx, &doc{PartitionKey: fmt.Sprint("p", p), RowKey: "x", A: "1", B: "same"}))(t).Key)
		}
		assert.EqualSlices(t, assert.Must(store.with(ctx, "1"))(t), all, "found")
		list[2].Weight = 4
		assert.NoError(t, s.Add(ctx, list[2], nil))
		if n := rowsIn(t, list); n[2] == 0 {
			t.Fatalf("the accounts have %v rows", n)
		}
		assert.NoError(t, store.check(ctx, true))
		for _, key := range all {
			assert.Must(store.Update(ctx, key, func(d *doc) error { d.A = "2"; return nil }))(t)
		}
		assert.Equal(t, len(assert.Must(store.with(ctx, "1"))(t)), 0)
		assert.NoError(t, store.Delete(ctx, all[0]))
		assert.NoError(t, store.WriteWithin(ctx, "p1", func(at *patterns.Store[doc]) error {
			_, err := at.Batch().Delete(all[1]).Insert(&doc{PartitionKey: "p1", RowKey: "y", A: "2"}).Commit(ctx)
			return err
		}))
		assert.NoError(t, store.check(ctx, true)) // the former rows are removed
		item := assert.Must(store.Get(ctx, all[2]))(t)
		assert.NoError(t, store.WriteWithin(ctx, "p2", func(at *patterns.Store[doc]) error {
			_, err := at.UpdateItem(ctx, item, func(d *doc) error { d.B = ""; return nil })
			return err
		}))
		assert.NoError(t, store.check(ctx, true))
		r := assert.Must(store.Lookups().Sweep(ctx, nil))(t)
		assert.Equal(t, [2]int{r.Done, r.Failed}, [2]int{})
		_, err := store.Lookups().Insert(ctx, &doc{PartitionKey: "p", RowKey: "x"})
		assert.WantError(t, err, patterns.ErrMixedPartitions)
	})
}

// The service applies a change in an account whose partition has been copied, and has not been deleted yet. It does not count, and the
// entity keeps its former value, and the row by which it is found.
func TestAChangeThatIsLostInAMoveLeavesTheFormerLookupRow(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		var late func()
		var once sync.Once
		opts := harness.Accelerated()
		opts.PerCallPolicies = append(opts.PerCallPolicies, hook(func(req *http.Request) {
			if late != nil && (req.Method == http.MethodDelete || strings.Contains(req.URL.Path, "$batch")) {
				late()
			}
		}))
		account := storagetest.Start(nil)
		list := accounts(account.TablesWith(opts), 2)
		other := accounts(account.TablesWith(harness.Accelerated()), 2) // another process
		s, _ := create(t, list, &shards.Options{Lease: time.Millisecond})
		_, table := create(t, other, &shards.Options{Lease: time.Millisecond})
		rows := account.Tables().NewClient("lookups")
		assert.NoError(t, assert.ErrorOf(rows.CreateTable(t.Context(), nil)))
		store := assert.Must(newLookedUp(table, rows))(t)
		key := assert.Must(store.Insert(t.Context(), &doc{PartitionKey: "p", RowKey: "x", A: "before"}))(t).Key
		home := assert.Must(s.Account(t.Context(), "p"))(t).Name
		to := list[0].Name
		if to == home {
			to = list[1].Name
		}
		begun, goOn, done := make(chan bool), make(chan bool), make(chan error, 1)
		go func() {
			done <- store.WriteWithin(t.Context(), "p", func(at *patterns.Store[doc]) error {
				close(begun)
				<-goOn
				if deletes {
					return at.Delete(t.Context(), key)
				}
				_, err := at.Update(t.Context(), key, func(d *doc) error { d.A = "after"; return nil })
				return err
			})
		}()
		<-begun
		var lost error
		directory := assert.Must(patterns.NewTable[patterns.Row](account.Tables().NewClient("azpshards"), nil))(t)
		late = func() {
			row, err := directory.Get(context.Background(), keys.Key{Partition: "docs", Row: "directory"})
			value, _ := row.Property("Directory")
			if text, _ := value.(string); err == nil && strings.Contains(text, `"Open":`) && !strings.Contains(text, `"Open":{}`) { // it is read at the new account
				once.Do(func() {
					close(goOn)
					lost = <-done
				})
			}
		}
		assert.NoError(t, s.Pin(t.Context(), "p", to, nil))
		late = nil
		assert.WantError(t, lost, patterns.ErrOutcomeUnknown)
		assert.Equal(t, assert.Must(store.Get(t.Context(), key))(t).Value.A, "before")
		assert.EqualSlices(t, assert.Must(store.with(t.Context(), "before"))(t), []keys.Key{key}, "found")
	}
}

// A process that moves a partition, and changes entities of it, is killed before and after each of its requests, and while one is in flight.
func TestACrashLosesNoLookupRowOfPartitionsThatMove(t *testing.T) {
	open := func(account *storagetest.Account) (*shards.Shards, *lookedUp, error) {
		service := account.TablesWith(harness.Accelerated())
		s, err := shards.New(accounts(service, 2), "docs", nil)
		if err != nil {
			return nil, nil, err
		}
		table, err := shards.NewTable[doc](s, &patterns.TableOptions[doc]{StampWrites: true})
		if err != nil {
			return nil, nil, err
		}
		store, err := newLookedUp(table, service.NewClient("lookups"))
		return s, store, err
	}
	pin := func(ctx context.Context, s *shards.Shards, to string) error {
		return s.Pin(ctx, "p", to, &shards.MoveOptions{Parallel: 1})
	}
	at := func(row string) keys.Key { return keys.Key{Partition: "p", Row: row} }
	storagetest.CrashPoints(t, func(ctx context.Context, account *storagetest.Account) error {
		s, store, err := open(account)
		if err != nil {
			return err
		}
		_, err = store.rows.CreateTable(ctx, nil)
		if err = errors.Join(err, s.Create(ctx), pin(ctx, s, "account0")); err != nil {
			return err
		}
		for _, row := range []string{"1", "2"} {
			if _, err := store.Insert(ctx, &doc{PartitionKey: "p", RowKey: row, A: "a", B: "b"}); err != nil {
				return err
			}
		}
		account.Arm()
		for n, to := range []string{"account1", "account0"} {
			if _, err := store.Update(ctx, at("1"), func(d *doc) error { d.A = fmt.Sprint("a", n); return nil }); err != nil {
				return err
			}
			if err := pin(ctx, s, to); err != nil {
				return err
			}
		}
		if _, err := store.Insert(ctx, &doc{PartitionKey: "p", RowKey: "3", A: "a"}); err != nil {
			return err
		}
		return store.Delete(ctx, at("2"))
	}, func(account *storagetest.Account) error {
		ctx := context.Background()
		s, store, err := open(account)
		if err != nil {
			return err
		}
		if err := store.check(ctx, false); err != nil {
			return err
		}
		if err := errors.Join(pin(ctx, s, "account1"), store.check(ctx, false)); err != nil {
			return err
		}
		time.Sleep(2 * lookupExpiry)
		if r, err := store.Lookups().Sweep(ctx, nil); err != nil || r.Failed > 0 {
			return fmt.Errorf("sweep: %v, %w", r.Failures, err)
		}
		return store.check(ctx, true)
	})
}

// Clients change entities and read lookups, and a sweep removes superfluous rows, while partitions move. Requests and replies are lost,
// arrive late or twice, and processes are killed or paused. Each entity is found by its values, once.
func TestNoLookupRowIsLostWhilePartitionsMove(t *testing.T) {
	harness.Schedules(t, []string{"plain", "accelerated"}, 4, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(lookupExpiry/2 - time.Minute)
		r := &run{Schedule: s, mode: mode, retries: int32(s.IntN(4)) - 1, speed: []time.Duration{1, 8, 30}[s.IntN(3)]}
		setup, _ := r.open(s.Reliable(), 2)
		rows, err := s.Reliable().Tables(mode == "accelerated", r.retries)
		if err == nil {
			_, err = rows.NewClient("lookups").CreateTable(ctx, nil)
		}
		if err = errors.Join(err, setup.Create(ctx)); err != nil {
			s.Failf("create: %w", err)
			return
		}
		var all sync.WaitGroup
		chance := func(n int) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, uint64(n))) }
		r.moving.Add(1)
		all.Go(func() { r.moves(ctx, 10, fmt.Sprint("account", s.Seed%2), chance(100)) })
		for c := range 3 {
			all.Go(func() { r.lookUp(ctx, c, chance(c+1)) })
		}
		all.Wait()
		s.WaitLate()
		for try := 0; ; try++ {
			if err = r.move(ctx, s.Reliable(), 4, "account0"); err == nil {
				break
			}
			if try == 3 {
				s.Failf("the move does not end: %w", err)
				return
			}
		}
		store, err := r.openLookups(s.Reliable())
		if err == nil {
			err = store.check(ctx, false)
		}
		time.Sleep(2 * lookupExpiry)
		if err == nil {
			_, err = store.Lookups().Sweep(ctx, nil)
		}
		if err = errors.Join(err, store.check(ctx, true)); err != nil {
			s.Failf("%w", err)
		}
	})
}

func (r *run) openLookups(p *harness.Process) (*lookedUp, error) {
	_, table := r.open(p, 4)
	service, err := p.Tables(r.mode == "accelerated", r.retries)
	if err != nil {
		return nil, err
	}
	return newLookedUp(table, service.NewClient("lookups"))
}

// lookUp is a client that changes entities, and reads and sweeps lookups.
func (r *run) lookUp(ctx context.Context, n int, chance *rand.Rand) {
	var p *harness.Process
	var store *lookedUp
	least := 8 + chance.IntN(8)
	for i := 0; i < least || i < 40 && r.moving.Load() > 0 && r.speed > 1; i++ {
		if p == nil || p.Dead() {
			var err error
			p = r.process(16*n+i, false)
			if store, err = r.openLookups(p); err != nil {
				r.Failf("open: %w", err)
				return
			}
		}
		time.Sleep(time.Duration(chance.IntN(4_000)) * time.Millisecond / min(r.speed, 8))
		if chance.IntN(20) == 0 {
			time.Sleep(lookupExpiry) // rows become old
		}
		value := func() string { return []string{"", "u", "v", "w"}[chance.IntN(4)] }
		d := &doc{PartitionKey: fmt.Sprint("p", chance.IntN(partitions)), RowKey: fmt.Sprint(chance.IntN(2)), A: value(), B: value()}
		key := keys.Key{Partition: d.PartitionKey, Row: d.RowKey}
		limited, end := context.WithTimeout(ctx, time.Duration(1+chance.IntN(300))*time.Second) // all runs may have died
		var err error
		switch chance.IntN(7) {
		case 0:
			_, err = store.Insert(limited, d)
		case 1:
			_, err = store.Put(limited, d)
		case 2:
			err = store.Delete(limited, key)
		case 3, 4:
			_, err = store.Update(limited, key, func(v *doc) error { v.A = d.A; return nil })
		case 5:
			if _, err = store.with(limited, "u"); err != nil && strings.Contains(err.Error(), "was returned for") {
				r.Failf("%w", err)
			}
		case 6:
			_, err = store.Lookups().Sweep(limited, nil)
		}
		end()
		r.Log("client %d, %v %q %q: %v", n, key, d.A, d.B, err)
	}
}
