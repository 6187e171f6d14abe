package regions_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type row struct {
	PartitionKey, RowKey string
	N                    int64
}

func (r row) key() keys.Key { return keys.Key{Partition: r.PartitionKey, Row: r.RowKey} }

// world is an account with two regions, and a table that is read from both.
type world struct {
	account *storagetest.Account
	pair    *regions.Pair
	service *aztables.ServiceClient
	rows    *patterns.Table[row] // for writes
	table   *regions.Table[row]
}

// lag is how long the secondary is behind.
const lag = time.Minute

// inBothModes runs body in virtual time with a plain and an accelerated client.
func inBothModes(t *testing.T, body func(t *testing.T, w *world)) {
	t.Helper()
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { body(t, open(t, mode == "accelerated", nil)) })
		})
	}
}

func open(t *testing.T, accelerated bool, o *storagetest.Options) *world {
	t.Helper()
	w := &world{account: storagetest.Start(o), pair: new(regions.Pair)}
	var opts aztables.ClientOptions
	opts.Transport = w.account.Transport()
	w.pair.Attach(&opts.ClientOptions)
	options := &opts
	if accelerated {
		options = patterns.Accelerate(options)
	}
	var err error
	w.service, err = aztables.NewServiceClientFromConnectionString(w.account.ConnectionString(), options)
	harness.NoError(t, err)
	w.pair.Use(w.service)
	w.rows = harness.Must(patterns.NewTable[row](w.service.NewClient("Rows"), nil))(t)
	w.table = harness.Must(regions.NewTable(w.rows))(t)
	harness.NoError(t, w.rows.Create(t.Context()))
	w.account.Replicate(lag)
	return w
}

// insert inserts n rows in each of some partitions.
func (w *world) insert(t *testing.T, partitions, n int) []row {
	t.Helper()
	var all []row
	for p := range partitions {
		for i := range n {
			r := row{fmt.Sprintf("p%02d", p), fmt.Sprintf("r%04d", i), int64(i)}
			harness.Must(w.rows.Insert(t.Context(), &r))(t)
			all = append(all, r)
		}
	}
	return all
}

// replicate waits until the secondary has everything.
func (w *world) replicate() {
	time.Sleep(lag + time.Second)
	w.account.ResetLog()
}

// sent returns the number of requests for entities that each region received.
func (w *world) sent() (primary, secondary int) {
	for _, q := range w.account.Log().Only("Table.*") {
		switch {
		case q.Op == "Table.Stats":
		case q.Region == storagetest.Secondary:
			secondary++
		default:
			primary++
		}
	}
	return primary, secondary
}

// wantRequests checks the requests since the last check.
func (w *world) wantRequests(t *testing.T, primary, secondary, stats int) {
	t.Helper()
	p, s := w.sent()
	if n := w.account.Log().Count("Table.Stats"); p != primary || s != secondary || n != stats {
		t.Errorf("%d requests to the primary, %d to the secondary, %d for statistics; want %d, %d, %d:\n%v", p, s, n, primary, secondary, stats, w.account.Log())
	}
	w.account.ResetLog()
}

// warm makes reads until the latencies of the primary are known.
func (w *world) warm(t *testing.T, r row, n int) {
	t.Helper()
	for range n {
		harness.Must(w.table.Get(t.Context(), r.key()))(t)
	}
	w.account.ResetLog()
}

func get(ctx context.Context, w *world, r row) error {
	_, err := w.table.Get(ctx, r.key())
	return err
}
