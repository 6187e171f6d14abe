package table

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// batchOp is one operation of a batch.
type batchOp struct {
	method, target, body string
	headers              []string
}

func insert(pk, rk string) batchOp {
	return batchOp{"POST", "http://acct.table.example/T12", fmt.Sprintf(`{"PartitionKey":%q,"RowKey":%q}`, pk, rk), []string{"Prefer: return-no-content"}}
}

func batchBody(ops ...batchOp) string {
	var b strings.Builder
	b.WriteString("--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n")
	for i, o := range ops {
		b.WriteString("--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n")
		fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nContent-Type: application/json\r\nContent-ID: %d\r\n", o.method, o.target, i+1)
		for _, h := range o.headers {
			b.WriteString(h + "\r\n")
		}
		b.WriteString("\r\n" + o.body + "\r\n")
	}
	b.WriteString("--changeset_1--\r\n--batch_1--\r\n")
	return b.String()
}

const batchType = "Content-Type: multipart/mixed; boundary=batch_1"

// submit sends a batch and returns the statuses of its parts, and the body of the last one.
func (a *api) submit(ops ...batchOp) (statuses []int, last string) {
	a.t.Helper()
	return a.parts(a.want(202, "", a.do("POST", "/$batch", batchBody(ops...), batchType)))
}

func (a *api) parts(p apiReply) (statuses []int, last string) {
	a.t.Helper()
	outer, err := request.SplitParts(p.Header.Get("Content-Type"), []byte(p.body))
	if err != nil || len(outer) != 1 {
		a.t.Fatalf("not a multipart reply of one part: %v\n%s", err, p.body)
	}
	inner := outer
	if kind := outer[0].Header.Get("Content-Type"); strings.HasPrefix(kind, "multipart/") {
		if inner, err = request.SplitParts(kind, outer[0].Body); err != nil {
			a.t.Fatalf("not a change set: %v\n%s", err, p.body)
		}
	}
	for _, part := range inner {
		status := 0
		if _, err := fmt.Sscanf(string(part.Body), "HTTP/1.1 %d", &status); err != nil {
			a.t.Fatalf("%v in %s", err, part.Body)
		}
		statuses = append(statuses, status)
		last = string(part.Body)
	}
	return statuses, last
}

