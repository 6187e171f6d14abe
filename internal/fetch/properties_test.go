package fetch

import (
	"fmt"
	"testing"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

func TestPropertiesIncludeThoseOfTheLibrary(t *testing.T) {
	r := newReading(t, 1, 3)
	i := 0
	for e, err := range Properties(t.Context(), r.client, query.Prop("azp_note").Gt(""), &types.QueryOptions{Allow: query.TableScan}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Key.Row != fmt.Sprintf("r%02d", i) || e.ETag == "" || e.Timestamp.IsZero() ||
			len(e.Properties) != 2 || e.Properties["N"] != int32(i) || e.Text("azp_note") != "of "+e.Key.Row {
			t.Errorf("%+v", e)
		}
		i++
	}
	if i != 3 {
		t.Errorf("%d rows", i)
	}
	r.wantRequests(t, 1)
}

// TestAnEntryIsEncodedAsItWasRead keeps spellings that the library would not write.
func TestAnEntryIsEncodedAsItWasRead(t *testing.T) {
	const members = `"PartitionKey":"p","RowKey":"r","At@odata.type":"Edm.DateTime","At":"2026-03-01T00:00:43.440Z","N@odata.type":"Edm.Double","N":1.50`
	row := `{"odata.metadata":"x",` + members + `}`
	d := entryDecoder{edm.PropertiesCodec()}
	one, err := d.Entity("W/1", []byte(row))
	page, err2 := d.Page([]byte(`{"odata.metadata":"x","value":[{"odata.etag":"W/\"1\"",`+members+`}]}`), 0, nil, nil)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, rows := range []Rows{one, page} {
		text, err := (*rows.(*entries))[0].Encode()
		if want := `{` + members + `}`; err != nil || string(text) != want {
			t.Errorf("%s %v\nwant %s", text, err, want)
		}
	}
}

func TestPropertiesOfPoints(t *testing.T) {
	r := newReading(t, 1, 3)
	n := 0
	f := query.And(query.PartitionKey.Eq("p0"), query.RowKey.In("r00", "r02"))
	for e, err := range Properties(t.Context(), r.client, f, nil) {
		if err != nil || e.Text("azp_note") != "of "+e.Key.Row || e.Text("N") != "" {
			t.Errorf("%+v, %v", e, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d rows", n)
	}
}

func TestPropertiesEndWithTheErrorOfThePlan(t *testing.T) {
	r := newReading(t, 0, 0)
	n := 0
	for _, err := range Properties(t.Context(), r.client, query.Filter{}, nil) {
		n++
		if err == nil {
			t.Error("a table scan was permitted")
		}
	}
	if n != 1 {
		t.Errorf("%d pairs", n)
	}
}
