package xmlservice

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

func call(t testing.TB, method, target string, head http.Header) (*Call, *httptest.ResponseRecorder) {
	t.Helper()
	r := httptest.NewRequest(method, "https://account.example"+target, nil)
	if head != nil {
		r.Header = head
	}
	w := httptest.NewRecorder()
	parsed, _ := new(request.Parser).Parse(r)
	c, e := Begin(w, parsed)
	assert.Equal(assert.Now(t), e, nil)
	return c, w
}

// A parser returns the text and attributes that were written. Characters that XML does not
// allow become U+FFFD.
func TestAParserReturnsTextAndAttributes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"", "\r\n\t", "\xff\xc3", "]]>", "\x00", "\uFFFE", "<&>\"'", "é\U0001F600"}).Draw(t, "odd")
		var x XML
		x.Begin("r", "a", s)
		x.Text("t", s)
		x.Maybe("none", "")
		x.End("r")
		var got struct {
			A    string `xml:"a,attr"`
			T    string `xml:"t"`
			None *string
		}
		assert.NoError(t, xml.Unmarshal(x.buf, &got), x.buf)
		want := strings.Map(func(r rune) rune {
			if !reply.LegalXML(r) {
				return '\uFFFD'
			}
			return r
		}, s)
		if got.A != want || got.T != want || got.None != nil {
			t.Fatalf("%q: attribute %q, text %q", want, got.A, got.T)
		}
	})
}

func TestParseXMLReadsNodesInOrder(t *testing.T) {
	n, e := ParseXML([]byte("\uFEFF<?xml version=\"1.0\"?>\n<r> <a>1</a><!-- x --><b><c> 2 </c></b><a>3</a></r>\n"), "r")
	assert.Equal(assert.Now(t), e, nil)
	if len(n.Children) != 3 || n.Value("a") != "1" || n.Child("b").Value("c") != "2" || n.Child("b").Text != " 2 " || n.Text != " 1 2 3" || n.Children[2].Text != "3" || n.Child("x") != nil || n.Child("x").Value("y") != "" {
		t.Errorf("%+v", n)
	}
}

func FuzzParseXML(f *testing.F) {
	for _, s := range []string{"", "<r/>", "<r><a>1</a></r>", "<r", "<r></r><r/>", "<!DOCTYPE r><r/>", "<r>&x;</r>", "x<r/>", strings.Repeat("<r>", 20)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		n, e := ParseXML(body, "r")
		if (n == nil) == (e == nil) {
			t.Fatalf("node %v, error %v", n, e)
		}
		if e != nil {
			return
		}
		assert.Equal(t, xml.Unmarshal(body, new(struct{ XMLName xml.Name })), nil, "accepted an invalid document")
	})
}

func TestTicksAreUniqueAndFollowTheClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var k Ticks
	if got := k.ETag(now); got != `"0x8DE48C8B4F80000"` { // 639028224000000000 ticks
		t.Errorf("the first tag is %s", got)
	}
	seen := map[string]bool{}
	last := int64(0)
	for i := range 1000 {
		tag := k.ETag(now.Add(-time.Duration(i) * time.Second)) // a clock that runs backwards
		if seen[tag] {
			t.Fatalf("%s twice", tag)
		}
		seen[tag] = true
		if n := k.Next(now); n <= last {
			t.Fatalf("%d after %d", n, last)
		} else {
			last = n
		}
	}
}

func TestTombstonesExpire(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ts Tombstones
	for i := range 100 {
		ts.Add(fmt.Sprint("q", i), now.Add(time.Duration(i)*time.Second))
	}
	if ts.Has("q69", now.Add(99*time.Second)) || !ts.Has("q70", now.Add(99*time.Second)) {
		t.Error("want those of the last 30 seconds")
	}
	assert.Equal(assert.Now(t), len(ts.until), 30)
}

func TestMetadataKeepsTheCaseOfItsNames(t *testing.T) {
	c, _ := call(t, "PUT", "/q", http.Header{"x-ms-meta-LogType": {" write "}, "X-Ms-Meta-Starttime": {"1"}, "X-Ms-Metadata": {"no"}})
	m, e := c.Metadata()
	if e != nil || len(m) != 2 || m["LogType"] != "write" || m["starttime"] != "1" {
		t.Errorf("%v, %v", m, e)
	}
	if !m.Equal(Metadata{"logtype": "write", "STARTTIME": "1"}) || m.Equal(Metadata{"logtype": "read", "starttime": "1"}) || m.Equal(Metadata{"logtype": "write"}) {
		t.Error("names must be compared without case, and values with case")
	}
	if _, e := c.Metadata(); e != nil {
		t.Error(e)
	}
}

func TestMetadataOfExactly8KiBIsAccepted(t *testing.T) {
	for n, ok := range map[int]bool{MaxMetadata - 1: true, MaxMetadata: false} {
		c, _ := call(t, "PUT", "/q", http.Header{"x-ms-meta-a": {strings.Repeat("v", n)}})
		if _, e := c.Metadata(); (e == nil) != ok {
			t.Errorf("name of 1 and value of %d: %v", n, e)
		}
	}
}

func TestEveryReplyContainsTheIDsOfItsRequest(t *testing.T) {
	id := strings.Repeat("i", 1024)
	_, w := call(t, "GET", "/", http.Header{"X-Ms-Client-Request-Id": {id}, "X-Ms-Version": {"2019-12-12"}})
	if h := w.Header(); h.Get("X-Ms-Client-Request-Id") != id || h.Get("X-Ms-Version") != "2019-12-12" || h.Get("X-Ms-Request-Id") == "" {
		t.Error(h)
	}
	for _, bad := range []string{id + "i", "a\tb", "é"} {
		if _, w := call(t, "GET", "/", http.Header{"X-Ms-Client-Request-Id": {bad}}); w.Header().Get("X-Ms-Client-Request-Id") != "" {
			t.Errorf("%.10q is echoed", bad)
		}
	}
}

func TestEndpointIsTheAddressThatTheClientUsed(t *testing.T) {
	c, _ := call(t, "GET", "/", nil)
	assert.Equal(t, c.Endpoint(), "https://account.example/")
	c, _ = call(t, "GET", "/", nil)
	c.Base = "http://127.0.0.1:10000/account"
	assert.Equal(t, c.Endpoint(), "http://127.0.0.1:10000/account/")
}
