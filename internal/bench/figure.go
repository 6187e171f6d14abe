package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/sealed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Figure is a number with a goal that is not the cost of an operation, such as the size of
// a reply.
type Figure struct {
	Name    string
	Unit    string
	Goal    float64 // at most
	Exact   bool    // the number does not depend on the load of the machine
	Measure func(context.Context) (float64, error)
}

// Figures returns the figures.
func Figures() []Figure {
	return []Figure{
		{"projected read of three columns, a row in the reply", "bytes", 104, true, projectedBytes},
		{"20 bursts of 64 requests", "connections", 64, true, connections},
		{"each further entity type with a Table, in a stripped binary", "kB", 60, true, sizeOf(useTable)},
		{"each further entity type with a Store and an index, in a stripped binary", "kB", 90, true, sizeOf(useStore)},
		{"code that Store.Update reaches statically", "lines", 9_796, true, updateReach},
		{"a row of storagetest, after a scan of 20,000", "bytes", 600, true, rowMemory},
		{"Explain of In(100,000), a key", "µs", 2, false, explainTime},
		{"an encrypted property, more than its content", "bytes", 60, true, encrypted(encryptedBytes)},
		{"an encrypted property, more than another, written", "µs", 2, false, encrypted(encryptedWrite)},
		{"an encrypted property, more than another, read", "µs", 2, false, encrypted(encryptedRead)},
		{"gzip of source text, a MiB", "ms", 18, false, gzipOf(sourceText)},
		{"gzip of random bytes, a MiB", "ms", 2, false, gzipOf(noise)},
	}
}

// filled returns an account with a table of this many rows.
func filled(ctx context.Context, opts *storagetest.Options, rows int) (*storagetest.Account, *patterns.Table[Employee], error) {
	account := storagetest.Start(opts)
	t, err := table(account.TablesWith(accelerated()).NewClient(tableName))
	if err == nil {
		err = t.Create(ctx)
	}
	if err == nil {
		_, err = t.Bulk(ctx, inserts(rows), nil)
	}
	return account, t, err
}

func projectedBytes(ctx context.Context) (float64, error) {
	account, t, err := filled(ctx, nil, pageRows)
	if err != nil {
		return 0, err
	}
	account.ResetLog()
	type narrow struct {
		FirstName    string
		Age          int32
		EmailAddress string
	}
	r, err := patterns.Project[narrow](t)
	if err != nil {
		return 0, err
	}
	if err := wantAll(r.Query(ctx, query.PartitionKey.Eq("Sales"), nil), pageRows); err != nil {
		return 0, err
	}
	var bytes int64
	for _, r := range account.Log() {
		bytes += r.ReplyBytes
	}
	return float64(bytes) / pageRows, nil
}

// connections counts the connections of 20 bursts of 64 concurrent requests. TLS does not change
// their number.
func connections(ctx context.Context) (float64, error) {
	const bursts, size = 20, 64
	var opened atomic.Int64
	arrived, proceed := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-proceed
		w.Header().Set("Content-Type", "application/json;odata=minimalmetadata")
		w.Write(cannedRow())
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	s, err := open(server.URL, []byte(fakeKey), "account", nil)
	if err != nil {
		return 0, err
	}
	for range bursts {
		var g errgroup.Group
		for range size {
			g.Go(func() error {
				_, err := handGet[HandEmployee](ctx, s.accelerated, "Sales", "00000001")
				return err
			})
		}
		for range size { // all of them are in progress
			<-arrived
		}
		for range size {
			proceed <- struct{}{}
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
	}
	return float64(opened.Load()), nil
}

// rowMemory is the memory of an account with rows that all have been read.
func rowMemory(ctx context.Context) (float64, error) {
	const rows = 20_000
	before := heap()
	account, t, err := filled(ctx, &storagetest.Options{LogLimit: 10}, rows)
	if err == nil {
		err = wantAll(t.Query(ctx, query.PartitionKey.Eq("Sales"), nil), rows)
	}
	held := heap() - before
	runtime.KeepAlive(account)
	return held / rows, err
}

// heap returns the bytes in use, without what pools keep.
func heap() float64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// explainTime is the CPU time that the planner takes for a key of many, in any order.
func explainTime(context.Context) (float64, error) {
	const n, runs = 100_000, 5
	wanted := make([]any, n)
	for i := range wanted {
		wanted[i] = fmt.Sprintf("%08d", i*7919%n)
	}
	f := query.And(query.PartitionKey.Eq("Sales"), query.RowKey.In(wanted...))
	start := cpuTime()
	for range runs {
		query.Explain(f)
	}
	return float64(cpuTime()-start) / (n * runs * 1000), nil
}

// confidential has one property, which is encrypted.
type confidential struct {
	Email string `table:",encrypted"`
}

// encrypted measures one property: its bytes, and the CPU time of a write or a read, without what a property takes that is not
// encrypted.
func encrypted(measure func(enc, plain *edm.Codec) (float64, error)) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) {
		keys, err := encryption.RingOf("key-2026", map[string][]byte{"key-2026": make([]byte, 32)})
		if err != nil {
			return 0, err
		}
		enc, err := edm.SealedCodecFor(reflect.TypeFor[confidential](), sealed.New(keys, tableName))
		if err != nil {
			return 0, err
		}
		return measure(enc, enc.Comparing())
	}
}

var (
	confidentialRow = confidential{"ada.lovelace@contoso.com"}
	confidentialKey = edm.Envelope{PartitionKey: "Sales", RowKey: "00000001"}
)

func encryptedBytes(enc, _ *edm.Codec) (float64, error) {
	row, err := enc.Append(nil, &confidentialRow, confidentialKey)
	if err != nil {
		return 0, err
	}
	properties, _, err := edm.ReadProperties(row)
	stored, _ := properties["Email"].([]byte)
	return float64(len(stored) - len(confidentialRow.Email)), err
}

const encryptedRuns = 50_000

// difference returns the microseconds of CPU time by which a call of one takes longer than one of other.
func difference(one, other func() error) (float64, error) {
	took := [2]float64{}
	for i, call := range []func() error{one, other} {
		start := cpuTime()
		for range encryptedRuns {
			if err := call(); err != nil {
				return 0, err
			}
		}
		took[i] = float64(cpuTime()-start) / (encryptedRuns * 1000)
	}
	return took[0] - took[1], nil
}

func encryptedWrite(enc, plain *edm.Codec) (float64, error) {
	write := func(c *edm.Codec) func() error {
		return func() error {
			_, err := c.Append(nil, &confidentialRow, confidentialKey)
			return err
		}
	}
	return difference(write(enc), write(plain))
}

func encryptedRead(enc, plain *edm.Codec) (float64, error) {
	read := func(c *edm.Codec) func() error {
		row, err := c.Append(nil, &confidentialRow, confidentialKey)
		return func() error {
			var v confidential
			var m edm.Meta
			if err == nil {
				err = c.DecodeEntity(row, &v, &m, nil)
			}
			return err
		}
	}
	return difference(read(enc), read(plain))
}
