package table

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// grid stores n partitions p0, p1 … of n rows r0, r1 … each.
func grid(t *testing.T, n int) *api {
	a := newAPI(t)
	for p := range n {
		for r := range n {
			a.put(fmt.Sprintf("p%d", p), fmt.Sprintf("r%d", r), fmt.Sprintf(`"N":%d`, n*p+r))
		}
	}
	return a
}

// all reads all pages of a query.
func (a *api) all(query string) (keys []string, pages int) {
	a.t.Helper()
	next := ""
	for {
		page, token := a.rows(a.do("GET", "/T12()?x=1"+query+next, ""))
		keys = append(keys, page...)
		if pages++; token == "" {
			return keys, pages
		}
		next = token
	}
}

func TestRowsAreOrderedByUTF16Units(t *testing.T) {
	a := newAPI(t)
	want := []string{"", "1", "111", "2", "A", "a", "a ", "aa", "é", "😀", "\uFFFD"}
	for _, k := range slices.Backward(want) {
		a.want(201, "", a.do("POST", "/T12", fmt.Sprintf(`{"PartitionKey":"p","RowKey":%q}`, k)))
	}
	if got, _ := a.all(""); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAQueryScansOnlyTheRangeOfItsKeys(t *testing.T) {
	a := grid(t, 10)
	tests := []struct {
		filter            string
		returned, scanned int
	}{
		{"", 100, 100},
		{"PartitionKey eq 'p3' and RowKey eq 'r4'", 1, 1},
		{"PartitionKey eq 'p3' and RowKey ge 'r4' and RowKey lt 'r6'", 2, 2},
		{"PartitionKey eq 'p3' and RowKey gt 'r4' and RowKey le 'r6' and N ge 36", 1, 2},
		{"PartitionKey eq 'p3'", 10, 10},
		{"PartitionKey eq 'p3' and (RowKey eq 'r1' or RowKey eq 'r2')", 2, 10},
		{"(PartitionKey eq 'p3' and RowKey eq 'r1') or (PartitionKey eq 'p4' and RowKey eq 'r1')", 2, 100},
		{"PartitionKey ge 'p3' and PartitionKey lt 'p5'", 20, 20},
		{"PartitionKey gt 'p3' and PartitionKey le 'p5' and RowKey eq 'r1'", 2, 20},
		{"RowKey eq 'r1'", 10, 100},
		{"not (PartitionKey eq 'p3')", 90, 100},
		{"PartitionKey eq 'p3' and PartitionKey eq 'p4'", 0, 0},
		{"'p3' eq PartitionKey and 'r4' le RowKey", 6, 6},
		{"N gt 97", 2, 100},
		{"N gt 97L", 0, 100},
	}
	for _, tt := range tests {
		r := request2("/T12()?$filter=" + tt.filter)
		w := recorder()
		side := serve(a.s, w, r).Result
		if w.Code != 200 || side.Returned != tt.returned || side.Scanned != tt.scanned {
			t.Errorf("%s: %d, returned %d scanned %d, want %d %d", tt.filter, w.Code, side.Returned, side.Scanned, tt.returned, tt.scanned)
		}
	}
}

func TestQueryOptionsAreLimited(t *testing.T) {
	a := newAPI(t)
	comparisons := func(n int) string {
		return strings.TrimSuffix(strings.Repeat("N eq 1 or ", n), " or ")
	}
	for option, want := range map[string]struct {
		status int
		code   string
	}{
		"$top=1":                                 {200, ""},
		"$top=1000":                              {200, ""},
		"$top=0":                                 {400, "InvalidInput"},
		"$top=1001":                              {400, "InvalidInput"},
		"$top=x":                                 {400, "InvalidInput"},
		"$filter=" + comparisons(15):             {200, ""},
		"$filter=" + comparisons(16):             {200, ""},
		"$filter=N eq":                           {400, "InvalidInput"},
		"$filter=N eq null":                      {400, "InvalidInput"},
		"$filter=A eq B":                         {400, "InvalidInput"},
		"$filter=startswith(RowKey,'a')":         {501, "NotImplemented"},
		"$filter=length(RowKey) gt 5":            {501, "NotImplemented"},
		"$filter=not (N eq 1)":                   {200, ""},
		"$filter=A eq 'startswith('":             {200, ""},
		"$orderby=N":                             {501, "NotImplemented"},
		"$skip=1":                                {501, "NotImplemented"},
		"$inlinecount=allpages":                  {501, "NotImplemented"},
		"$select=a,b, c":                         {200, ""},
		"$select=a-b":                            {400, "InvalidInput"},
		"$select=" + names(255):                  {200, ""},
		"$select=" + names(256):                  {400, "InvalidInput"},
		"NextPartitionKey=abc":                   {400, "InvalidInput"},
		"NextPartitionKey=1!9!YQ==":              {400, "InvalidInput"},
		"NextPartitionKey=1!4!YQ==":              {200, ""},
		"NextRowKey=1!4!YQ==":                    {400, "InvalidInput"},
		"NextPartitionKey=1!4!YQ==&NextRowKey=x": {400, "InvalidInput"},
	} {
		if p := a.do("GET", "/T12()?"+option, ""); p.StatusCode != want.status || p.code != want.code {
			t.Errorf("%.60s: %d %s, want %d %s", option, p.StatusCode, p.code, want.status, want.code)
		}
	}
}

func names(n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("n%d", i)
	}
	return strings.Join(s, ",")
}

