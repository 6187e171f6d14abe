// Package table is an in-process Table service with tables in memory, which follows the
// documentation of the service, including its limits and error codes. It does not verify
// credentials: the caller does, and passes the resulting grant.
//
// https://learn.microsoft.com/rest/api/storageservices/table-service-rest-api
package table

import (
	"net/http"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

const server = "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0"

// Service is the Table service of one account. Create it with [New]. It is safe for
// concurrent use and starts no goroutine.
type Service struct {
	store
	page  request.Page
	props xmlservice.Settings
}

// New returns a service without tables. page shortens every page that a query returns, in
// addition to the options of the request.
func New(page request.Page) *Service {
	return &Service{store: store{tables: map[string]*table{}, deleted: map[string]time.Time{}, deletion: deleteTime}, page: page}
}

// call is a request being carried out.
type call struct {
	*request.Request
	w     http.ResponseWriter
	grant auth.Grant
	id    string
}

// Serve carries out one request, if grant permits it.
func (s *Service) Serve(w http.ResponseWriter, r *request.Request, grant auth.Grant) {
	h := w.Header()
	c := &call{r, w, grant, reply.Head(h, r.Header, server, r.Time())}
	if !r.Query.Has("comp") { // access policies and properties are not OData
		h["Cache-Control"] = noCache
		h["X-Content-Type-Options"] = noSniff
	}
	err := r.Refusal
	if err == nil {
		err = s.carryOut(c)
	}
	if err != nil {
		c.refuse(err)
	}
}

var (
	noCache = []string{"no-cache"}
	noSniff = []string{"nosniff"}
)

func (s *Service) carryOut(c *call) *reply.Error {
	switch c.Op {
	case op.TableGet:
		return s.get(c)
	case op.TableQuery:
		return s.query(c)
	case op.TableBatch:
		return s.batch(c)
	case op.TableList, op.TableCreate, op.TableDrop:
		return s.carryOutOnTables(c)
	case op.TableGetACL, op.TableSetACL:
		return s.carryOutACL(c)
	case op.TableGetProperties, op.TableSetProperties, op.TableStats:
		return s.carryOutOnService(c)
	}
	return s.write(c)
}

// write carries out a change to one row.
func (s *Service) write(c *call) *reply.Error {
	w, err := parseWrite(c.Request)
	if err != nil {
		return err
	}
	if err := c.allowed(&w); err != nil {
		return err
	}
	t, err := s.lookup(w.table, c.Time())
	if err != nil {
		return err
	}
	done, _, err := s.runAll(t, []write{w}, c.Time())
	if err != nil {
		return err
	}
	c.Count(0, 0, 1)
	c.wrote(t, &w, done[0])
	return nil
}

// allowed refuses a write that the credential of the request does not permit.
func (c *call) allowed(w *write) *reply.Error {
	return c.grant.AllowRow(w.op, w.table, w.partition, w.row)
}

// wrote replies to a successful write.
func (c *call) wrote(t *table, w *write, done change) {
	h := c.w.Header()
	if done.row != nil {
		h["Etag"] = []string{done.row.etag()}
	}
	if w.op == op.TableInsert {
		address := c.Base + "/" + addressOf(t.name, w.partition, w.row)
		h["Location"] = []string{address}
		if w.preferred {
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

// shortJSON is the short form of a media type in $format. OData permits it; that the service does is not documented.
const shortJSON = "json"

// formatOf returns the media type that the client requested. The query parameter overrides
// the header, unless it is shortJSON.
func formatOf(r *request.Request) string {
	if f := r.Query.Get("$format"); f != "" && f != shortJSON {
		return f
	}
	return r.Header.Get("Accept")
}

// refuse replies with an error.
func (c *call) refuse(e *reply.Error) {
	c.Fail(e)
	h := c.w.Header()
	if e.Status == http.StatusMethodNotAllowed {
		h["Allow"] = []string{"GET, POST, PUT, DELETE, PATCH, MERGE"}
	}
	if c.Op == op.TableInsert || c.Op == op.TableCreate {
		if echo, preferred := prefersEcho(c.Request.Header); preferred {
			h["Preference-Applied"] = []string{preference(echo)}
		}
	}
	body := e.Refuse(h, true, c.Query.Has("comp"), c.id, c.Time())
	if l, err := levelOf(formatOf(c.Request)); err == nil && !c.Query.Has("comp") {
		h["Content-Type"] = mediaTypes[l]
	}
	c.send(e.Status, body)
}

// json replies with an OData body.
func (c *call) json(status int, l level, b []byte) {
	c.w.Header()["Content-Type"] = mediaTypes[l]
	c.send(status, b)
}

func (c *call) send(status int, b []byte) {
	c.w.Header()["Content-Length"] = []string{strconv.Itoa(len(b))}
	c.w.WriteHeader(status)
	reply.Write(c.w, b)
}
