package heat_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

// call is a request and what the account needs to know about it.
type call struct {
	class    string // get, write, batch, scan, partition, list, poll, message, large
	resource string
	pk, rk   string // "" if the request has none
	inserted int    // entities written
	returned int    // rows of this page, or messages
	etag     string // of a change
	asked    int    // messages
	full     string // the partition or queue whose target refused it
}

type callKey struct{}

// units is how often the request counts for its targets, before it is carried out.
func (c *call) units() int { return max(1, c.inserted) }

// admit refuses what storagetest.Account.Throttle refuses.
func (w *world) admit(c *call) bool {
	now := time.Now().Unix()
	if passed := int(now - w.second); passed > 0 {
		w.second = now
		for u, n := range w.used {
			if n -= target(u) * passed; n > 0 {
				w.used[u] = n
			} else {
				delete(w.used, u)
			}
		}
	}
	units := []string{"", c.resource + "/" + c.pk}
	if c.class == "scan" {
		units = units[:1]
	}
	for _, u := range units {
		if w.used[u] >= target(u) {
			c.full = u
			return false
		}
	}
	for _, u := range units {
		w.used[u] += max(c.units(), c.returned)
	}
	return true
}

func target(unit string) int {
	if unit == "" {
		return heat.AccountTarget
	}
	return heat.PartitionTarget
}

// network delays each request, has a pool of connections, and carries the request out.
type network struct {
	w    *world
	idle int
}

func (n *network) Do(req *http.Request) (*http.Response, error) {
	w := n.w
	w.mu.Lock()
	reused := n.idle > 0
	if reused {
		n.idle--
	} else {
		w.dials++
	}
	w.sent++
	delay := time.Duration(float64(w.latency) * (1 - w.jitter*w.rng.Float64()*0.5))
	w.mu.Unlock()
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: &net.TCPConn{}, Reused: reused})
	}
	if !reused {
		delay *= 4
	}
	time.Sleep(delay)
	w.mu.Lock()
	defer w.mu.Unlock()
	n.idle = min(n.idle+1, w.keep)
	c := req.Context().Value(callKey{}).(*call)
	return w.carryOut(req, c), nil
}

func (w *world) carryOut(req *http.Request, c *call) *http.Response {
	resp := &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Request: req, ContentLength: -1}
	if c.class == "poll" {
		c.returned = min(c.asked, w.waiting[c.resource])
	}
	body, row := "", c.resource+"/"+c.pk+"/"+c.rk
	switch {
	case !w.admit(c):
		resp.StatusCode = http.StatusServiceUnavailable
	case c.class == "large" && w.rng.Float64() < w.timeouts:
		resp.StatusCode = http.StatusInternalServerError
	case c.class == "get":
		resp.StatusCode, body = http.StatusOK, "{}"
		resp.Header.Set("ETag", fmt.Sprint(w.etags[row]))
	case c.etag != "" && c.etag != fmt.Sprint(w.etags[row]):
		resp.StatusCode = http.StatusPreconditionFailed
	case c.etag != "":
		w.etags[row]++
	case c.class == "batch":
		resp.StatusCode, body = http.StatusAccepted, changed
		resp.Header.Set("Content-Type", "multipart/mixed; boundary=b")
	case c.class == "scan" || c.class == "partition" || c.class == "list":
		resp.StatusCode, body = http.StatusOK, page(c.returned)
	case c.class == "poll":
		w.waiting[c.resource] -= c.returned
		resp.StatusCode, body = http.StatusOK, "<QueueMessagesList>"+strings.Repeat("<QueueMessage><MessageId>1</MessageId><InsertionTime>Thu, 01 Jan 2026 00:00:00 GMT</InsertionTime></QueueMessage>", c.returned)+"</QueueMessagesList>"
	case c.class == "message" && req.Method == http.MethodPost:
		w.waiting[c.resource]++
		resp.StatusCode = http.StatusCreated
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	s := w.seen[c.resource]
	if s == nil {
		s = newSeen()
		w.seen[c.resource] = s
	}
	s.add(c, resp.StatusCode)
	return resp
}

const changed = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--c--\r\n--b--\r\n"

var pagesOf sync.Map

func page(n int) string {
	if text, ok := pagesOf.Load(n); ok {
		return text.(string)
	}
	text := `{"value":[` + strings.TrimSuffix(strings.Repeat(`{"PartitionKey":"a","RowKey":"b"},`, n), ",") + "]}"
	pagesOf.Store(n, text)
	return text
}

// send sends one request; the pipeline repeats it if it is refused.
func (p *process) send(c *call, method, address, contentType, body string) (status int, header http.Header) {
	req, err := runtime.NewRequest(context.WithValue(context.Background(), callKey{}, c), method, address)
	if err != nil {
		panic(err)
	}
	if body != "" {
		if err := req.SetBody(streaming.NopCloser(strings.NewReader(body)), contentType); err != nil {
			panic(err)
		}
	}
	time.Sleep(p.w.think)
	resp, err := p.pipe.Do(req)
	if err != nil {
		panic(err)
	}
	return resp.StatusCode, resp.Header
}

