package table

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// api is a service with one table, T, which is used without an SDK.
type api struct {
	t *testing.T
	s *Service
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{t, New(request.Page{})}
	a.want(201, "", a.do("POST", "/Tables", `{"TableName":"T12"}`))
	return a
}

// apiReply is a reply, with the error code in its body.
type apiReply struct {
	*http.Response
	body string
	code string
}

// do sends a request; headers are "Name: value".
func (a *api) do(method, target, body string, headers ...string) apiReply {
	a.t.Helper()
	target = strings.NewReplacer(" ", "%20", "#", "%23", "\"", "%22", "\\", "%5C", "\x01", "%01", "\u0081", "%C2%81").Replace(target)
	r := httptest.NewRequest(method, "http://acct.table.example"+target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	serve(a.s, w, r)
	p := apiReply{w.Result(), w.Body.String(), ""}
	var e struct {
		Error struct {
			Code    string
			Message struct{ Lang, Value string }
		} `json:"odata.error"`
	}
	if p.StatusCode >= 400 {
		if strings.HasPrefix(p.body, "<") {
			_, rest, _ := strings.Cut(p.body, "<code>")
			p.code, _, _ = strings.Cut(rest, "</code>")
			return p
		}
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			a.t.Fatalf("%s %s: error body is not JSON: %s", method, target, p.body)
		}
		p.code = e.Error.Code
		if v := e.Error.Message; v.Lang != "en-US" || !strings.Contains(v.Value, "\nRequestId:"+p.Header.Get("x-ms-request-id")+"\nTime:") {
			a.t.Errorf("%s %s: message %q", method, target, v.Value)
		}
	}
	return p
}

// want fails the test unless p has this status and error code, "" for none.
func (a *api) want(status int, code string, p apiReply) apiReply {
	a.t.Helper()
	if p.StatusCode != status || p.code != code {
		a.t.Fatalf("got %d %s, want %d %s\n%s", p.StatusCode, p.code, status, code, p.body)
	}
	return p
}

// put stores an entity with the given members.
func (a *api) put(pk, rk, members string) apiReply {
	a.t.Helper()
	return a.want(204, "", a.do("PUT", "/T12"+address2(pk, rk), "{"+members+"}"))
}

func address2(pk, rk string) string {
	return "(PartitionKey='" + pk + "',RowKey='" + rk + "')"
}

// rows returns the row keys of a page and its token as a query string.
func (a *api) rows(p apiReply) (keys []string, next string) {
	a.t.Helper()
	a.want(200, "", p)
	var page struct {
		Value []struct{ RowKey string } `json:"value"`
	}
	if err := json.Unmarshal([]byte(p.body), &page); err != nil {
		a.t.Fatalf("%v in %s", err, p.body)
	}
	for _, r := range page.Value {
		keys = append(keys, r.RowKey)
	}
	if pk := p.Header.Get("x-ms-continuation-NextPartitionKey"); pk != "" {
		next = "&NextPartitionKey=" + pk
		if rk := p.Header.Get("x-ms-continuation-NextRowKey"); rk != "" {
			next += "&NextRowKey=" + rk
		}
	}
	return keys, next
}

// serve carries out a request of the owner of the account, and returns it parsed.
func serve(s *Service, w http.ResponseWriter, r *http.Request) *request.Request {
	parsed, _ := new(request.Parser).Parse(r.WithContext(request.WithService(r.Context(), op.Table)))
	s.Serve(w, parsed, auth.Owner())
	return parsed
}

func request2(target string) *http.Request {
	return httptest.NewRequest("GET", "http://acct.table.example"+strings.ReplaceAll(target, " ", "%20"), nil)
}

func recorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }
