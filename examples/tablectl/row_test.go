package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

var anyRow query.Filter

func TestRowsOfEveryTypeAreEqualAfterExportAndImport(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := drawRows(rt)
		acct := storagetest.Start(nil)
		newTable(t, acct, "Source", rows)
		path := filepath.Join(t.TempDir(), "rows.jsonl")
		must(t, exitDone, acct, "export", "-demo", "Source", path)
		if got, want := fileText(t, path), textOf(rows); got != want {
			rt.Fatalf("exported\n%s\nwant\n%s", got, want)
		}
		must(t, exitDone, acct, "import", "-demo", "-create", path, "Target")
		if got, want := tableText(t, acct, "Target"), textOf(rows); got != want {
			rt.Fatalf("imported\n%s\nwant\n%s", got, want)
		}
		must(t, exitDone, acct, "diff", "-demo", "Source", "Target")
		must(t, exitDone, acct, "diff", "-demo", "Target", path)
	})
}

func TestLinesOfTheServiceAreRead(t *testing.T) {
	for line, want := range map[string]string{
		`{"odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","Timestamp":"2020-01-01T00:00:00Z","A":1,"azp_stamp":"s"}`: `"A":1`,
		`{"RowKey":"r","A":"5","A@odata.type":"Edm.Int64","PartitionKey":"p"}`:                                                                                    `"A@odata.type":"Edm.Int64","A":"5"`,
		`{"RowKey":"r","A":5,"A@odata.type":"Edm.Double","PartitionKey":"p"}`:                                                                                     `"A":5.0`,
		`{"RowKey":"r","A":"3","A@odata.type":"Edm.Double","PartitionKey":"p"}`:                                                                                   `"A":3.0`,
		`{"RowKey":"r","A":7,"A@odata.type":"Edm.Int64","PartitionKey":"p"}`:                                                                                      `"A@odata.type":"Edm.Int64","A":"7"`,
		`{"RowKey":"r","A":1E2,"B":null,"PartitionKey":"p"}`:                                                                                                      `"A":100.0`,
		`{"RowKey":"r","A":"\ud83d\ude00\\ud800","A@odata.type":"Edm.String","PartitionKey":"p"}`:                                                                 `"A":"😀\\ud800"`,
		`{"RowKey":"r","A":"2020-01-01T02:00:00+02:00","A@odata.type":"Edm.DateTime","PartitionKey":"p"}`:                                                         `"A@odata.type":"Edm.DateTime","A":"2020-01-01T00:00:00Z"`,
	} {
		r, err := parseRow([]byte(line))
		if got := string(appendRow(nil, &r)); err != nil || got != `{"PartitionKey":"p","RowKey":"r",`+want+`}` {
			t.Errorf("%s: %s, %v", line, got, err)
		}
	}
}

func TestLinesThatAreNoRowsAreRefusedWithoutTheirValues(t *testing.T) {
	for line, want := range map[string]string{
		`{"RowKey":"SECRET"}`:                      "PartitionKey or RowKey is missing or not a text",
		`{"PartitionKey":1,"RowKey":"SECRET"}`:     "PartitionKey or RowKey is missing or not a text",
		`{"PartitionKey":"p","RowKey":"SECRET"`:    "not one JSON object",
		`{"PartitionKey":"p","RowKey":"SECRET"}{}`: "not one JSON object",
		`["SECRET"]`: "not one JSON object",
		`{"PartitionKey":"p","RowKey":"r","A":{"x":"SECRET"}}`:                                                "property A: nested JSON",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A":"SECRET"}`:                                         "property A: twice",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A@odata.type":"Edm.Int64"}`:                           "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A@odata.type":"Edm.Money"}`:                           "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A@odata.type":1}`:                                     "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":3000000000}`:                                                    "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":1e999}`:                                                         "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":true,"A@odata.type":"Edm.Int32"}`:                               "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"true","A@odata.type":"Edm.Boolean"}`:                           "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"AA=","A@odata.type":"Edm.Binary"}`:                             "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"c9da645521","A@odata.type":"Edm.Guid"}`:                        "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"` + strings.Repeat("c9", 18) + `","A@odata.type":"Edm.Guid"}`:  "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"2020-01-01T00:00:00.12345678Z","A@odata.type":"Edm.DateTime"}`: "property A: not a value of its type",
		`{"PartitionKey":"p","RowKey":"r","A":"\ud800 SECRET"}`:                                               "not valid Unicode",
		"{\"PartitionKey\":\"p\",\"RowKey\":\"\xff\"}":                                                        "not valid Unicode",
	} {
		if _, err := parseRow([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestAFileLargerThanMemoryForSortingIsCompared(t *testing.T) {
	rows := sampleRows(5000)
	for i := range rows {
		rows[i].properties["Text"] = strings.Repeat("x", 10_000)
	}
	path := writeFile(t, "rows.jsonl", "")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows { // in an order that is not that of the keys
		if _, err := f.Write(append(appendRow(nil, &rows[(i*7919)%len(rows)]), '\n')); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 3*partSize {
		t.Fatalf("the file has fewer than three parts: %v", err)
	}
	n := 0
	last := row{}
	for r, err := range sortedFile(path) {
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 && compareKeys(last.key, r.key) >= 0 {
			t.Fatalf("row %d is not after its predecessor", n)
		}
		last, n = r, n+1
	}
	if n != len(rows) {
		t.Errorf("%d rows, want %d", n, len(rows))
	}
}
