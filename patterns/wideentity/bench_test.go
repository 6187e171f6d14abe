package wideentity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// The benchmark compares writing and reading an entity of n numbers with the same by hand
// on aztables: the days in order, 251 per row, one transaction and one query. Both run
// alternately, and the service's responses are replayed, so that the ratios are those of
// the client's work. Each ratio is the median of all rounds.
//
//	go test -run '^$' -bench . -benchtime 50x ./patterns/wideentity
func BenchmarkAgainstByHand(b *testing.B) {
	for _, n := range []int{252, 1000, 2500, 10_000} {
		for _, mode := range []string{"plain", "accelerated"} {
			b.Run(fmt.Sprintf("properties=%d/%s", n, mode), func(b *testing.B) {
				handWrite, handRead, handRequests := byHand(b, n)
				write, read, requests := byTable(b, n, mode == "accelerated")
				var writes, reads []float64 // ratios
				timed := func(run func()) float64 {
					start := time.Now()
					run()
					return float64(time.Since(start))
				}
				for _, run := range []func(){handWrite, handRead, write, read} {
					run() // records the responses that are replayed
				}
				for b.Loop() {
					writes = append(writes, timed(handWrite)/timed(write))
					reads = append(reads, timed(handRead)/timed(read))
				}
				slices.Sort(writes)
				slices.Sort(reads)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(writes[len(writes)/2], "write-times-faster")
				b.ReportMetric(reads[len(reads)/2], "read-times-faster")
				b.ReportMetric(float64(*requests)/float64(*handRequests), "requests-ratio")
			})
		}
	}
}

func TestWritingAndReadingMakeAsManyRequestsAsByHand(t *testing.T) {
	for _, n := range []int{252, 2500, 10_000} {
		write, read, hand := byHand(t, n)
		write()
		read()
		write, read, ours := byTable(t, n, true)
		write()
		read()
		assert.Equal(t, *ours, *hand, n, "properties", "requests, by hand")
	}
}

// replay sends the first request of each kind, and answers the following ones with the
// same response.
type replay struct {
	inner    policy.Transporter
	replies  map[string]reply
	requests int
}

type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r *replay) Do(req *http.Request) (*http.Response, error) {
	r.requests++
	kind := req.Method + req.URL.Path
	a, ok := r.replies[kind]
	if !ok {
		resp, err := r.inner.Do(req)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		a = reply{resp.StatusCode, resp.Header, body}
		r.replies[kind] = a
	} else if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_ = req.Body.Close()
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Request: req, Body: io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)), ProtoMajor: 1, ProtoMinor: 1}, nil
}

func replayed(t testing.TB, accelerated bool) (*aztables.Client, *int) {
	acct := storagetest.Start(nil)
	assert.NoError(t, assert.ErrorOf(acct.Tables().CreateTable(t.Context(), "Wide", nil)))
	r := &replay{inner: acct.Transport(), replies: map[string]reply{}}
	opts := &aztables.ClientOptions{}
	opts.Transport = r
	if accelerated {
		patterns.Accelerate(&opts.ClientOptions)
	}
	service := assert.Must(aztables.NewServiceClientFromConnectionString(acct.ConnectionString(), opts))(t)
	return service.NewClient("Wide"), &r.requests
}

func byTable(t testing.TB, n int, accelerated bool) (write, read func(), requests *int) {
	client, requests := replayed(t, accelerated)
	table := open[properties](t, client, &wideentity.Options[properties]{Parts: max(1, (n+149)/150)})
	v := days(n)
	return func() {
			assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), &v)))
		}, func() {
			item, err := table.Get(t.Context(), year)
			if err != nil || len(item.Value) != n+2 {
				t.Fatal(err, len(item.Value))
			}
		}, requests
}

const handRow = 251

func byHand(t testing.TB, n int) (write, read func(), requests *int) {
	client, requests := replayed(t, false)
	v := days(n)
	return func() {
			assert.NoError(t, handPut(t.Context(), client, year, v, n))
		}, func() {
			got, err := handGet(t.Context(), client, year)
			if err != nil || len(got) != n {
				t.Fatal(err, len(got))
			}
		}, requests
}

func handPut(ctx context.Context, client *aztables.Client, key keys.Key, v properties, n int) error {
	var actions []aztables.TransactionAction
	for from := 1; from <= n; from += handRow {
		e := aztables.EDMEntity{Properties: map[string]any{}}
		e.PartitionKey, e.RowKey = key.Partition, fmt.Sprintf("%s_%02d", key.Row, from/handRow+1)
		for i := from; i < from+handRow && i <= n; i++ {
			e.Properties[dayName(i)] = v[dayName(i)]
		}
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: raw})
	}
	_, err := client.SubmitTransaction(ctx, actions, nil)
	return err
}

func handGet(ctx context.Context, client *aztables.Client, key keys.Key) (properties, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s_' and RowKey lt '%[2]s`'", key.Partition, strings.ReplaceAll(key.Row, "'", "''"))
	whole := properties{}
	for pager := client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			for name, value := range e.Properties {
				whole[name] = value
			}
		}
	}
	return whole, nil
}
