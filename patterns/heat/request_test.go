package heat

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/query"
)

func newRequest() *request { return &request{window: new([16 << 10]byte)} }

// endless is a body that can be rewound after it was closed.
type endless struct{ *strings.Reader }

func (endless) Close() error { return nil }

func readFilter(text string) *request {
	r := newRequest()
	u := &url.URL{Scheme: "https", Host: "account.table.core.windows.net", Path: "/Orders()", RawQuery: url.Values{"$filter": {text}}.Encode()}
	r.read(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}})
	return r
}

func TestTheClassOfAFilterIsThatOfExplain(t *testing.T) {
	for _, text := range []string{
		"PartitionKey eq 'a' and RowKey eq 'b'",
		"(PartitionKey eq 'a') and (RowKey eq 'b')",
		"RowKey ge 'b' and PartitionKey eq 'a'",
		"PartitionKey eq 'a' and RowKey ge 'b' and RowKey lt 'c' and Age gt 30",
		"PartitionKey eq 'a'",
		"PartitionKey eq 'a' and (RowKey eq 'b' or RowKey eq 'c')",
		"PartitionKey eq 'a' and not (Age eq 3)",
		"PartitionKey eq 'a' and not Age eq 3",
		"not PartitionKey eq 'a'",
		"not (PartitionKey eq 'a') and Age eq 3",
		"PartitionKey eq 'a' or PartitionKey eq 'b'",
		"PartitionKey ge 'a' and PartitionKey lt 'b'",
		"PartitionKey ge 'a'",
		"Age eq 3",
		"Text eq 'PartitionKey eq ''a''' and When lt datetime'2026-01-01T00:00:00Z'",
		"PartitionKey eq 'it''s (and) or'",
	} {
		f, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := readFilter(text).class, query.Explain(f).Plain; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	r := readFilter("PartitionKey eq 'it''s (and) or' and RowKey ge 'a+b %27' and RowKey lt 'z'")
	if got := string(r.in(r.partition)) + "|" + string(r.in(r.low)) + "|" + string(r.in(r.high)); got != "tOrders\x00it's (and) or|tOrders\x00it's (and) or\x00a+b %27|tOrders\x00it's (and) or\x00z" {
		t.Errorf("the keys are %q", got)
	}
}

func TestFiltersThatDifferInTheirConstantsHaveTheirOwnKeys(t *testing.T) {
	for _, c := range []struct{ filter, low, high string }{
		{"PartitionKey eq 'a' and RowKey eq 'a'", "a\x00a", "a\x00a"},
		{"PartitionKey eq 'b%' and RowKey eq 'c+''c'", "b%\x00c+'c", "b%\x00c+'c"},
		{"PartitionKey eq '' and RowKey eq ''", "\x00", "\x00"},
		{"When ge datetime'2026-01-01T00:00:00Z' and PartitionKey eq 'd'", "d", "d\x01"},
		{"When ge datetime'2026-02-01T00:00:00Z' and PartitionKey eq 'e'", "e", "e\x01"},
		{"PartitionKey eq 'p' and RowKey le 'z' and RowKey gt 'y'", "p\x00y", "p\x00z"},
		{"PartitionKey eq 'q' and RowKey le 'b' and RowKey gt 'a'", "q\x00a", "q\x00b"},
		{"PartitionKey eq 'r' and (RowKey eq 'a' or RowKey eq 'b')", "r\x00a", "r\x00b"},
		{"(A eq '1' or A eq '2' or A eq '3' or A eq '4' or A eq '5' or A eq '6' or A eq '7' or A eq '8') and PartitionKey eq 's'", "", ""},
	} {
		for range 2 { // parsed, and known
			r := readFilter(c.filter)
			low, high := string(r.in(r.low)), string(r.in(r.high))
			if c.low == "" && (low != "tOrders" || high != "tOrders\x01") || c.low != "" && (low != "tOrders\x00"+c.low || high != "tOrders\x00"+c.high) {
				t.Errorf("%s: from %q to %q", c.filter, low, high)
			}
		}
	}
}

func TestServicesAndEmulatorsAreDistinguished(t *testing.T) {
	for _, c := range []struct {
		method, url, accept string
		kind                kind
		resource            string
		partition           string
	}{
		{http.MethodGet, "https://a.table.core.windows.net/Orders(PartitionKey='x',RowKey='y')", "", kindRead, "tOrders", "tOrders\x00x"},
		{http.MethodDelete, "http://127.0.0.1:1/acct/Orders(PartitionKey='x',RowKey='y')", "application/json", kindWrite, "tOrders", "tOrders\x00x"},
		{http.MethodPost, "http://127.0.0.1:1/acct/Tables", "application/json", kindOther, "tTables", ""},
		{http.MethodGet, "https://a.queue.core.windows.net/jobs/messages?numofmessages=1", "application/xml", kindPoll, "qjobs", ""},
		{http.MethodDelete, "http://127.0.0.1:1/acct/jobs/messages/id?popreceipt=x", "application/xml", kindWrite, "qjobs", ""},
		{http.MethodPut, "https://a.queue.core.windows.net/jobs", "", kindOther, "qjobs", ""},
		{http.MethodGet, "https://a.blob.core.windows.net/photos/2026/01.jpg", "", kindRead, "bphotos", "bphotos\x002026/01.jpg"},
		{http.MethodPut, "http://127.0.0.1:1/acct/photos/2026/01.jpg?comp=block", "application/xml", kindWrite, "bphotos", "bphotos\x002026/01.jpg"},
		{http.MethodPut, "https://a.blob.core.windows.net/photos?restype=container", "application/xml", kindOther, "bphotos", ""},
	} {
		req, err := http.NewRequest(c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", c.accept)
		r := newRequest()
		r.read(req)
		if r.kind != c.kind || string(r.in(r.resource)) != c.resource || string(r.in(r.partition)) != c.partition {
			t.Errorf("%s: %d %q %q", c.url, r.kind, r.in(r.resource), r.in(r.partition))
		}
	}
}

func TestAPropertyWhoseNameEndsLikeAKeyIsNotTheKey(t *testing.T) {
	req, err := http.NewRequest(http.MethodPost, "https://a.table.core.windows.net/Orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Body = endless{strings.NewReader(`{"MyPartitionKey":"x","MyRowKey":"y","Z":"\"RowKey\":\"z\"","PartitionKey":"a","RowKey": "b\u0026"}`)}
	r := newRequest()
	r.read(req)
	if len(r.rows) != 1 || string(r.in(r.rows[0])) != "tOrders\x00a\x00b&" {
		t.Errorf("%q %q", r.in(r.partition), r.text)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("POST", "/$batch", "", "PUT https://a/T(PartitionKey='a',RowKey='b') HTTP/1.1\r\n\r\n{\"RowKey\":\"x\\u00e9\"}")
	f.Add("GET", "/T()", "%24filter=PartitionKey%20eq%20%27a", "")
	f.Add("POST", "/T", "", `{"PartitionKey":"a\\","RowKey": "b"}`)
	f.Fuzz(func(t *testing.T, method, path, rawQuery, body string) {
		m := NewMeter(nil)
		r := newRequest()
		req := &http.Request{Method: method, URL: &url.URL{Host: "a.table.b", Path: path, RawQuery: rawQuery}, Header: http.Header{}}
		reader := endless{strings.NewReader(body)}
		req.Body = reader
		r.read(req)
		if reader.Len() != len(body) {
			t.Error("the body was not rewound")
		}
		r.finish(0, 0, &http.Response{StatusCode: 200}, nil)
		m.record(r)
		m.Snapshot()
	})
}
