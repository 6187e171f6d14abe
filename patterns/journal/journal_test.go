package journal_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// order is an entity whose changes are recorded.
type order struct {
	PartitionKey, RowKey string
	State                string
	Total                int
	Until                time.Time
}

func newOrder(row, state string, total int) *order {
	return &order{PartitionKey: "shop", RowKey: row, State: state, Total: total}
}

func at(row string) keys.Key { return keys.Key{Partition: "shop", Row: row} }

// world is a store of orders with a journal.
type world struct {
	*patterns.Store[order]
	changes *journal.Changes[order]
}

func newWorld(t testing.TB, b *harness.Backend, opts *journal.Options[order], more ...patterns.View[order]) *world {
	t.Helper()
	j := journal.Of("journal", opts)
	views := append([]patterns.View[order]{j}, more...)
	store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[order]{Views: views})
	return &world{store, j.On(store)}
}

// again returns a store that another program has on the same table.
func (w *world) again(t testing.TB, opts *journal.Options[order]) *world {
	t.Helper()
	j := journal.Of("journal", opts)
	store := harness.NewStore(t, w.Table().Client(), &patterns.StoreOptions[order]{Views: []patterns.View[order]{j}})
	return &world{store, j.On(store)}
}

// history returns the history of an entity as texts, the oldest change first.
func (w *world) history(t testing.TB, row string) (all []string) {
	t.Helper()
	last := journal.Version("9")
	for c, err := range w.changes.History(t.Context(), at(row), nil) {
		assert.NoError(t, err)
		assert.Equal(t, c.Key, at(row))
		if c.Version >= last {
			t.Errorf("version %s follows the newer %s", c.Version, last)
		}
		last = c.Version
		text := c.Event.String()
		for _, v := range []*order{c.Before, c.After} {
			if v != nil {
				text += fmt.Sprintf(" %s:%d", v.State, v.Total)
			}
		}
		if c.Changed != nil {
			text += " (" + strings.Join(c.Changed, " ") + ")"
		}
		all = append([]string{text}, all...)
	}
	return all
}

func TestEachChangeIsRecorded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for content, want := range map[journal.Content]string{
			journal.After:          "[inserted new:1 updated paid:1 updated paid:2 deleted paid:2 inserted new:3]",
			journal.BeforeAndAfter: "[inserted new:1 updated new:1 paid:1 updated paid:1 paid:2 deleted paid:2 inserted new:3]",
			journal.Changed:        "[inserted new:1 (State Total) updated paid:0 (State) updated :2 (Total) deleted paid:2 (State Total) inserted new:3 (State Total)]",
			journal.KeyOnly:        "[inserted updated updated deleted inserted]",
		} {
			w := newWorld(t, b, &journal.Options[order]{Content: content})
			item := assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
			_, err := w.UpdateItem(ctx, item, func(o *order) error { o.State = "paid"; return nil })
			assert.NoError(t, err)
			assert.Must(w.Put(ctx, newOrder("1", "paid", 2)))(t)
			assert.NoError(t, w.Delete(ctx, at("1")))
			_, err = w.Batch().Insert(newOrder("1", "new", 3)).Insert(newOrder("2", "new", 4)).Commit(ctx)
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprint(w.history(t, "1")), want)
			assert.Equal(t, len(w.history(t, "2")), 1)
		}
	})
}

