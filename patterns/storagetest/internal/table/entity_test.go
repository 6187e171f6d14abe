package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

func TestAnInsertIsCheckedByTheRulesOfTheService(t *testing.T) {
	keys := `"PartitionKey":"p","RowKey":"r"`
	long := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct {
		name, body string
		status     int
		code       string
	}{
		{"every type", keys + `,"S":"x","I":-2147483648,"L@odata.type":"Edm.Int64","L":"9223372036854775807","D":1.5,"E":1e3,"B":true,
			"T@odata.type":"Edm.DateTime","T":"9999-12-31T23:59:59.9999999Z","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833",
			"X@odata.type":"Edm.Binary","X":"AQID","N@odata.type":"Edm.Double","N":"NaN","W@odata.type":"Edm.Double","W":3`, 201, ""},
		{"annotation after the value", keys + `,"L":"5","L@odata.type":"Edm.Int64"`, 201, ""},
		{"Timestamp and odata members are ignored", keys + `,"Timestamp":"x","odata.etag":"y","odata.type":"z"`, 201, ""},
		{"key of 512 units", `"PartitionKey":"` + long(512) + `","RowKey":"` + strings.Repeat("😀", 256) + `"`, 201, ""},
		{"string of 32 Ki units", keys + `,"S":"` + strings.Repeat("é", 32768) + `"`, 201, ""},
		{"non-ASCII name", keys + `,"Größe":1`, 201, ""},

		{"number as key", `"PartitionKey":1,"RowKey":"r"`, 400, "InvalidInput"},
		{"binary of 64 KiB + 1", keys + `,"X@odata.type":"Edm.Binary","X":"` + strings.Repeat("AAAA", 21845) + `AAAA"`, 400, "PropertyValueTooLarge"},
		{"entity over 1 MiB", keys + func() string {
			var b strings.Builder
			for i := range 17 {
				fmt.Fprintf(&b, `,"P%d":"%s"`, i, long(32700))
			}
			return b.String()
		}(), 400, "EntityTooLarge"},
		{"name that begins with a digit", keys + `,"1a":1`, 400, "PropertyNameInvalid"},
		{"empty name", keys + `,"":1`, 400, "PropertyNameInvalid"},
		{"Int64 as a number", keys + `,"L@odata.type":"Edm.Int64","L":5`, 400, "InvalidInput"},
		{"Double that is no number", keys + `,"D@odata.type":"Edm.Double","D":"five"`, 400, "InvalidValueType"},
		{"Double out of range", keys + `,"D":1e999`, 400, "InvalidValueType"},
		{"DateTime with one digit of hour", keys + `,"T@odata.type":"Edm.DateTime","T":"2020-01-01T1:00:00Z"`, 400, "InvalidValueType"},
		{"DateTime of an invalid day", keys + `,"T@odata.type":"Edm.DateTime","T":"2023-02-29T00:00:00Z"`, 400, "InvalidValueType"},
		{"Guid in braces", keys + `,"G@odata.type":"Edm.Guid","G":"{c9da6455-213d-42c9-9a79-3e9149a57833}"`, 400, "InvalidValueType"},
		{"Guid with a letter beyond f", keys + `,"G@odata.type":"Edm.Guid","G":"g9da6455-213d-42c9-9a79-3e9149a57833"`, 400, "InvalidValueType"},
		{"base64 of the URL kind", keys + `,"X@odata.type":"Edm.Binary","X":"_w=="`, 400, "InvalidValueType"},
		{"base64 without padding", keys + `,"X@odata.type":"Edm.Binary","X":"AQ"`, 400, "InvalidValueType"},
		{"type that is no string", keys + `,"X@odata.type":1,"X":"1"`, 400, "InvalidInput"},
		{"typed text", keys + `,"B@odata.type":"Edm.Boolean","B":"true","I@odata.type":"Edm.Int32","I":"-5","D@odata.type":"Edm.Double","D":"3"`, 201, ""},
		{"text that is no Boolean", keys + `,"B@odata.type":"Edm.Boolean","B":"yes"`, 400, "InvalidValueType"},
		{"text that is no Int32", keys + `,"I@odata.type":"Edm.Int32","I":"2147483648"`, 400, "InvalidValueType"},
		{"text that is a hexadecimal Double", keys + `,"D@odata.type":"Edm.Double","D":"0x1p3"`, 400, "InvalidValueType"},
		{"number for a String", keys + `,"S@odata.type":"Edm.String","S":5`, 400, "InvalidInput"},
		{"array", keys + `,"O":[1]`, 400, "InvalidInput"},
		{"lone surrogate", keys + `,"S":"\ud800"`, 400, "InvalidInput"},
		{"invalid UTF-8", keys + ",\"S\":\"\xff\"", 400, "InvalidInput"},
		{"trailing comma", keys + `,`, 400, "InvalidInput"},
		{"leading zero", keys + `,"I":01`, 400, "InvalidInput"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAPI(t)
			a.want(tt.status, tt.code, a.do("POST", "/T12", "{"+tt.body+"}", "Content-Type: application/json"))
		})
	}
	for _, body := range []string{"", "[]", "null", "{", `{"PartitionKey":"p","RowKey":"r"}x`, "\x00"} {
		a := newAPI(t)
		a.want(400, "InvalidInput", a.do("POST", "/T12", body))
	}
}

