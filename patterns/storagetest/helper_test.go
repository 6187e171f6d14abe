package storagetest_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// table creates a table and returns its client.
func table(t *testing.T, acct *storagetest.Account, name string) *aztables.Client {
	t.Helper()
	client := acct.Tables().NewClient(name)
	assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
	acct.ResetLog()
	return client
}

func entity(t *testing.T, pk, rk string) []byte {
	t.Helper()
	b := assert.Must(json.Marshal(map[string]any{"PartitionKey": pk, "RowKey": rk, "N": 1}))(t)
	return b
}

func put(t *testing.T, c *aztables.Client, pk string, rks ...string) {
	t.Helper()
	for _, rk := range rks {
		assert.NoError(t, assert.ErrorOf(c.UpsertEntity(t.Context(), entity(t, pk, rk), nil)))
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
		page := assert.Must(pager.NextPage(t.Context()))(t)
		pages++
		for _, b := range page.Entities {
			var e struct{ RowKey string }
			assert.NoError(t, json.Unmarshal(b, &e))
			keys = append(keys, e.RowKey)
		}
	}
	return keys, pages
}

// documented makes the accounts of a test those of the documentation, without what Options.Production adds. For tests of figures
// that Production replaces.
func documented(t *testing.T) {
	t.Helper()
	t.Setenv(storagetest.ProductionVariable, "")
}