func TestTheRequestsOfAChange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		b.ResetRequests()
		item := assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Batch": 1}) // the root, once for a program and a partition
		assert.Must(w.UpdateItem(ctx, item, func(o *order) error { o.Total++; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Batch": 1})
		assert.Must(w.Update(ctx, at("1"), func(o *order) error { o.Total++; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Batch": 1})
		assert.Must(w.Insert(ctx, newOrder("2", "new", 1)))(t)
		b.WantRequests(t, map[string]int{"Table.Batch": 1})
		assert.NoError(t, w.Delete(ctx, at("1")))
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Batch": 1})
		assert.Must(w.Insert(ctx, newOrder("1", "new", 2)))(t) // number 1 is taken: the newest change is read
		b.WantRequests(t, map[string]int{"Table.Batch": 2, "Table.Query": 1})
		var many []patterns.StoreOp[order]
		for i := range 49 {
			many = append(many, patterns.InsertEntity(newOrder(fmt.Sprint("m", i), "new", i)))
		}
		report := assert.Must(w.Bulk(ctx, slices.Values(many), nil))(t)
		assert.Equal(t, report.Done, 49)
		b.WantRequests(t, map[string]int{"Table.Batch": 1})

		other := w.again(t, nil)
		assert.Must(other.Update(ctx, at("2"), func(o *order) error { o.Total++; return nil }))(t) // the entity has the epoch
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Batch": 1})
	})
}

func TestAChangeIsRecordedInTheEpochThatIsOpen(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		assert.NoError(t, w.Delete(ctx, at("1")))
		other := w.again(t, nil)
		time.Sleep(1100 * time.Millisecond) // Date has full seconds
		r := assert.Must(other.changes.Sweep(ctx, &patterns.SweepOptions{OlderThan: time.Millisecond}))(t)
		assert.Equal(t, fmt.Sprint(r.Done, r.Skipped), "1 1")
		b.ResetRequests()
		assert.Must(w.Insert(ctx, newOrder("1", "new", 2)))(t) // the marker is missing: the root is read
		b.WantRequests(t, map[string]int{"Table.Batch": 2, "Table.Get": 1})
		page := assert.Must(w.changes.Page(ctx, at("1"), "", nil))(t)
		assert.Equal(t, page.Changes[0].Version, "0000000002-0000000001")
		assert.Equal(t, page.Changes[1].Version, "0000000001-0000000002") // the deletion
	})
}

func TestRestoreStoresAnEarlierVersion(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "paid", 2)))(t)
		assert.NoError(t, w.Delete(ctx, at("1")))
		var versions []journal.Version
		for c, err := range w.changes.History(ctx, at("1"), nil) {
			assert.NoError(t, err)
			versions = append(versions, c.Version)
		}
		for i, want := range []string{"paid", "paid", "new"} { // the deleted one, and those before
			item, err := w.changes.Restore(ctx, at("1"), versions[i])
			assert.NoError(t, err)
			assert.Equal(t, item.Value.State, want)
			assert.Equal(t, assert.Must(w.Get(ctx, at("1")))(t).Value.State, want)
		}
		assert.Equal(t, len(w.history(t, "1")), 6)
		_, err := w.changes.Restore(ctx, at("1"), "0000000001-0000000099")
		assert.WantError(t, err, patterns.ErrNotFound, "a change that does not exist")
		_, err = w.changes.Restore(ctx, at("1"), "1-1")
		assert.WantError(t, err, patterns.ErrBadOption, "not a version")
		for _, content := range []journal.Content{journal.KeyOnly, journal.Changed} {
			slim := w.again(t, &journal.Options[order]{Content: content})
			assert.Must(slim.Put(ctx, newOrder("1", "x", 2)))(t)
			assert.Must(slim.Put(ctx, newOrder("1", "x", 2)))(t) // changes nothing
			page := assert.Must(slim.changes.Page(ctx, at("1"), "", &patterns.QueryOptions{Limit: 1}))(t)
			_, err = slim.changes.Restore(ctx, at("1"), page.Changes[0].Version)
			assert.WantError(t, err, patterns.ErrBadOption, "a change without the entity")
			assert.Equal(t, assert.Must(w.Get(ctx, at("1")))(t).Value.State, "x")
		}
		slim := w.again(t, &journal.Options[order]{Content: journal.Changed})
		assert.NoError(t, slim.Delete(ctx, at("1")))
		page := assert.Must(slim.changes.Page(ctx, at("1"), "", &patterns.QueryOptions{Limit: 1}))(t)
		item := assert.Must(slim.changes.Restore(ctx, at("1"), page.Changes[0].Version))(t)
		assert.Equal(t, item.Value.State, "x")
	})
}