func TestEveryTypeIsReturnedAsItWasStored(t *testing.T) {
	a := newAPI(t)
	members := `"S":"a\"\\\n\u0001é😀","I":7,"L@odata.type":"Edm.Int64","L":"-5","D":3.0,"N@odata.type":"Edm.Double","N":"-Infinity","B":false,` +
		`"T@odata.type":"Edm.DateTime","T":"2020-01-02T03:04:05.1Z","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","X@odata.type":"Edm.Binary","X":"AQID"`
	a.put("p", "r", members)
	for format, want := range map[string]string{
		"minimalmetadata": members,
		"nometadata":      `"S":"a\"\\\n\u0001é😀","I":7,"L":"-5","D":3.0,"N":"-Infinity","B":false,"T":"2020-01-02T03:04:05.1Z","G":"c9da6455-213d-42c9-9a79-3e9149a57833","X":"AQID"`,
		"fullmetadata":    members,
	} {
		got := a.want(200, "", a.do("GET", "/T12"+address2("p", "r"), "", "Accept: application/json;odata="+format))
		if !strings.HasSuffix(got.body, want+"}") {
			t.Errorf("%s: %s", format, got.body)
		}
		if full := strings.Contains(got.body, `"odata.id":"http://acct.table.example/T12(PartitionKey='p',RowKey='r')"`); full != (format == "fullmetadata") {
			t.Errorf("%s: odata.id is %v", format, full)
		}
		if tagged := strings.Contains(got.body, `"odata.etag"`); tagged == (format == "nometadata") {
			t.Errorf("%s: etag is %v", format, tagged)
		}
		if !json.Valid([]byte(got.body)) {
			t.Errorf("%s: not JSON", format)
		}
	}
}

func FuzzEntity(f *testing.F) {
	f.Add([]byte(`{"PartitionKey":"p","RowKey":"r","S":"x","I":1,"D":1.5,"B":true,"L@odata.type":"Edm.Int64","L":"5"}`))
	f.Add([]byte(`{"PartitionKey":"p","RowKey":"r","T@odata.type":"Edm.DateTime","T":"2020-01-02T03:04:05.1Z"}`))
	f.Add([]byte(`{"PartitionKey":"p","RowKey":"r","N@odata.type":"Edm.Double","N":"NaN","X@odata.type":"Edm.Binary","X":"AQID"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseEntity(insertOf(b))
		if err != nil || !e.hasPartition || !e.hasRow {
			return
		}
		// An accepted entity is returned in a form that is accepted and has the same values.
		r := new(table).newRow(e.partition, e.row, 0, e.props)
		own := r.append(nil, &form{})
		again, err := parseEntity(insertOf(own))
		if err != nil {
			t.Fatalf("own output %s refused: %v", own, err)
		}
		if again.partition != e.partition || again.row != e.row || len(again.props) != len(e.props) {
			t.Fatalf("%q was returned as %q", b, own)
		}
		for i, p := range e.props {
			q := again.props[i]
			if p.name != q.name || !alike(p.value, q.value) {
				t.Fatalf("property %d of %q was returned as %v", i, b, q)
			}
		}
	})
}

// insertOf returns an insert request with body b.
func insertOf(b []byte) *request.Request {
	r := httptest.NewRequest(http.MethodPost, "http://acct.table.example/T12", bytes.NewReader(b))
	parsed, _ := new(request.Parser).Parse(r)
	return parsed
}

func alike(a, b filter.Value) bool {
	return a == b || a.Type == b.Type && math.IsNaN(a.Float) && math.IsNaN(b.Float)
}
