package reindex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// person has a copy in its partition, one in another table, and is a member of a list.
type person struct {
	PartitionKey, RowKey string
	Name                 string
	Email                string
	Badge                string
	City                 string
}

func (p *person) key() keys.Key { return keys.Key{Partition: p.PartitionKey, Row: p.RowKey} }

// personOf returns the nth person. A partition has a hundred, and so has a city.
func personOf(n int) *person {
	return &person{
		fmt.Sprintf("dept%04d", n/100), fmt.Sprintf("id_%06d", n), fmt.Sprintf("Person %d", n),
		fmt.Sprintf("p%06d@contoso.com", n), fmt.Sprintf("%06d", n*7%1000000), fmt.Sprintf("city%04d", n/100),
	}
}

// views returns the three views. badges is the table of the second.
func views(t testing.TB, badges *aztables.Client) []patterns.View[person] {
	t.Helper()
	email := secondaryindex.Intra("email", func(p *person) (string, bool) { return p.Email, p.Email != "" }, nil)
	badge := secondaryindex.Inter("badge", badges, func(p *person) (string, bool) { return p.Badge, p.Badge != "" },
		&secondaryindex.Options[person]{Partition: func(_, value string) string { return value[:3] }})
	city := indexentity.Inter("city", nil, func(p *person) (string, bool) { return p.City, p.City != "" }, nil)
	return []patterns.View[person]{email, badge, city}
}

// world is a store with its tables.
type world struct {
	*patterns.Store[person]
	people, badges *aztables.Client
	queue          *countedQueue
	b              *harness.Backend
}

func newWorld(t testing.TB, b *harness.Backend) *world {
	w := &world{people: b.Table(t), badges: b.Table(t), queue: new(countedQueue), b: b}
	w.Store = w.open(t, views(t, w.badges)...)
	assert.NoError(t, w.Store.Create(t.Context())) // records that the view in badges is its own
	return w
}

// start returns the world as a process with that transport sees it. The tables exist.
func start(t testing.TB, p *harness.Process, queue *countedQueue) *world {
	service := assert.Must(p.Tables(true, 1))(t)
	w := &world{people: service.NewClient("people"), badges: service.NewClient("badges"), queue: queue}
	w.Store = w.open(t, views(t, w.badges)...)
	return w
}

// open opens a store with some views.
func (w *world) open(t testing.TB, vs ...patterns.View[person]) *patterns.Store[person] {
	t.Helper()
	return harness.NewStore(t, w.people, &patterns.StoreOptions[person]{Views: vs, Outbox: w.queue, Expiry: 10 * time.Minute})
}

// countedQueue counts requests.
type countedQueue struct {
	harness.OutboxQueue
	requests atomic.Int32
}

func (q *countedQueue) Put(ctx context.Context, m patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	q.requests.Add(1)
	return q.OutboxQueue.Put(ctx, m, after)
}

func (q *countedQueue) Delete(ctx context.Context, r patterns.Receipt) error {
	q.requests.Add(1)
	return q.OutboxQueue.Delete(ctx, r)
}

// row is a row of a table in the form of the service.
type row = map[string]any

// fill stores n persons and, if derived is set, their derived rows, as a Store would, by
// transactions of many rows.
func (w *world) fill(t testing.TB, n int, derived bool) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(w.Insert(t.Context(), personOf(0))))
	listing, _ := w.rows(t, w.people)[personOf(0).key()]["azp_views"].(string)
	assert.NoError(t, w.Delete(t.Context(), personOf(0).key()))

	tables := [2][]row{} // people, badges
	cities := map[keys.Key][]string{}
	for i := range n {
		p := personOf(i)
		own := row{"Name": p.Name, "Email": p.Email, "Badge": p.Badge, "City": p.City}
		primary := at(p.key(), own)
		tables[0] = append(tables[0], primary)
		if !derived {
			continue
		}
		primary["azp_views"] = listing
		for j, v := range w.Views() {
			for _, d := range assert.Must(assert.Must(v.Engine())(t).Rows(p))(t) {
				if d.Kind == patterns.Members {
					cities[d.Key] = append(cities[d.Key], p.PartitionKey+"/"+p.RowKey)
					continue
				}
				copied := at(d.Key, own)
				copied["azp_pk"], copied["azp_rk"], copied["azp_view"] = p.PartitionKey, p.RowKey, v.Name()
				tables[j] = append(tables[j], copied)
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(cities), keys.Key.Compare) {
		tables[0] = append(tables[0], at(k, row{"azp_view": "city", "Members": format(t, cities[k])}))
	}
	plant(t, w.people, tables[0])
	plant(t, w.badges, tables[1])
	if w.b != nil {
		w.requests()
	}
}

// at returns the row with that key and content.
func at(k keys.Key, content row) row {
	r := maps.Clone(content)
	r["PartitionKey"], r["RowKey"] = k.Partition, k.Row
	return r
}

// plant stores rows as they are.
func plant(t testing.TB, client *aztables.Client, rows []row) {
	t.Helper()
	byPartition := map[string][]aztables.TransactionAction{}
	send := func(partition string) {
		if actions := byPartition[partition]; len(actions) > 0 {
			assert.NoError(t, assert.ErrorOf(client.SubmitTransaction(t.Context(), actions, nil)))
			byPartition[partition] = nil
		}
	}
	for _, r := range rows {
		body := assert.Must(json.Marshal(r))(t)
		partition := r["PartitionKey"].(string)
		byPartition[partition] = append(byPartition[partition], aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
		if len(byPartition[partition]) == 100 {
			send(partition)
		}
	}
	for partition := range byPartition {
		send(partition)
	}
}

// rows returns the rows of a table but the states of views, without ETags and Timestamps.
func (w *world) rows(t testing.TB, client *aztables.Client) map[keys.Key]row {
	t.Helper()
	all := map[keys.Key]row{}
	for _, body := range harness.Rows(t, client) {
		var r row
		assert.NoError(t, json.Unmarshal(body, &r))
		for name := range r {
			if strings.HasPrefix(name, "odata.") || strings.HasPrefix(name, "Timestamp") {
				delete(r, name)
			}
		}
		if k := (keys.Key{Partition: r["PartitionKey"].(string), Row: r["RowKey"].(string)}); k.Partition != "~azp" {
			all[k] = r
		}
	}
	return all
}

// requests returns the number of requests since the last call, those to the queue included.
func (w *world) requests() int {
	n := len(w.b.Requests()) + int(w.queue.requests.Swap(0))
	w.b.ResetRequests()
	return n
}

// size returns the number of primaries of the large tests, less by default than in the
// measurements that the documentation names.
func size(t testing.TB, usual int) int {
	text := os.Getenv("AZPATTERNS_REINDEX_PRIMARIES")
	if text == "" {
		return usual
	}
	n := assert.Must(strconv.Atoi(text))(t)
	return n
}

// parse parses the members of a list.
func parse(t testing.TB, text string) (members []string) {
	t.Helper()
	assert.NoError(t, json.Unmarshal([]byte(text), &members))
	return members
}

// format returns the members as a list contains them.
func format(t testing.TB, members []string) string {
	t.Helper()
	text := assert.Must(json.Marshal(members))(t)
	return string(text)
}