// A command and a worker call the sweep like those of other packages.
var _ eventual.Sweeper = (*journal.Changes[order])(nil)

func TestDeletedEntitiesAreInsertedTogether(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx, w := t.Context(), newWorld(t, b, nil)
		const n = 40
		for range 2 {
			in, del := w.Batch(), w.Batch()
			for i := range n {
				in.Insert(newOrder(fmt.Sprint(i), "new", i))
				del.Delete(at(fmt.Sprint(i)))
			}
			b.ResetRequests()
			assert.Must(in.Commit(ctx))(t)
			if ops := b.Requests(); ops.Count("Table.Batch") > 2 || ops.Count("Table.Query") > n {
				t.Errorf("%d transactions, %d queries", ops.Count("Table.Batch"), ops.Count("Table.Query"))
			}
			assert.Must(del.Commit(ctx))(t)
		}
		assert.Equal(t, fmt.Sprint(w.history(t, "7")), "[inserted new:7 deleted new:7 inserted new:7 deleted new:7]")
	})
}

func TestRowsThatWereCopiedOrDeletedWithoutTheStore(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		assert.Must(w.Insert(ctx, newOrder("0", "new", 1)))(t)
		_, err := w.Table().Client().AddEntity(ctx, []byte(`{"PartitionKey":"shop","RowKey":"1","State":"copied","Total":1,"azp_journal":"0000000005-0000000003"}`), nil)
		assert.NoError(t, err)
		assert.Must(w.Put(ctx, newOrder("1", "changed", 2)))(t)
		assert.NoError(t, w.Delete(ctx, at("1")))
		assert.Must(w.Insert(ctx, newOrder("1", "again", 3)))(t)
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[updated changed:2 deleted changed:2 inserted again:3]")
		_, err = w.Table().Client().DeleteEntity(ctx, "shop", "~azp_feed_0000000006_!", nil)
		assert.NoError(t, err)
		for _, program := range []*world{w, w.again(t, nil)} {
			assert.Must(program.Put(ctx, newOrder("1", "put", 4)))(t)
			assert.Must(program.Put(ctx, newOrder("0", "put", 4)))(t)
		}
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[updated changed:2 deleted changed:2 inserted again:3 updated put:4 updated put:4]")
	})
}

func TestOnlySelectedEntitiesAreRecorded(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, &journal.Options[order]{Only: func(o *order) bool { return o.State != "draft" }})
		assert.Must(w.Put(ctx, newOrder("1", "draft", 1)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "draft", 2)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "new", 3)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "draft", 4)))(t)
		assert.Must(w.Put(ctx, newOrder("1", "draft", 5)))(t)
		assert.NoError(t, w.Delete(ctx, at("1")))
		assert.Must(w.Insert(ctx, newOrder("1", "new", 6)))(t)
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[updated new:3 updated draft:4 inserted new:6]")
	})
}

func TestAnEntityThatHasExpiredIsRecorded(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		x := expiry.At("expiry", nil, func(o *order) time.Time { return o.Until }, nil)
		w := newWorld(t, b, nil, x)
		for _, row := range []string{"1", "2"} {
			o := newOrder(row, "new", 1)
			o.Until = time.Now().Add(time.Hour)
			assert.Must(w.Insert(ctx, o))(t)
		}
		time.Sleep(3 * time.Hour)
		assert.Must(w.Insert(ctx, newOrder("2", "next", 2)))(t)
		r := assert.Must(x.On(w.Store).Sweep(ctx, nil))(t)
		assert.Equal(t, r.Failed, 0)
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted new:1 expired new:1]")
		assert.Equal(t, fmt.Sprint(w.history(t, "2")), "[inserted new:1 inserted next:2]")
	})
}

func TestTheOwnRowShowsTheOutcomeOfAChange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		b.Fault(storagetest.On("Table.Batch").Times(1).LoseReply())
		item := assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
		b.ClearFaults()
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted new:1]")
		_, err := w.UpdateItem(ctx, item, func(o *order) error { o.Total++; return nil }) // the ETag is known
		assert.NoError(t, err)
	})
}

