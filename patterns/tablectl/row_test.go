package tablectl

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
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
		assert.Equal(assert.Now(rt), fileText(t, path), textOf(rows), "exported")
		must(t, exitDone, acct, "import", "-demo", "-create", path, "Target")
		assert.Equal(assert.Now(rt), tableText(t, acct, "Target"), textOf(rows), "imported")
		must(t, exitDone, acct, "diff", "-demo", "Source", "Target")
		must(t, exitDone, acct, "diff", "-demo", "Target", path)
	})
}

// onlyRow returns the row of a line.
func onlyRow(line string) (r row, err error) {
	for r, err = range newLines(io.NopCloser(strings.NewReader(line))).rows() {
	}
	return r, err
}

func TestLinesOfTheServiceAreRead(t *testing.T) {
	for line, want := range map[string]string{
		`{"odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","Timestamp":"2020-01-01T00:00:00Z","A":1,"azp_stamp":"s"}`: `"A":1`,
		`{"RowKey":"r","A":"5","A@odata.type":"Edm.Int64","PartitionKey":"p"}`:                                                                                    `"A@odata.type":"Edm.Int64","A":"5"`,
		`{"RowKey":"r","A":5,"A@odata.type":"Edm.Double","PartitionKey":"p"}`:                                                                                     `"A@odata.type":"Edm.Double","A":5`,
		`{"RowKey":"r","A":"3","A@odata.type":"Edm.Double","PartitionKey":"p"}`:                                                                                   `"A@odata.type":"Edm.Double","A":3`,
		`{"RowKey":"r","A":7,"A@odata.type":"Edm.Int64","PartitionKey":"p"}`:                                                                                      `"A@odata.type":"Edm.Int64","A":"7"`,
		`{"RowKey":"r","A":1E2,"B":null,"PartitionKey":"p"}`:                                                                                                      `"A@odata.type":"Edm.Double","A":1E2`,
		`{"RowKey":"r","A":"\ud83d\ude00\\ud800","A@odata.type":"Edm.String","PartitionKey":"p"}`:                                                                 `"A":"😀\\ud800"`,
		`{"RowKey":"r","A":"2020-01-01T02:00:00+02:00","A@odata.type":"Edm.DateTime","PartitionKey":"p"}`:                                                         `"A@odata.type":"Edm.DateTime","A":"2020-01-01T00:00:00Z"`,
	} {
		r, err := onlyRow(line)
		if err = errors.Join(r.refused, err); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		assert.Equal(t, string(lineOf(r)), `{"PartitionKey":"p","RowKey":"r",`+want+`}`, line)
	}
}

func TestLinesThatAreNoRowsAreRefusedWithoutTheirValues(t *testing.T) {
	for line, want := range map[string]string{
		`{"RowKey":"SECRET"}`:                      "malformed body at byte 0: PartitionKey is missing or not a string",
		`{"PartitionKey":1,"RowKey":"SECRET"}`:     "malformed body at byte 0: PartitionKey is missing or not a string",
		`{"PartitionKey":"p","RowKey":"SECRET"`:    "malformed body at byte 37: cut short",
		`{"PartitionKey":"p","RowKey":"SECRET"}{}`: "malformed body at byte 38: text after the end",
		`["SECRET"]`: "malformed body at byte 0: unexpected character",
		`{"PartitionKey":"p","RowKey":"r","A":{"x":"SECRET"}}`:                                                "property A: want a property type, got an object or array",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A":"SECRET"}`:                                         "malformed body at byte 50: a duplicate member",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A@odata.type":"Edm.Int64"}`:                           "property A: want Edm.Int64, got an invalid value",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A@odata.type":"Edm.Money"}`:                           "property A: want a property type, got an unknown type",
		`{"PartitionKey":"p","RowKey":"r","A":"SECRET","A@odata.type":1}`:                                     "malformed body at byte 61: an annotation that is not a string",
		`{"PartitionKey":"p","RowKey":"r","A":3000000000}`:                                                    "property A: want a value that its type represents exactly, got another one",
		`{"PartitionKey":"p","RowKey":"r","A":1e999}`:                                                         "property A: want Edm.Double, got an invalid value",
		`{"PartitionKey":"p","RowKey":"r","A":true,"A@odata.type":"Edm.Int32"}`:                               "property A: want Edm.Int32, got Edm.Int32 with another kind of JSON value",
		`{"PartitionKey":"p","RowKey":"r","A":"true","A@odata.type":"Edm.Boolean"}`:                           "property A: want Edm.Boolean, got Edm.Boolean with another kind of JSON value",
		`{"PartitionKey":"p","RowKey":"r","A":"AA=","A@odata.type":"Edm.Binary"}`:                             "property A: want Edm.Binary, got an invalid value",
		`{"PartitionKey":"p","RowKey":"r","A":"c9da645521","A@odata.type":"Edm.Guid"}`:                        "property A: want Edm.Guid, got an invalid value",
		`{"PartitionKey":"p","RowKey":"r","A":"` + strings.Repeat("c9", 18) + `","A@odata.type":"Edm.Guid"}`:  "property A: want Edm.Guid, got an invalid value",
		`{"PartitionKey":"p","RowKey":"r","A":"2020-01-01T00:00:00.12345678Z","A@odata.type":"Edm.DateTime"}`: "property A: want a value that its type represents exactly, got another one",
		`{"PartitionKey":"p","RowKey":"r","A":"\ud800 SECRET"}`:                                               "malformed body at byte 0: invalid Unicode",
		`{"odata.etag":"SECRET","PartitionKey":"p","RowKey":"r"}`:                                             "reply of the service cannot be read: an ETag that names no version",
		`{"Timestamp":"SECRET","PartitionKey":"p","RowKey":"r"}`:                                              "property Timestamp: want Edm.DateTime, got Edm.String",
		"{\"PartitionKey\":\"p\",\"RowKey\":\"\xff\"}":                                                        "malformed body at byte 30: not UTF-8",
	} {
		if r, err := onlyRow(line); err != nil || r.refused == nil || r.refused.Error() != "decode JSON: "+want {
			t.Errorf("%s: %v, want %s", line, r.refused, want)
		}
	}
}

func TestAFileLargerThanMemoryForSortingIsCompared(t *testing.T) {
	rows := sampleRows(5000)
	for i := range rows {
		rows[i].Value.Properties["Text"] = strings.Repeat("x", 10_000)
	}
	path := writeFile(t, "rows.jsonl", "")
	f := assert.Must(os.Create(path))(t)
	for i := range rows { // in an order that is not that of the keys
		assert.NoError(t, assert.ErrorOf(f.Write(append(lineOf(rows[(i*7919)%len(rows)]), '\n'))))
	}
	assert.NoError(t, f.Close())
	if info, err := os.Stat(path); err != nil || info.Size() < 3*partSize {
		t.Fatalf("the file has fewer than three parts: %v", err)
	}
	n := 0
	last := row{}
	for r, err := range sortedFile(path) {
		assert.NoError(t, err)
		if n > 0 && last.Key.Compare(r.Key) >= 0 {
			t.Fatalf("row %d is not after its predecessor", n)
		}
		last, n = r, n+1
	}
	assert.Equal(t, n, len(rows), "rows")
}
