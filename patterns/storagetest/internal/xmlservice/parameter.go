package xmlservice

import (
	"encoding/base64"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// MaxPage is the largest number of items on a page of a list.
const MaxPage = 5000

// Int returns an integer parameter of the query within [low, high], or fallback if it
// is absent. If the value is not a number, the error is InvalidQueryParameterValue; if it is
// outside the range, OutOfRangeQueryParameterValue, as in
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes.
func (c *Call) Int(name string, low, high, fallback int64) (int64, *reply.Error) {
	text := c.Query.Get(name)
	if text == "" {
		if c.Query.Has(name) {
			return 0, reply.InvalidQuery(name, text, "Not a number.")
		}
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if numeric(text) {
			return 0, reply.QueryOutOfRange(name, text, low, high)
		}
		return 0, reply.InvalidQuery(name, text, "Not a number.")
	}
	if n < low || n > high {
		return 0, reply.QueryOutOfRange(name, text, low, high)
	}
	return n, nil
}

func numeric(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Page is the part of a list that a request asks for.
type Page struct {
	Prefix string
	Marker string // as sent; the reply repeats it
	From   string // first name that may be listed
	Max    int
	Scan   int // largest number of names examined
	asked  int // maxresults, 0 when it was not sent
	empty  bool
}

// afterEmpty is the prefix of the marker in an empty page. The rest of that marker is the
// marker of the page that was requested. No other marker contains an exclamation mark.
const afterEmpty = "azp-empty!"

// Page reads prefix, marker and maxresults. A maxresults above MaxPage is reduced to it, and
// one below 1 is refused, as in
// https://learn.microsoft.com/rest/api/storageservices/list-blobs. The Page of the request
// may shorten the page further, as the service may do.
func (c *Call) Page(badMarker func(marker string) *reply.Error) (Page, *reply.Error) {
	p := Page{Prefix: c.Query.Get("prefix"), Marker: c.Query.Get("marker"), Max: MaxPage}
	n, e := c.Int("maxresults", 1, math.MaxInt32, MaxPage)
	if e != nil {
		return p, e
	}
	if c.Query.Has("maxresults") {
		p.asked = int(min(n, MaxPage))
	}
	p.Max, p.Scan = int(min(n, MaxPage)), math.MaxInt
	shape := c.Request.Page
	if shape.Rows > 0 {
		p.Max = min(p.Max, shape.Rows)
	}
	if shape.Scan > 0 {
		p.Scan = shape.Scan
	}
	marker, again := strings.CutPrefix(p.Marker, afterEmpty)
	if shape.Empty && !again {
		p.Max, p.empty = 0, true
	}
	if !utf8.ValidString(p.Prefix) {
		return p, reply.InvalidQuery("prefix", "", "Not UTF-8.")
	}
	if marker != "" {
		from, err := base64.RawURLEncoding.DecodeString(marker)
		if err != nil || len(from) == 0 || !utf8.Valid(from) {
			return p, badMarker(p.Marker)
		}
		p.From = string(from)
	}
	return p, nil
}

// Next returns the marker of a list that continues with name, "" at the end.
func (p Page) Next(name string) string {
	if p.empty {
		return afterEmpty + p.Marker
	}
	if name == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(name))
}

// Echo writes the head of a list, which repeats the request.
func (p Page) Echo(x *XML) {
	x.Maybe("Prefix", p.Prefix)
	x.Maybe("Marker", p.Marker)
	if p.asked > 0 {
		x.Text("MaxResults", strconv.Itoa(p.asked))
	}
}

// Include reads the comma-separated include parameter; a word that is not in known
// is refused.
func (c *Call) Include(known ...string) (map[string]bool, *reply.Error) {
	set := map[string]bool{}
	for _, value := range c.Query["include"] {
		for word := range strings.SplitSeq(value, ",") {
			word = strings.ToLower(strings.TrimSpace(word))
			if word == "" {
				continue
			}
			if !slices.Contains(known, word) {
				return nil, reply.InvalidQuery("include", word, "Unknown word.")
			}
			set[word] = true
		}
	}
	return set, nil
}

// List replies with the containers or the queues whose names items contains; kind is the name of
// the list. write writes one item. mu guards items.
func List[T any](c *Call, kind string, mu *sync.Mutex, items map[string]T, page Page, write func(x *XML, name string, item T)) *reply.Error {
	var x XML
	x.Begin("EnumerationResults", "ServiceEndpoint", c.Endpoint())
	page.Echo(&x)
	x.Begin(kind)
	n, next := 0, ""
	c.Lock(mu)
	for _, name := range slices.Sorted(maps.Keys(items)) {
		if name < page.From || !strings.HasPrefix(name, page.Prefix) {
			continue
		}
		if n == page.Max || n == page.Scan {
			next = name
			break
		}
		n++
		write(&x, name, items[name])
	}
	mu.Unlock()
	x.End(kind)
	c.Count(n, 0)
	x.Text("NextMarker", page.Next(next))
	x.End("EnumerationResults")
	return c.XML(http.StatusOK, &x)
}
