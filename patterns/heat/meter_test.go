package heat_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type order struct {
	PartitionKey, RowKey, Text string
}

func newMeter(t testing.TB, opts *heat.Options) *heat.Meter {
	t.Helper()
	m := assert.Must(heat.NewMeter(opts))(t)
	return m
}

// onClients runs body with a table on each account, plain and accelerated, with the meter
// attached before and after Accelerate.
func onClients(t *testing.T, body func(t *testing.T, client *aztables.Client, m *heat.Meter)) {
	accounts := map[string]func(t *testing.T) (connection string, transport policy.Transporter){
		"storagetest": func(t *testing.T) (string, policy.Transporter) {
			a := storagetest.New(t)
			return a.ConnectionString(), a.Transport()
		},
		"azurite": func(t *testing.T) (string, policy.Transporter) { return azurite.Shared(t).ConnectionString(), nil },
	}
	modes := map[string]func(m *heat.Meter, opts *aztables.ClientOptions) *aztables.ClientOptions{
		"plain": func(m *heat.Meter, opts *aztables.ClientOptions) *aztables.ClientOptions {
			m.Attach(&opts.ClientOptions)
			m.Attach(&opts.ClientOptions)
			return opts
		},
		"then accelerated": func(m *heat.Meter, opts *aztables.ClientOptions) *aztables.ClientOptions {
			m.Attach(&opts.ClientOptions)
			patterns.Accelerate(&opts.ClientOptions)
			return opts
		},
		"accelerated before": func(m *heat.Meter, opts *aztables.ClientOptions) *aztables.ClientOptions {
			patterns.Accelerate(&opts.ClientOptions)
			m.Attach(&opts.ClientOptions)
			return opts
		},
	}
	for account, start := range accounts {
		for mode, attach := range modes {
			t.Run(account+"/"+mode, func(t *testing.T) {
				connection, transport := start(t)
				opts := &aztables.ClientOptions{}
				opts.Transport = transport
				m := newMeter(t, nil)
				service := assert.Must(aztables.NewServiceClientFromConnectionString(connection, attach(m, opts)))(t)
				body(t, service.NewClient("t"+strings.ReplaceAll(uuid.NewString(), "-", "")), m)
			})
		}
	}
}

// total returns the sum of a figure of all ranges in one resolution.
func total(s *heat.Snapshot, resolution, figure int) (sum float64) {
	for _, r := range s.Ranges {
		for _, step := range r.Steps[resolution] {
			sum += step[1+figure]
		}
	}
	return sum
}

const (
	entitiesRead = iota
	entitiesWritten
	requests
)

func TestEveryEntityIsCountedUnderItsKey(t *testing.T) {
	onClients(t, func(t *testing.T, client *aztables.Client, m *heat.Meter) {
		ctx := t.Context()
		table := assert.Must(patterns.NewTable[order](client, nil))(t)
		assert.NoError(t, table.Create(ctx))
		key := keys.Key{Partition: "O'Brien & <Søn>", Row: "it's \"1\" % 100"}
		text := strings.Repeat(`"RowKey":"x",{"a":"b"},{"c" PUT /x(PartitionKey='a',RowKey='b') HTTP/1.1`, 1000)
		assert.NoError(t, assert.ErrorOf(table.Insert(ctx, &order{key.Partition, key.Row, text[:30000]})))
		assert.NoError(t, assert.ErrorOf(table.Upsert(ctx, &order{key.Partition, key.Row, "y"}, patterns.Replace)))
		assert.NoError(t, assert.ErrorOf(table.Get(ctx, key)))
		batch := table.Batch()
		for i := range 40 {
			batch.Insert(&order{key.Partition, fmt.Sprintf("row %02d", i), text[:1000]})
		}
		assert.NoError(t, assert.ErrorOf(batch.Commit(ctx)))
		n := 0
		for _, err := range table.Query(ctx, query.PartitionKey.Eq(key.Partition), nil) {
			assert.NoError(t, err)
			n++
		}
		assert.NoError(t, table.Delete(ctx, key, ""))
		s := m.Snapshot()
		if written := total(s, 0, entitiesWritten); math.Abs(written-(1+1+40+1)) > 0.001 {
			t.Errorf("%v entities written", written)
		}
		if read := total(s, 0, entitiesRead); n != 41 || math.Abs(read-(1+41)) > 0.001 {
			t.Errorf("%v entities read", read)
		}
		if len(s.Partitions) != 1 || !strings.HasSuffix(s.Partitions[0].Key, "\x00"+key.Partition) || s.Partitions[0].Entities != 85 {
			t.Errorf("partitions %+v", s.Partitions)
		}
		// Of 40 rows of a transaction, every eighth is counted with the load of eight.
		rows := 0.0
		for _, row := range s.Rows {
			rows += row.Entities
			if one := strings.HasSuffix(row.Key, "\x00"+key.Partition+"\x00"+key.Row); row.Entities != map[bool]float64{true: 4, false: 8}[one] {
				t.Errorf("row %+v", row)
			}
		}
		assert.Equal(assert.Now(t), len(s.Rows), 1+5)
		assert.Equal(t, rows, 4+40)
	})
}