const tablesURL, queuesURL = "https://account.table.core.windows.net/", "https://account.queue.core.windows.net/"

func row(table, pk, rk string) string {
	return tablesURL + table + "(PartitionKey='" + pk + "',RowKey='" + rk + "')"
}

func entity(pk, rk string) string {
	return `{"PartitionKey":"` + pk + `","RowKey":"` + rk + `","Value":"v"}`
}

func (p *process) insert(table, pk, rk string) {
	p.send(&call{class: "write", resource: table, pk: pk, inserted: 1}, http.MethodPost, tablesURL+table, "application/json", entity(pk, rk))
}

// insertLarge inserts an entity of 300 KiB, which may time out.
func (p *process) insertLarge(table, pk, rk string) {
	p.send(&call{class: "large", resource: table, pk: pk, inserted: 1}, http.MethodPost, tablesURL+table, "application/json",
		`{"PartitionKey":"`+pk+`","RowKey":"`+rk+`","Value":"`+large+`"}`)
}

var large = strings.Repeat("x", 300<<10)

func (p *process) get(table, pk, rk string) (etag string) {
	_, h := p.send(&call{class: "get", resource: table, pk: pk, rk: rk}, http.MethodGet, row(table, pk, rk), "", "")
	return h.Get("ETag")
}

// merge reports whether the entity still had the ETag, "" if that does not matter.
func (p *process) merge(table, pk, rk, etag string) bool {
	status, _ := p.send(&call{class: "write", resource: table, pk: pk, rk: rk, inserted: 1, etag: etag}, http.MethodPatch, row(table, pk, rk), "application/json", entity(pk, rk))
	return status == http.StatusNoContent
}

func (p *process) remove(table, pk, rk string) {
	p.send(&call{class: "write", resource: table, pk: pk, inserted: 1}, http.MethodDelete, row(table, pk, rk), "", "")
}

// query reads all pages: so many rows are examined in the partition, "" for the table, and of these so many returned.
func (p *process) query(table, pk, filter string, examined, returned int) {
	c := call{class: "list", resource: table, pk: pk}
	if returned < examined {
		c.class = "partition"
	}
	if pk == "" {
		c.class = "scan"
	} else if filter = "PartitionKey eq '" + pk + "' and " + filter; filter[len(filter)-1] == ' ' {
		filter = filter[:len(filter)-5]
	}
	address := tablesURL + table + "()"
	if filter != "" {
		address += "?$filter=" + strings.ReplaceAll(url.QueryEscape(filter), "+", "%20")
	}
	pages := max(1, (examined+pageRows-1)/pageRows)
	for i := range pages {
		c := c
		c.returned = returned*(i+1)/pages - returned*i/pages
		next := address
		if i > 0 {
			next += fmt.Sprintf("&NextPartitionKey=x%d&NextRowKey=x%d", i, i)
			if filter == "" {
				next = strings.Replace(next, "&", "?", 1)
			}
		}
		if status, _ := p.send(&c, http.MethodGet, next, "", ""); status != http.StatusOK {
			return
		}
	}
}

// batch inserts rows of one partition, or deletes them: a transaction for each 100.
func (p *process) batch(table, pk string, rks []string, remove bool) {
	const part = "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
	for len(rks) > 0 {
		n := min(100, len(rks))
		var b strings.Builder
		b.Grow(400 * n)
		b.WriteString("--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n")
		for _, rk := range rks[:n] {
			b.WriteString(part)
			if remove {
				b.WriteString("DELETE " + row(table, pk, rk) + " HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\nIf-Match: *\r\n\r\n\r\n")
				continue
			}
			b.WriteString("POST " + tablesURL + table + " HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\n" +
				"Content-Type: application/json\r\nPrefer: return-no-content\r\n\r\n" + entity(pk, rk) + "\r\n")
		}
		b.WriteString("--changeset_1--\r\n--batch_1--\r\n")
		p.send(&call{class: "batch", resource: table, pk: pk, inserted: n}, http.MethodPost, tablesURL+"$batch", "multipart/mixed; boundary=batch_1", b.String())
		rks = rks[n:]
	}
}

func (p *process) put(queue string) {
	p.send(&call{class: "message", resource: queue}, http.MethodPost, queuesURL+queue+"/messages", "application/xml", "<QueueMessage><MessageText>x</MessageText></QueueMessage>")
}

// receive returns the number of messages that it received.
func (p *process) receive(queue string, n int) int {
	c := &call{class: "poll", resource: queue, asked: n}
	p.send(c, http.MethodGet, fmt.Sprint(queuesURL, queue, "/messages?numofmessages=", n), "", "")
	return c.returned
}

func (p *process) done(queue string) {
	p.send(&call{class: "message", resource: queue}, http.MethodDelete, queuesURL+queue+"/messages/1?popreceipt=x", "", "")
}