func TestABatchIsAllOrNothing(t *testing.T) {
	a := newAPI(t)
	a.put("p", "old", `"A":1,"B":2`)
	at := "http://acct.table.example/T12" + address2("p", "old")
	statuses, last := a.submit(
		insert("p", "a"),
		batchOp{"PUT", "/T12" + address2("p", "b"), `{"X":1}`, nil},
		batchOp{"PATCH", "http://acct.table.example/t12" + address2("p", "c"), `{"X":1}`, nil},
		batchOp{"MERGE", at, `{"B":3}`, []string{"If-Match: *"}},
		batchOp{"POST", "http://acct.table.example/T12", `{"PartitionKey":"p","RowKey":"echo"}`, nil},
	)
	if fmt.Sprint(statuses) != "[204 204 204 204 201]" || !strings.Contains(last, `"RowKey":"echo"`) || !strings.Contains(last, "\r\nContent-ID: 5\r\n") {
		t.Errorf("%v\n%s", statuses, last)
	}
	if got := a.do("GET", "/T12"+address2("p", "old"), ""); !strings.HasSuffix(got.body, `"A":1,"B":3}`) {
		t.Errorf("%s", got.body)
	}
	before, _ := a.all("")

	failures := []struct {
		name     string
		last     batchOp
		status   int
		code     string
		index    int
		preceded int
	}{
		{"insert of a row that is there", insert("p", "old"), 409, "EntityAlreadyExists", 3, 3},
		{"replace of a missing row", batchOp{"PUT", "/T12" + address2("p", "none"), `{}`, []string{"If-Match: *"}}, 404, "ResourceNotFound", 1, 1},
		{"delete of a missing row", batchOp{"DELETE", "/T12" + address2("p", "none"), ``, []string{"If-Match: *"}}, 404, "ResourceNotFound", 2, 2},
		{"stale merge", batchOp{"PATCH", at, `{}`, []string{`If-Match: W/"datetime'x'"`}}, 412, "UpdateConditionNotSatisfied", 2, 2},
		{"delete without If-Match", batchOp{"DELETE", at, ``, nil}, 400, "InvalidInput", 2, 2},
		{"other partition", insert("q", "x"), 400, "CommandsInBatchActOnDifferentPartitions", 1, 1},
		{"other table", batchOp{"PUT", "/Other" + address2("p", "x"), `{}`, nil}, 400, "InvalidInput", 1, 1},
		{"same row", insert("p", "new0"), 400, "InvalidDuplicateRow", 2, 2},
		{"read among changes", batchOp{"GET", at, ``, nil}, 400, "InvalidInput", 1, 1},
		{"bad value", batchOp{"PUT", "/T12" + address2("p", "x"), `{"L@odata.type":"Edm.Int64","L":"x"}`, nil}, 400, "InvalidValueType", 1, 1},
		{"101 operations", insert("p", "last"), 400, "InvalidInput", 99, 100},
		{"missing table", batchOp{"PUT", "/Gone" + address2("p", "x"), `{}`, nil}, 404, "TableNotFound", 0, 0},
	}
	for _, tt := range failures {
		var ops []batchOp
		for i := range tt.preceded {
			ops = append(ops, insert("p", fmt.Sprintf("new%d", i)))
		}
		statuses, last := a.submit(append(ops, tt.last)...)
		if len(statuses) != 1 || statuses[0] != tt.status || !strings.Contains(last, `"code":"`+tt.code+`"`) || !strings.Contains(last, fmt.Sprintf(`"value":"%d:`, tt.index)) {
			t.Errorf("%s: %v\n%s", tt.name, statuses, last)
		}
		if after, _ := a.all(""); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Fatalf("%s: rows %v, before %v", tt.name, after, before)
		}
	}
}

func TestABatchWithAReadHasNoOtherOperation(t *testing.T) {
	a := newAPI(t)
	a.put("p", "r", `"A":1`)
	body := func(n int, target string) string {
		part := "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET " + target + " HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n\r\n"
		return strings.Repeat(part, n) + "--batch_1--\r\n"
	}
	at := "http://acct.table.example/T12" + address2("p", "r")
	statuses, last := a.parts(a.want(202, "", a.do("POST", "/$batch", body(1, at), batchType)))
	if fmt.Sprint(statuses) != "[200]" || !strings.Contains(last, `"A":1}`) || !strings.Contains(last, "\r\nETag: W/") {
		t.Errorf("%v %s", statuses, last)
	}
	statuses, last = a.parts(a.want(202, "", a.do("POST", "/$batch", body(1, "/T12"+address2("p", "none")), batchType)))
	assert.Equal(t, fmt.Sprint(statuses), "[404]")
	assert.Contains(t, last, "ResourceNotFound")
	a.want(400, "InvalidInput", a.do("POST", "/$batch", body(2, at), batchType))
	a.want(400, "InvalidInput", a.do("POST", "/$batch", body(1, "/T12()"), batchType))
}

