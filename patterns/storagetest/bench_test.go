package storagetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// signed returns a request as aztables sends it, so that it can be sent repeatedly without
// the cost of the SDK.
func signed(tb testing.TB, acct *storagetest.Account, send func(*aztables.Client) error) *http.Request {
	tb.Helper()
	var kept *http.Request
	var opts aztables.ClientOptions
	opts.Transport = transporterFunc(func(r *http.Request) (*http.Response, error) {
		kept = r
		return acct.Transport().Do(r)
	})
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(tb)
	service := assert.Must(aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, &opts))(tb)
	assert.NoError(tb, send(service.NewClient("bench")))
	return kept.WithContext(context.Background())
}

type transporterFunc func(*http.Request) (*http.Response, error)

func (f transporterFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func employee(i int) []byte {
	b, err := json.Marshal(map[string]any{
		"PartitionKey": "Sales", "RowKey": fmt.Sprintf("%08d", i),
		"FirstName": "Jun", "LastName": "Cao", "Age": 34 + i%20, "EmailAddress": "junc@contoso.com",
		"Salary": 51234.5, "Active": true, "Joined@odata.type": "Edm.DateTime", "Joined": "2014-08-22T01:12:06.2608595Z",
		"Badge@odata.type": "Edm.Int64", "Badge": "9223372036854775807", "Office": "18/2121", "Notes": "prefers mornings",
	})
	if err != nil {
		panic(err) // a map of scalars always marshals
	}
	return b
}

func filled(tb testing.TB, rows int) *storagetest.Account {
	tb.Helper()
	acct := storagetest.Start(nil)
	store(tb, acct, rows)
	return acct
}

// store creates a table with that many rows.
func store(tb testing.TB, acct *storagetest.Account, rows int) {
	tb.Helper()
	client := acct.Tables().NewClient("bench")
	assert.NoError(tb, assert.ErrorOf(client.CreateTable(tb.Context(), nil)))
	var acts []aztables.TransactionAction
	for i := range rows {
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: employee(i)})
		if len(acts) == 100 || i == rows-1 {
			assert.NoError(tb, assert.ErrorOf(client.SubmitTransaction(tb.Context(), acts, nil)))
			acts = acts[:0]
		}
	}
	acct.ResetLog()
}

func run(b *testing.B, acct *storagetest.Account, req *http.Request) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		res := assert.Must(acct.Transport().Do(req))(b)
		if res.StatusCode >= 400 {
			b.Fatal(res.Status)
		}
		assert.NoError(b, assert.ErrorOf(io.Copy(io.Discard, res.Body)))
	}
}

// BenchmarkPointRead measures a point read without the cost of the SDK.
func BenchmarkPointRead(b *testing.B) {
	acct := filled(b, 100_000)
	req := signed(b, acct, func(c *aztables.Client) error {
		_, err := c.GetEntity(b.Context(), "Sales", "00050000", nil)
		return err
	})
	run(b, acct, req)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
}

// BenchmarkPage measures a query that returns a page of 1,000 rows.
func BenchmarkPage(b *testing.B) {
	acct := filled(b, 10_000)
	req := signed(b, acct, func(c *aztables.Client) error {
		_, err := c.NewListEntitiesPager(nil).NextPage(b.Context())
		return err
	})
	run(b, acct, req)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