func TestSelectReturnsNullForMissingProperties(t *testing.T) {
	a := newAPI(t)
	a.put("p", "r", `"A":1,"L@odata.type":"Edm.Int64","L":"5"`)
	got := a.do("GET", "/T12()?$select=RowKey,L,Missing", "", "Accept: application/json;odata=nometadata")
	assert.Equal(t, got.body, `{"value":[{"RowKey":"r","L":"5","Missing":null}]}`)
	got = a.do("GET", "/T12"+address2("p", "r")+"?$select=L,Missing,Timestamp", "")
	if !strings.Contains(got.body, `"L@odata.type":"Edm.Int64","L":"5","Missing":null,"Timestamp":"2`) || !json.Valid([]byte(got.body)) {
		t.Errorf("%s", got.body)
	}
}

func TestAPageHas1000RowsAndATokenIfMoreRowsFollow(t *testing.T) {
	a := newAPI(t)
	for i := range 2000 {
		a.put("p", fmt.Sprintf("%04d", i), `"N":1`)
	}
	first, next := a.rows(a.do("GET", "/T12()", ""))
	second, end := a.rows(a.do("GET", "/T12()?x=1"+next, ""))
	if len(first) != 1000 || len(second) != 1000 || second[0] != "1000" || next == "" || end != "" {
		t.Errorf("%d rows, %d from %s, tokens %q %q", len(first), len(second), second[0], next, end)
	}
	if !strings.HasPrefix(next, "&NextPartitionKey=1!") {
		t.Errorf("token %q", next)
	}
	// A full page has a token even if no further row matches.
	last, next := a.rows(a.do("GET", "/T12()?$top=1&$filter=RowKey eq '0500' or RowKey eq '0000'", ""))
	if len(last) != 1 || next == "" {
		t.Errorf("%v %q", last, next)
	}
}

func TestShortPagesReturnTheSameRows(t *testing.T) {
	a := grid(t, 7)
	const query = "&$filter=N ge 20 and N lt 40"
	want, _ := a.all(query)
	assert.Equal(assert.Now(t), len(want), 20, "rows")
	for _, shape := range []request.Page{{Rows: 1}, {Rows: 3}, {Scan: 1}, {Scan: 4}, {Boundary: true}, {Rows: 2, Scan: 5, Boundary: true}} {
		a.s.page = shape
		got, pages := a.all(query)
		assert.EqualSlices(t, got, want, shape)
		if pages < 5 {
			t.Errorf("%+v made %d pages", shape, pages)
		}
	}
	a.s.page = request.Page{Scan: 10}
	page, next := a.rows(a.do("GET", "/T12()?x=1"+query, ""))
	if len(page) != 0 || next == "" {
		t.Errorf("the first page after 10 rows: %v %q, want none and a token", page, next)
	}
}

func TestATokenIsAPositionEvenIfRowsChange(t *testing.T) {
	a := grid(t, 3)
	_, next := a.rows(a.do("GET", "/T12()?$top=4", ""))
	a.want(204, "", a.do("DELETE", "/T12"+address2("p1", "r1"), "", "If-Match: *"))
	a.put("p1", "r11", "")
	a.put("p0", "r9", "")
	got, _ := a.rows(a.do("GET", "/T12()?$top=2"+next, ""))
	assert.EqualSlices(t, got, []string{"r11", "r2"})
}