// interlude makes a call before the second transaction.
type interlude struct {
	policy.Transporter
	transactions int
	call         func()
}

func (p *interlude) Do(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "$batch") {
		if p.transactions++; p.transactions == 2 {
			p.call()
		}
	}
	return p.Transporter.Do(req)
}

func TestTheRowOfAnotherChangeShowsNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		var p interlude
		b.Configure = func(o *azcore.ClientOptions) {
			p.Transporter = o.Transport
			o.Transport = &p
		}
		w := newWorld(t, b, nil)
		p.call = func() { assert.Must(w.again(t, nil).Insert(ctx, newOrder("1", "other", 1)))(t) }
		b.Fault(storagetest.On("Table.Batch").Nth(1).LoseRequest())
		if _, err := w.Insert(ctx, newOrder("1", "own", 1)); !errors.Is(err, patterns.ErrExists) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("%v, want ErrExists or ErrOutcomeUnknown", err)
		}
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted other:1]")
	})
}

func TestReadersOfEntitiesFindNoChanges(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		w := newWorld(t, b, nil)
		for i := range 20 {
			assert.Must(w.Put(ctx, newOrder("1", "new", i)))(t)
		}
		assert.Must(w.Put(ctx, newOrder("\U0001F600", "new", 19)))(t) // sorts after the rows of the journal
		b.ResetRequests()
		n := 0
		for item, err := range w.Query(ctx, query.PartitionKey.Eq("shop"), nil) {
			assert.NoError(t, err)
			assert.Equal(t, item.Value.Total, 19)
			n++
		}
		assert.Equal(t, n, 2)
		for _, r := range b.Requests() {
			if r.Scanned > 1 { // which storagetest counts
				t.Errorf("%v: rows of the journal were read", r)
			}
		}
		b.WantRequests(t, map[string]int{"Table.Query": 2})
	})
}

func TestExplainHasTheRowsOfTheJournal(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWorld(t, b, nil)
		x := assert.Must(w.Explain(patterns.InsertEntity(newOrder("1", "new", 1))))(t)
		assert.Equal(t, fmt.Sprint(x.Requests, x.RoundTrips, x.Entities), "1 1 3")
		assert.Contains(t, x.String(), "merge marker", "Explain")
		assert.Contains(t, x.String(), "insert change", "Explain")
	})
}

func TestRepairsAreNotRecorded(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		byState := secondaryindex.Intra("state", func(o *order) (string, bool) { return o.State, true }, nil)
		before := newWorld(t, b, nil)
		assert.Must(before.Insert(ctx, newOrder("1", "new", 1)))(t)
		j := journal.Of[order]("journal", nil)
		store := harness.NewStore(t, before.Table().Client(), &patterns.StoreOptions[order]{Views: []patterns.View[order]{j, byState}})
		w := &world{store, j.On(store)}
		fill := assert.Must(reindex.Backfill(ctx, w.Store, "state", "", nil))(t)
		assert.Equal(t, fill.Filled, 1)
		for finding, err := range reindex.Verify(ctx, w.Store, "", nil) {
			t.Errorf("%v, %v", finding, err)
		}
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted new:1]")
		assert.Must(w.Put(ctx, newOrder("1", "paid", 1)))(t)
		assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted new:1 updated paid:1]")
	})
}

// secret has an encrypted property.
type secret struct {
	PartitionKey, RowKey string
	Text                 string `table:",encrypted"`
}

func TestEncryptedPropertiesAreNotRecorded(t *testing.T) {
	if _, err := journal.Of[secret]("j", nil).Engine(); !errors.Is(err, patterns.ErrBadOption) || !strings.Contains(err.Error(), "Text") || !strings.Contains(err.Error(), "KeyOnly") {
		t.Errorf("%v, want an error that names the property and the option", err)
	}
	_, err := journal.Of("j", &journal.Options[secret]{Content: journal.KeyOnly}).Engine()
	assert.NoError(t, err)
}

