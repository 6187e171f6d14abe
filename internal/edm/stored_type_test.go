package edm

import (
	"encoding/json"
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"strings"
	"testing"
	"time"
)

// kinds has one field for each type that can be read from several property types.
type kinds struct {
	I   int64
	I32 int32
	U   uint64
	F   float64
	T   time.Time
	B   []byte
	G   [16]byte
	Q   bool `json:",string"`
}

const keptRow = `"I":7,"I32@odata.type":"Edm.Int64","I32":"8","U":9,"F":2,"T":"2024-02-29T12:00:00.123456789Z","B":"eA==","G":"0f8fad5b-d9cb-469f-a165-70867728950e","Q":true`

func TestAPropertyIsWrittenWithTheTypeThatItWasReadWith(t *testing.T) {
	row := `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r",` + keptRow + `}`
	v, _, unknown, err := decode[kinds](t, row)
	if err != nil || unknown.IsZero() {
		t.Fatalf("%+v %v", unknown, err)
	}
	write := func(u *Unknown) string {
		t.Helper()
		body := assert.Must(appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: u}))(t)
		return strings.TrimSuffix(strings.TrimPrefix(body, `{"PartitionKey":"p","RowKey":"r",`), "}")
	}
	merged, changed := unknown.OnlyFields(), unknown.WithTexts(Text{"X", "y"})
	assert.Equal(t, write(&unknown), keptRow)
	assert.Equal(t, write(&merged), keptRow, "a merge")
	assert.Equal(t, write(&changed), keptRow+`,"X":"y"`, "with a text property")
	if got := write(nil); strings.Contains(got, `"I":7`) {
		t.Errorf("without what was read: %s", got)
	}
	v.F = 2.5
	assert.Contains(t, write(&unknown), `"F":2.5`, "a float that is not whole")
	v.I = 1 << 31
	if _, err := appendRow(t, &v, Envelope{Unknown: &unknown}); err == nil || !strings.Contains(err.Error(), "property I: want Edm.Int32") {
		t.Errorf("an integer out of range: %v", err)
	}
	// A type of a later version of the program does not have to have the same fields.
	later := struct {
		I, U, T string
		F       int64 `table:",int64"`
	}{"a", "b", "c", 1 << 40}
	body, err := appendRow(t, &later, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown})
	if want := `{"PartitionKey":"p","RowKey":"r","I":"a","U":"b","T":"c","F@odata.type":"Edm.Int64","F":"1099511627776"}`; err != nil || body != want {
		t.Errorf("%s %v", body, err)
	}
}

// Without metadata, a string may be of any type.
func TestAReplyWithoutMetadataHasNoStoredTypes(t *testing.T) {
	_, _, unknown, err := decode[kinds](t, `{"PartitionKey":"p","RowKey":"r","I":"7","T":"2024-02-29T12:00:00Z","B":"eA=="}`)
	if err != nil || !unknown.IsZero() {
		t.Errorf("%+v %v", unknown, err)
	}
}

// The rows of a table that another program wrote mostly have the same types.
func TestRowsWithTheSameStoredTypesShareThem(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"odata.metadata":"x","value":[`)
	for i := range 1000 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"%04d","I":7,"T":"2024-02-29T12:00:00Z"}`, i)
	}
	body.WriteString("]}")
	page := []byte(body.String())
	if !json.Valid(page) {
		t.Fatal("not JSON")
	}
	type row struct {
		I int
		T time.Time
	}
	c := codecOf[row](t)
	var v row
	var m Meta
	var u Unknown
	allocations := testing.AllocsPerRun(10, func() {
		assert.NoError(t, c.DecodePage(page, func() (any, *Meta, *Unknown) { return &v, &m, &u }))
	})
	if u.notes == nil || len(u.notes.types) != 2 || allocations > 1010 { // the text of each row is one allocation
		t.Errorf("%d types, %v allocations for 1,000 rows", len(u.notes.types), allocations)
	}
}
