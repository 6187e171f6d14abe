package table

import (
	"encoding/json"
	"github.com/azpatterns/azpatterns/internal/assert"
	"strings"
	"testing"
	"time"
)

func TestAMergeIsCheckedByTheLimitsOfTheWholeEntity(t *testing.T) {
	a := newAPI(t)
	props := func(prefix string, n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + prefix + strings.Repeat("x", i) + `":1`)
		}
		return b.String()
	}
	a.put("p", "r", props("a", 200))
	at := "/T12" + address2("p", "r")
	a.want(400, "TooManyProperties", a.do("PATCH", at, "{"+props("b", 53)+"}"))
	a.want(204, "", a.do("PATCH", at, "{"+props("b", 52)+"}"))
}

func TestAnInsertReturnsTheEntityUnlessTheRequestPrefersNot(t *testing.T) {
	a := newAPI(t)
	body := `{"PartitionKey":"o'n","RowKey":"a b","A":1}`
	p := a.want(201, "", a.do("POST", "/T12", body))
	assert.Contains(t, p.body, `"A":1}`)
	assert.Equal(t, p.Header.Get("Preference-Applied"), "")
	assert.Equal(t, p.Header.Get("Location"), "http://acct.table.example/T12(PartitionKey='o''n',RowKey='a%20b')", "Location")
	a.want(409, "EntityAlreadyExists", a.do("POST", "/T12", body))
	p = a.want(204, "", a.do("POST", "/T12", `{"PartitionKey":"p","RowKey":"r"}`, "Prefer: return-no-content"))
	if p.body != "" || p.Header.Get("Preference-Applied") != "return-no-content" || p.Header.Get("ETag") == "" {
		t.Errorf("%v %s", p.Header, p.body)
	}
	a.want(200, "", a.do("GET", "/T12(RowKey='a%20b',PartitionKey='o%27%27n')", ""))
}

func TestETagsAndTimestampsAgreeToTheLastDigitAndIncrease(t *testing.T) {
	a := newAPI(t)
	last, lastTime := "", time.Time{}
	for range 1000 {
		last = a.put("p", "r", `"A":1`).Header.Get("ETag")
		var row struct{ Timestamp string }
		assert.NoError(t, json.Unmarshal([]byte(a.do("GET", "/T12(PartitionKey='p',RowKey='r')", "").body), &row))
		if last != `W/"datetime'`+strings.ReplaceAll(row.Timestamp, ":", "%3A")+`'"` {
			t.Fatalf("the ETag is %s, the Timestamp %s", last, row.Timestamp)
		}
		now, err := time.Parse(time.RFC3339Nano, row.Timestamp)
		if err != nil || !now.After(lastTime) {
			t.Fatalf("%v after %v (%v)", now, lastTime, err)
		}
		lastTime = now
	}
	if !strings.HasPrefix(last, `W/"datetime'20`) || strings.Count(last, "%3A") != 2 || !strings.HasSuffix(last, `Z'"`) {
		t.Errorf("form of the ETag: %s", last)
	}
}

func TestMalformedAddressesAreRefused(t *testing.T) {
	a := newAPI(t)
	for target, want := range map[string]struct {
		status int
		code   string
	}{
		"/T12(PartitionKey='p')":                      {400, "InvalidInput"},
		"/T12(PartitionKey='p',PartitionKey='q')":     {400, "InvalidInput"},
		"/T12(PartitionKey='p',RowKey='r'":            {400, "InvalidInput"},
		"/T12(PartitionKey='p',RowKey='r')x":          {400, "InvalidInput"},
		"/T12(PartitionKey='o'n',RowKey='r')":         {400, "InvalidInput"},
		"/T12(PartitionKey='p',RowKey=r)":             {400, "InvalidInput"},
		"/T12(PartitionKey='a%2Fb',RowKey='r')":       {400, "OutOfRangeInput"},
		"/T12(PartitionKey='a#b',RowKey='r')":         {400, "OutOfRangeInput"},
		"/T12(PartitionKey='a\x01',RowKey='r')":       {400, "OutOfRangeInput"},
		"/T12(PartitionKey='p',RowKey='r')":           {404, "ResourceNotFound"},
		"/t12(PartitionKey='p',RowKey='r')":           {404, "ResourceNotFound"},
		"/T12(PartitionKey='p',RowKey='r')?$select=a": {404, "ResourceNotFound"},
		"/other(PartitionKey='p',RowKey='r')":         {404, "TableNotFound"},
		"/other()":                                    {404, "TableNotFound"},
		"/a/b":                                        {400, "InvalidInput"},
		"/":                                           {405, "MethodNotAllowed"},
		"/$batch":                                     {405, "MethodNotAllowed"},
		"/T12()?timeout=x":                            {400, "InvalidQueryParameterValue"},
		"/T12()?comp=nonsense":                        {400, "InvalidQueryParameterValue"},
	} {
		if p := a.do("GET", target, ""); p.StatusCode != want.status || p.code != want.code {
			t.Errorf("%s: %d %s, want %d %s", target, p.StatusCode, p.code, want.status, want.code)
		}
	}
	a.want(400, "InvalidInput", a.do("PUT", "/T12"+address2("p", "r"), `{"PartitionKey":"q","RowKey":"r"}`))
	a.want(400, "PropertyValueTooLarge", a.do("PUT", "/T12"+address2(strings.Repeat("x", 513), "r"), `{}`))
	a.want(405, "MethodNotAllowed", a.do("PUT", "/T12", `{}`))
	a.want(405, "MethodNotAllowed", a.do("POST", "/T12"+address2("p", "r"), `{}`))
	a.want(400, "XMethodIncorrectCount", a.do("POST", "/T12"+address2("p", "r"), `{}`, "X-HTTP-Method: MERGE", "X-HTTP-Method: PUT"))
	a.want(405, "MethodNotAllowed", a.do("POST", "/T12()", `{}`))
}

func TestUnsupportedFormatsAre415(t *testing.T) {
	a := newAPI(t)
	a.put("p", "r", "")
	at := "/T12" + address2("p", "r")
	a.want(415, "AtomFormatNotSupported", a.do("GET", at, "", "Accept: application/atom+xml"))
	a.want(415, "JsonFormatNotSupported", a.do("GET", at, "", "Accept: text/html"))
	a.want(415, "JsonFormatNotSupported", a.do("GET", at, "", "Accept: application/json;odata=verbose"))
	a.want(200, "", a.do("GET", at, "", "Accept: application/atom+xml,application/xml, application/json ; odata=nometadata"))
	a.want(200, "", a.do("GET", at+"?$format=application/json%3Bodata%3Dfullmetadata", "", "Accept: text/html"))
	a.want(415, "AtomFormatNotSupported", a.do("POST", "/T12", "<entry/>", "Content-Type: application/atom+xml"))
	a.want(413, "RequestBodyTooLarge", a.do("POST", "/T12", strings.Repeat(" ", 4<<20+1)))
}