func TestConcurrentRequestsAreAllCounted(t *testing.T) {
	p := newProgram(t, &service{rows: 7})
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			for i := range 50 {
				p.insert(fmt.Sprintf("p%d", g), fmt.Sprint(i))
				p.query(fmt.Sprintf("PartitionKey eq 'p%d'", g))
				p.get("p", "r")
				if i%25 == 0 {
					p.meter.Findings()
				}
			}
		})
	}
	all.Wait()
	s := p.meter.Snapshot()
	for i, want := range []float64{64 * 50 * 8, 64 * 50, 64 * 50 * 3} {
		for resolution := range 3 {
			if got := total(s, resolution, i); got < want-0.01 || got > want+0.01 {
				t.Errorf("figure %d of resolution %d is %v, want %v", i, resolution, got, want)
			}
		}
	}
}

func TestRequestsThatAreRecordedOutOfOrderAreAllCounted(t *testing.T) {
	m := newMeter(t, nil)
	minute := time.Unix(1_000_000_020, 0)
	const n = 20_000 // more than the meter records before it balances
	for _, after := range []time.Duration{time.Second, -time.Second, 2 * time.Second} {
		for range n {
			heat.Record(m, "Orders", "p", "r", minute.Add(after))
		}
	}
	s := heat.SnapshotAt(m, minute.Add(-2*time.Second))
	for resolution := range 3 {
		assert.Equal(t, total(s, resolution, entitiesWritten), 3*n, "resolution", resolution, "contains")
	}
}

func TestAMeterNeedsAtMostEightMiBForAnyNumberOfKeys(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := newMeter(t, nil)
	for i := range 60_000 {
		heat.Record(m, fmt.Sprintf("t%d", i%1000), fmt.Sprintf("partition_%d", i*7919%50_021), strings.Repeat("k", 300)+fmt.Sprint(i), time.Unix(int64(1_000_000_000+i), 0))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("%d bytes", grown)
	}
	runtime.KeepAlive(m)
}

func TestOldLoadsAreKeptInCoarserSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, &service{})
		p.insert("a", "b")
		for _, c := range []struct {
			after time.Duration
			want  [3]float64
		}{{0, [3]float64{1, 1, 1}}, {7 * time.Hour, [3]float64{0, 1, 1}}, {5 * 24 * time.Hour, [3]float64{0, 0, 1}}, {29 * 24 * time.Hour, [3]float64{}}} {
			time.Sleep(c.after)
			s := p.meter.Snapshot()
			for resolution, want := range c.want {
				assert.Equal(t, total(s, resolution, entitiesWritten), want, c.after, "later, resolution", resolution, "contains")
			}
		}
	})
}

// recorder keeps the last request and its reply.
type recorder struct {
	body  []byte
	reply *http.Response
	err   error
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	r.body = nil
	if req.Body != nil {
		r.body, _ = io.ReadAll(req.Body)
	}
	return r.reply, r.err
}