func TestALargeEntityIsRecorded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		type large struct {
			PartitionKey, RowKey string
			A, B, C, D, E, F     string
			G, H, I, J, K, L     string
		}
		j := journal.Of("j", &journal.Options[large]{Content: journal.BeforeAndAfter})
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[large]{Views: []patterns.View[large]{j}})
		text := strings.Repeat("ü", 30_000)
		v := &large{PartitionKey: "p", RowKey: "r", A: text, B: text, C: text, D: text, E: text, F: text} // 360 kB as the service counts
		item := assert.Must(store.Insert(t.Context(), v))(t)
		_, err := store.UpdateItem(t.Context(), item, func(l *large) error { l.A = "a"; return nil })
		assert.NoError(t, err)
		c := assert.Must(j.On(store).AsOf(t.Context(), keys.Key{Partition: "p", Row: "r"}, time.Now().Add(time.Hour)))(t)
		v.A = "a"
		assert.Equal(t, *c.After, *v)
		assert.Equal(t, c.Before.A, text)
		v.RowKey, v.A = "s", text
		v.G, v.H, v.I, v.J, v.K, v.L = text, text, text, text, text, text
		item = assert.Must(store.Insert(t.Context(), v))(t)
		b.ResetRequests()
		_, err = store.UpdateItem(t.Context(), item, func(l *large) error { l.A = "a"; return nil })
		assert.WantError(t, err, patterns.ErrTooLarge, "two versions in a row")
		b.WantRequestCount(t, 0)
	})
}

func TestBadInputIsRefusedWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[order](t, b.Table(t), nil)
		for name, views := range map[string][]patterns.View[order]{
			"name":         {journal.Of[order]("a b", nil)},
			"content":      {journal.Of("j", &journal.Options[order]{Content: 9})},
			"keep":         {journal.Of("j", &journal.Options[order]{Keep: -1})},
			"two journals": {journal.Of[order]("j", nil), journal.Of[order]("k", nil)},
		} {
			_, err := patterns.NewStore(table, &patterns.StoreOptions[order]{Views: views})
			assert.WantError(t, err, patterns.ErrBadView, name)
		}
		w := newWorld(t, b, nil)
		b.ResetRequests()
		_, err := w.changes.Page(ctx, keys.Key{Partition: "a/b"}, "", nil)
		assert.WantError(t, err, patterns.ErrBadKey, "key")
		_, err = w.changes.Page(ctx, at("1"), "", &patterns.QueryOptions{Select: []string{"State"}})
		assert.WantError(t, err, patterns.ErrBadOption, "Select")
		_, err = w.changes.Page(ctx, at("1"), "x", nil)
		assert.WantError(t, err, patterns.ErrBadCursor, "cursor")
		_, err = w.changes.Sweep(ctx, nil)
		assert.WantError(t, err, patterns.ErrBadOption, "no age")
		_, err = journal.Of[order]("other", nil).On(w.Store).AsOf(ctx, at("1"), time.Now())
		assert.WantError(t, err, patterns.ErrBadView, "a journal of no view")
		b.WantRequestCount(t, 0)
	})
}

// Nothing shows that the service ever refuses concurrent merges with If-Match: *. If it does, the change starts over.
func TestARefusedTransactionStartsOver(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		for code, status := range map[string]int{"UpdateConditionNotSatisfied": 412, "EntityAlreadyExists": 409} {
			w := newWorld(t, b, nil)
			item := assert.Must(w.Insert(ctx, newOrder("1", "new", 1)))(t)
			b.Fault(storagetest.On("Table.Batch").Nth(1).Status(status, code))
			_, err := w.UpdateItem(ctx, item, func(o *order) error { o.Total++; return nil })
			assert.NoError(t, err)
			b.ClearFaults()
			assert.Equal(t, fmt.Sprint(w.history(t, "1")), "[inserted new:1 updated new:2]")
		}
	})
}
