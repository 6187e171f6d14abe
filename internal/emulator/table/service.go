// Package table is the Table service of the emulator: tables of entities in
// memory behind the REST interface, as strict as the documentation of the
// service and in its words. It knows nothing of credentials; whoever routes
// requests to it checks them and says through a rest.Call what they allow.
//
// https://learn.microsoft.com/rest/api/storageservices/table-service-rest-api
package table

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

const (
	server  = "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0"
	maxBody = 4 << 20
)

// Service is an http.Handler for the table endpoint of one account. The path
// of a request begins behind the account: /Tables, /$batch, /name(…). It is
// safe for concurrent use, starts no goroutine and holds nothing but its rows.
type Service struct {
	store

	pageMu sync.RWMutex
	page   rest.Page

	props restxml.Settings
}

// New returns a service without tables.
func New() *Service {
	return &Service{store: store{tables: map[string]*table{}, deleted: map[string]time.Time{}}}
}

// SetPage shapes every page that a query answers, beside what a single
// request asks for.
func (s *Service) SetPage(p rest.Page) {
	s.pageMu.Lock()
	defer s.pageMu.Unlock()
	s.page = p
}

func (s *Service) shape(side *rest.Call) rest.Page {
	s.pageMu.RLock()
	p := s.page
	s.pageMu.RUnlock()
	return side.Shape().Or(p)
}

// call is one request under way.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	side *rest.Call
	id   string
	q    url.Values
}

// ServeHTTP carries out one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	c := &call{w: w, r: r, side: rest.CallFrom(r.Context()), id: rest.Head(h, r, server)}
	h["Cache-Control"] = noCache
	h["X-Content-Type-Options"] = noSniff
	h["Dataserviceversion"] = dataVersion
	if err := s.route(c); err != nil {
		c.refuse(err)
	}
}

var (
	noCache = []string{"no-cache"}
	noSniff = []string{"nosniff"}

	dataVersion = []string{"3.0;"}
)

func (s *Service) route(c *call) *rest.Error {
	if _, err := url.ParseQuery(c.r.URL.RawQuery); err != nil {
		return errQueryParam
	}
	if c.r.URL.RawQuery != "" && c.query().Has("comp") {
		return s.routeXML(c)
	}
	if t := c.query().Get("timeout"); t != "" {
		if n, err := strconv.Atoi(t); err != nil || n < 0 {
			return errQueryParam
		}
	}
	a, err := parseAddress(c.r.URL.Path)
	if err != nil {
		return err
	}
	m, err := method(c.r.Method, c.r.Header)
	if err != nil {
		return err
	}
	switch {
	case a.name == "":
		return errMethod
	case a.name == "$batch":
		if m != http.MethodPost {
			return errMethod
		}
		return s.batch(c)
	case strings.EqualFold(a.name, "Tables"):
		return s.routeTables(c, m, a)
	case m == http.MethodGet && a.keyed:
		return s.get(c, a)
	case m == http.MethodGet:
		return s.query(c, a)
	}
	return s.write(c, m, a)
}

// write carries out a change to one row.
func (s *Service) write(c *call, m string, a address) *rest.Error {
	body, err := rest.ReadBody(c.r, maxBody)
	if err != nil {
		return err
	}
	if a.parens && !a.keyed {
		return errMethod
	}
	w, err := parseWrite(m, a, c.r.Header, body)
	if err != nil {
		return err
	}
	c.side.Touch(w.partition, w.row)
	if err := w.allowed(c.side.Guards()); err != nil {
		return err
	}
	t, err := s.lookup(a.name)
	if err != nil {
		return err
	}
	done, err := s.run(t, &w)
	if err != nil {
		return err
	}
	c.side.Count(0, 0, 1)
	c.wrote(t, &w, done)
	return nil
}

// wrote answers a write that was carried out.
func (c *call) wrote(t *table, w *write, done change) {
	h := c.w.Header()
	if done.row != nil {
		h["Etag"] = []string{done.row.etag}
	}
	if w.verb == verbInsert {
		address := c.base() + "/" + t.name + "(PartitionKey='" + escapeKey(w.partition) + "',RowKey='" + escapeKey(w.row) + "')"
		h["Location"] = []string{address}
		if w.noted {
			h["Preference-Applied"] = []string{preference(w.echo)}
		}
		if w.echo {
			c.json(http.StatusCreated, w.level, c.entity(done.row, t, w.level, nil))
			return
		}
		h["Dataserviceid"] = []string{address}
	}
	c.w.WriteHeader(http.StatusNoContent)
}

func preference(echo bool) string {
	if echo {
		return "return-content"
	}
	return "return-no-content"
}

// query returns the query options, decoded once.
func (c *call) query() url.Values {
	if c.q == nil {
		if c.r.URL.RawQuery == "" {
			return nil
		}
		c.q = c.r.URL.Query()
	}
	return c.q
}

// format is the media type that the client asked for; the option has
// precedence over the header.
func (c *call) format() string {
	if f := c.query().Get("$format"); f != "" {
		return f
	}
	return c.r.Header.Get("Accept")
}

// base is the address of the account, without a slash at the end.
func (c *call) base() string { return rest.Base(c.r) }

// refuse answers with an error.
func (c *call) refuse(e *rest.Error) {
	c.side.Fail(e.Status, e.Code)
	h := c.w.Header()
	b := rest.ODataError(e.Code, e.Message, c.id, time.Now())
	if e.Status == http.StatusMethodNotAllowed {
		h["Allow"] = []string{"GET, POST, PUT, DELETE, PATCH, MERGE"}
	}
	if c.query().Has("comp") {
		b = rest.ODataXMLError(e.Code, e.Message, c.id, time.Now())
		h["Content-Type"] = []string{"application/xml"}
	} else {
		h["Content-Type"] = errorType
	}
	c.send(e.Status, b)
}

// json answers with an OData body.
func (c *call) json(status int, l level, b []byte) {
	c.w.Header()["Content-Type"] = mediaTypes[l]
	c.send(status, b)
}

func (c *call) send(status int, b []byte) {
	c.w.Header()["Content-Length"] = []string{strconv.Itoa(len(b))}
	c.w.WriteHeader(status)
	if k, ok := c.w.(keeper); ok {
		k.Keep(b)
		return
	}
	_, _ = c.w.Write(b) // a client that went away is nobody's error
}

// A keeper is a ResponseWriter in this process that takes bytes over instead
// of copying them.
type keeper interface{ Keep(b []byte) }
