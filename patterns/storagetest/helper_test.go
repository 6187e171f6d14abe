package storagetest_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// table creates a table and returns its client.
func table(t *testing.T, acct *storagetest.Account, name string) *aztables.Client {
	t.Helper()
	client := acct.Tables().NewClient(name)
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	acct.ResetLog()
	return client
}

func entity(t *testing.T, pk, rk string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"PartitionKey": pk, "RowKey": rk, "N": 1})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, c *aztables.Client, pk string, rks ...string) {
	t.Helper()
	for _, rk := range rks {
		if _, err := c.UpsertEntity(t.Context(), entity(t, pk, rk), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// wantCode fails the test unless err is an error of the service with this status and code.
func wantCode(t *testing.T, err error, status int, code string) {
	t.Helper()
	var re *azcore.ResponseError
	if !errors.As(err, &re) || re.StatusCode != status || re.ErrorCode != code {
		t.Helper()
		t.Fatalf("got %v, want %d %s", err, status, code)
	}
}

// rowKeys reads all pages of a query.
func rowKeys(t *testing.T, c *aztables.Client, opts *aztables.ListEntitiesOptions) (keys []string, pages int) {
	t.Helper()
	pager := c.NewListEntitiesPager(opts)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, b := range page.Entities {
			var e struct{ RowKey string }
			if err := json.Unmarshal(b, &e); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, e.RowKey)
		}
	}
	return keys, pages
}
