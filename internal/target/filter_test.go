package target

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/query"
)

func readFilter(text string) *Request {
	r := NewRequest()
	u := &url.URL{Scheme: "https", Host: "account.table.core.windows.net", Path: "/Orders()", RawQuery: url.Values{"$filter": {text}}.Encode()}
	r.Read(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}})
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
		f := assert.Must(query.Parse(text))(t)
		assert.Equal(t, readFilter(text).Class, query.Explain(f).Plain, text)
	}
	r := readFilter("PartitionKey eq 'it''s (and) or' and RowKey ge 'a+b %27' and RowKey lt 'z'")
	if got := string(r.In(r.Partition)) + "|" + string(r.In(r.Low)) + "|" + string(r.In(r.High)); got != "tOrders\x00it's (and) or|tOrders\x00it's (and) or\x00a+b %27|tOrders\x00it's (and) or\x00z" {
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
			low, high := string(r.In(r.Low)), string(r.In(r.High))
			if c.low == "" && (low != "tOrders" || high != "tOrders\x01") || c.low != "" && (low != "tOrders\x00"+c.low || high != "tOrders\x00"+c.high) {
				t.Errorf("%s: from %q to %q", c.filter, low, high)
			}
		}
	}
}