func TestRequestsRepliesAndErrorsAreNotChanged(t *testing.T) {
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		reply *http.Response
		err   error
	}{
		"an error":         {nil, lost},
		"an error, reply":  {&http.Response{StatusCode: 200, Body: http.NoBody}, lost},
		"no body":          {&http.Response{StatusCode: 200}, nil},
		"a cut page":       {&http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"value":[{"a`), brokenReader{lost}))}, nil},
		"a refused insert": {&http.Response{StatusCode: 409, Body: io.NopCloser(strings.NewReader("conflict"))}, nil},
	} {
		for _, s := range append(samples(), sample{"Unknown", http.MethodGet, "/Orders(PartitionKey='", "{\"PartitionKey\":\"a", ""}, sample{"Batch", http.MethodPost, "/$batch", "PUT ((\nGET /('',RowKey='')\n{\"RowKey\":", ""}) {
			r := &recorder{reply: c.reply, err: c.err}
			opts := azcore.ClientOptions{Transport: r}
			newMeter(t, nil).Attach(&opts)
			req := assert.Must(http.NewRequestWithContext(t.Context(), s.method, "https://account.table.core.windows.net/Orders", nil))(t)
			req.URL.Path = s.path
			if s.body != "" {
				req.Body = closer{strings.NewReader(s.body)}
			}
			resp, err := opts.Transport.Do(req)
			assert.Equal(assert.Now(t), err, c.err, name)
			assert.Equal(assert.Now(t), resp == nil, c.reply == nil, name)
			assert.Equal(t, string(r.body), s.body, name, s.name, "the body was", r.body)
			if name == "a cut page" {
				got, err := io.ReadAll(resp.Body)
				if !errors.Is(err, lost) && len(got) > 0 || len(got) != 0 && string(got) != `{"value":[{"a` {
					t.Errorf("%s: read %q, %v", s.name, got, err)
				}
				_ = resp.Body.Close()
				_ = resp.Body.Close()
			}
		}
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func TestAMeterAllocatesNothing(t *testing.T) {
	for _, s := range samples() {
		page := []byte(s.reply)
		resp := &http.Response{StatusCode: http.StatusOK}
		opts := azcore.ClientOptions{Transport: &recorderOf{resp}}
		newMeter(t, nil).Attach(&opts)
		req := assert.Must(http.NewRequestWithContext(t.Context(), s.method, "https://account.table.core.windows.net"+s.path, nil))(t)
		body, reply, buf := closer{strings.NewReader(s.body)}, &pageBody{}, make([]byte, 4<<10)
		allocs := testing.AllocsPerRun(640, func() {
			reply.Reset(page)
			resp.Body = reply
			if s.body != "" {
				req.Body = body
			}
			got, _ := opts.Transport.Do(req)
			for err := error(nil); err == nil; {
				_, err = got.Body.Read(buf)
			}
			got.Body.Close()
		})
		if allocs >= 1 && !raceEnabled {
			t.Errorf("%s: %v allocations", s.name, allocs)
		}
	}
}

type pageBody struct{ bytes.Reader }

func (*pageBody) Close() error { return nil }

type recorderOf struct{ resp *http.Response }

func (r *recorderOf) Do(*http.Request) (*http.Response, error) { return r.resp, nil }

func TestRowsAreCountedHoweverThePageIsRead(t *testing.T) {
	page := samples()[4]
	for _, size := range []int{1, 2, 3, 5, 10, 16, 17, 1000, 1 << 20} {
		m := newMeter(t, nil)
		opts := azcore.ClientOptions{Transport: nothing{[]byte(page.reply)}}
		m.Attach(&opts)
		req := assert.Must(http.NewRequestWithContext(t.Context(), page.method, "https://account.table.core.windows.net"+page.path, nil))(t)
		resp, err := opts.Transport.Do(req)
		assert.NoError(t, err)
		buf := make([]byte, size)
		for err == nil {
			_, err = resp.Body.Read(buf)
		}
		resp.Body.Close()
		assert.Equal(t, total(m.Snapshot(), 0, entitiesRead), 100, "read", size, "bytes at a time, the page has", "rows")
	}
}

func TestTransactionsOfAnyOperationsAreCountedExactly(t *testing.T) {
	types := []aztables.TransactionType{aztables.TransactionTypeAdd, aztables.TransactionTypeDelete, aztables.TransactionTypeUpdateMerge, aztables.TransactionTypeInsertReplace}
	for n := 1; n <= 100; n++ {
		p := newProgram(t, &service{})
		var actions []aztables.TransactionAction
		for i := range n {
			text := strings.Repeat(`--changeset HTTP/1.1 \"RowKey\":\"x\",`, i*n%400)
			entity := fmt.Appendf(nil, `{"PartitionKey":"it's","RowKey":"%08d","Text":"%s"}`, i, text)
			actions = append(actions, aztables.TransactionAction{ActionType: types[i*i%7%4], Entity: entity})
		}
		_, err := p.table.SubmitTransaction(p.ctx, actions, nil)
		p.must(err)
		s := p.meter.Snapshot()
		rows := 0.0
		for _, row := range s.Rows {
			rows += row.Entities
		}
		if written := s.Resources["tOrders"].Written; written != float64(n) || s.Partitions[0].Entities != written || rows != written || len(s.Rows) < min(n, 5) || len(s.Rows) > 8 {
			t.Errorf("%d operations: %v written, partition %+v, %d rows with %v", n, written, s.Partitions[0], len(s.Rows), rows)
		}
	}
}
