// Package programs runs dapr's conformance suite of state stores on Azure tables.
package programs

import (
	"os"
	"testing"

	"github.com/dapr/components-contrib/state/azure/tablestorage"
	"github.com/dapr/components-contrib/tests/conformance/state"
	"github.com/dapr/kit/logger"
)

func TestConformance(t *testing.T) {
	// Operations and ETag are those of the entry azure.tablestorage.storage of dapr's tests.yml.
	config, err := state.NewTestConfig("azure.tablestorage.storage", []string{"etag", "first-write"},
		map[string]any{"badEtag": "W/\"datetime'2023-05-09T12%3A28%3A54.1442151Z'\""})
	if err != nil {
		t.Fatal(err)
	}
	state.ConformanceTests(t, map[string]string{
		"accountName": os.Getenv("ACCOUNT_NAME"),
		"accountKey":  os.Getenv("ACCOUNT_KEY"),
		"serviceURL":  os.Getenv("TABLES_URL"),
		"tableName":   "TestTable",
	}, tablestorage.NewAzureTablesStateStore(logger.NewLogger("conformance")), config)
}
