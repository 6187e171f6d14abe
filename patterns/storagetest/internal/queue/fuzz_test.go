package queue_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

// element returns the text of the first element with that name.
func element(body, name string) string {
	_, tail, _ := strings.Cut(body, "<"+name+">")
	text, _, _ := strings.Cut(tail, "</"+name+">")
	return text
}

func escape(s string) string { return url.QueryEscape(s) }

// FuzzRequest sends arbitrary requests. servicetest.Do fails the test if the service would
// not send such a reply.
func FuzzRequest(f *testing.F) {
	f.Add("PUT", "/queue1", "", "", "", "")
	f.Add("GET", "/", "comp=list&include=metadata&maxresults=2&marker=YQ", "x-ms-version", "2024-08-04", "")
	f.Add("POST", "/queue1/messages", "visibilitytimeout=1&messagettl=2", "x-ms-meta-a", "b", text("a&amp;b"))
	f.Add("PUT", "/queue1/messages/id", "popreceipt=x&visibilitytimeout=1", "", "", text(""))
	f.Add("GET", "/queue1/messages", "numofmessages=32&peekonly=true", "X-Ms-Meta-A", "b", "")
	f.Add("PUT", "/queue1", "comp=acl", "", "", onePolicy("a", "raup"))
	f.Add("PUT", "/", "restype=service&comp=properties", "", "", "<StorageServiceProperties><Cors/></StorageServiceProperties>")
	f.Add("DELETE", "/queue1/messages/x", "popreceipt=", "Content-Length", "7", "")
	f.Fuzz(func(t *testing.T, method, path, query, head, value, body string) {
		s := service(t)
		servicetest.Send(t, s, "POST", "/queue1/messages", text("a"))
		r := (&http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "h", Header: http.Header{head: {value}},
			Body: http.NoBody, ContentLength: int64(len(body)),
		}).WithContext(t.Context())
		if body != "" {
			r.Body = readCloser{strings.NewReader(body)}
		}
		if head == "Content-Length" {
			r.ContentLength = int64(len(value)) * 7
		}
		servicetest.Do(t, s, r)
		servicetest.Send(t, s, "GET", "/?comp=list", "").Want(t, 200, "")
	})
}

// FuzzText checks that a text that is accepted is returned unchanged.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", " a ", "\t\r\n", "<&>\"'", "]]>", "\U0001F600", "\uFFFD", "\uFFFE", "\x00", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		srv := service(t)
		var b strings.Builder
		for _, r := range s {
			switch r {
			case '<':
				b.WriteString("&lt;")
			case '&':
				b.WriteString("&amp;")
			case '>':
				b.WriteString("&gt;")
			case '\r':
				b.WriteString("&#13;")
			default:
				b.WriteRune(r)
			}
		}
		if a := servicetest.Send(t, srv, "POST", "/queue1/messages", text(b.String())); a.Status != 201 {
			if a.Code != "InvalidXmlDocument" && a.Code != "RequestBodyTooLarge" {
				t.Errorf("%d %s", a.Status, a.Code)
			}
			return
		}
		q := newQueueOn(t, srv)
		r, err := q.DequeueMessage(t.Context(), nil)
		assert.NoError(t, err)
		assert.Equal(assert.Now(t), len(r.Messages), 1)
		got := ""
		if r.Messages[0].MessageText != nil {
			got = *r.Messages[0].MessageText
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); got != want && strings.ToValidUTF8(s, "") == s {
			t.Errorf("put %q, got %q", want, got)
		}
	})
}

func TestConcurrentGetsReturnEachMessageOnce(t *testing.T) {
	s := service(t)
	const each, workers = 50, 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for range workers {
		wg.Go(func() {
			for range each {
				servicetest.Send(t, s, "POST", "/queue1/messages", text("a"))
				a := servicetest.Send(t, s, "GET", "/queue1/messages", "")
				if id := element(a.Body, "MessageId"); id != "" {
					mu.Lock()
					seen[id]++
					mu.Unlock()
					servicetest.Send(t, s, "DELETE", "/queue1/messages/"+id+"?popreceipt="+escape(element(a.Body, "PopReceipt")), "").Want(t, 204, "")
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, len(seen), each*workers, "of", "messages were received")
	for id, n := range seen {
		assert.Equal(t, n, 1, id, "was received", "times")
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