func TestAMalformedBatchIsRefused(t *testing.T) {
	a := newAPI(t)
	good := batchBody(insert("p", "a"))
	set := strings.TrimSuffix(good, "--batch_1--\r\n")
	for name, body := range map[string]string{
		"empty":                  "",
		"no boundary":            "hello",
		"closing boundary only":  "--batch_1--\r\n",
		"no closing boundary":    set,
		"cut in the change set":  good[:len(good)/2],
		"two change sets":        set + good,
		"header without a colon": strings.Replace(good, "Content-Type: application/http", "Content-Type application/http", 1),
		"part that is no HTTP":   strings.Replace(good, "application/http", "text/plain", 1),
		"no protocol":            strings.Replace(good, " HTTP/1.1", "", 1),
		"inner boundary missing": strings.Replace(good, "; boundary=changeset_1", "", 1),
	} {
		if p := a.do("POST", "/$batch", body, batchType); p.StatusCode != 400 || p.code != "InvalidInput" {
			t.Errorf("%s: %d %s", name, p.StatusCode, p.code)
		}
	}
	a.want(400, "InvalidInput", a.do("POST", "/$batch", good, "Content-Type: application/json"))
	a.want(400, "InvalidInput", a.do("POST", "/$batch", good))
	a.want(413, "RequestBodyTooLarge", a.do("POST", "/$batch", strings.Repeat("x", 4<<20+1), batchType))
	a.want(202, "", a.do("POST", "/$batch", strings.ReplaceAll(good, "\r\n", "\n"), batchType))
	a.want(200, "", a.do("GET", "/T12"+address2("p", "a"), ""))
}

func TestReadersNeverReadHalfABatch(t *testing.T) {
	a := newAPI(t)
	write := func(v int) string {
		var ops []batchOp
		for i := range 10 {
			ops = append(ops, batchOp{"PUT", "/T12" + address2("p", fmt.Sprint(i)), fmt.Sprintf(`{"V":%d}`, v), nil})
		}
		return batchBody(ops...)
	}
	send := func(method, target, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://acct.table.example"+target, strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/mixed; boundary=batch_1")
		r.Header.Set("Accept", "application/json;odata=nometadata")
		w := httptest.NewRecorder()
		serve(a.s, w, r)
		return w
	}
	send("POST", "/$batch", write(0))
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for g := range 4 {
		writers.Go(func() {
			for i := range 100 {
				if w := send("POST", "/$batch", write(g*1000+i)); w.Code != 202 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			body := send("GET", "/T12()?$select=V", "").Body.Bytes()
			rows := bytes.Split(bytes.TrimSuffix(bytes.TrimPrefix(body, []byte(`{"value":[`)), []byte(`]}`)), []byte(","))
			for _, r := range rows {
				if !bytes.Equal(r, rows[0]) {
					t.Errorf("a torn read: %s", body)
					return
				}
			}
			if len(rows) != 10 {
				t.Errorf("%d rows", len(rows))
				return
			}
		}
	})
	writers.Wait()
	close(stop)
	readers.Wait()
}

func FuzzBatch(f *testing.F) {
	f.Add("multipart/mixed; boundary=batch_1", []byte(batchBody(insert("p", "a"), batchOp{"DELETE", "/T12(PartitionKey='p',RowKey='x')", "", []string{"If-Match: *"}})))
	f.Add("multipart/mixed; boundary=batch_1", []byte("--batch_1\nContent-Type: application/http\n\nGET /T12(PartitionKey='p',RowKey='x') HTTP/1.1\n\n\n--batch_1--"))
	f.Add("multipart/mixed; boundary=\"b\"", []byte("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c--\r\n--b--"))
	f.Add("multipart/mixed; boundary=b", []byte("--b\r\n\r\n--b--\r\n"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		s := New(request.Page{})
		if err := s.create("T12", time.Now()); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "http://acct.table.example/$batch", bytes.NewReader(body))
		r.Header["Content-Type"] = []string{contentType}
		w := httptest.NewRecorder()
		serve(s, w, r)
		switch w.Code {
		case http.StatusAccepted:
			a := &api{t, s}
			a.parts(apiReply{w.Result(), w.Body.String(), ""})
		case http.StatusBadRequest:
			if b, _ := io.ReadAll(w.Body); !bytes.Contains(b, []byte(`"odata.error"`)) {
				t.Fatalf("%s", b)
			}
		default:
			t.Fatalf("status %d", w.Code)
		}
	})
}
