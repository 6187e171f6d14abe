package queue_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/queue"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

// server is a service with an HTTP interface.
type server struct {
	http.Handler
	*queue.Service
}

func text(s string) string {
	return "<QueueMessage><MessageText>" + s + "</MessageText></QueueMessage>"
}

// service returns a service with queue1, which is empty.
func service(t testing.TB) server {
	t.Helper()
	service := queue.New()
	s := server{servicetest.Handler(op.Queue, service.Serve), service}
	servicetest.Send(t, s, "PUT", "/queue1", "").Want(t, 201, "")
	return s
}

func TestInvalidRequestsAreRefusedWithStatusAndCode(t *testing.T) {
	s := service(t)
	for _, c := range []struct {
		why, method, target, body string
		head                      []string
		status                    int
		code                      string
	}{
		{"short name", "PUT", "/ab", "", nil, 400, "OutOfRangeInput"},
		{"long name", "PUT", "/" + strings.Repeat("a", 64), "", nil, 400, "OutOfRangeInput"},
		{"upper case", "PUT", "/Queue", "", nil, 400, "InvalidResourceName"},
		{"double dash", "PUT", "/a--b", "", nil, 400, "InvalidResourceName"},
		{"dash in front", "PUT", "/-ab", "", nil, 400, "InvalidResourceName"},
		{"dash at the end", "PUT", "/ab-", "", nil, 400, "InvalidResourceName"},
		{"unknown path", "GET", "/queue1/other", "", nil, 400, "InvalidUri"},
		{"deep path", "GET", "/queue1/messages/a/b", "", nil, 400, "InvalidUri"},
		{"root without operation", "GET", "/", "", nil, 400, "InvalidUri"},
		{"unknown operation", "GET", "/?comp=what", "", nil, 400, "InvalidQueryParameterValue"},
		{"unknown operation on a queue", "PUT", "/queue1?comp=what", "", nil, 400, "InvalidQueryParameterValue"},
		{"wrong verb", "POST", "/queue1", "", nil, 405, "UnsupportedHttpVerb"},
		{"wrong verb on messages", "PATCH", "/queue1/messages", "", nil, 405, "UnsupportedHttpVerb"},
		{"wrong verb on a message", "GET", "/queue1/messages/x", "", nil, 405, "UnsupportedHttpVerb"},
		{"bad query", "GET", "/?comp=%zz", "", nil, 400, "RequestUrlFailedToParse"},
		{"bad timeout", "GET", "/?comp=list&timeout=x", "", nil, 400, "InvalidQueryParameterValue"},
		{"bad version", "GET", "/?comp=list", "", []string{"x-ms-version", "new"}, 400, "InvalidHeaderValue"},
		{"statistics on the primary", "GET", "/?restype=service&comp=stats", "", nil, 400, "InvalidQueryParameterValue"},

		{"list none", "GET", "/?comp=list&maxresults=0", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"list fewer than none", "GET", "/?comp=list&maxresults=-1", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"list not a number", "GET", "/?comp=list&maxresults=ten", "", nil, 400, "InvalidQueryParameterValue"},
		{"list past any number", "GET", "/?comp=list&maxresults=99999999999999999999", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"foreign marker", "GET", "/?comp=list&marker=%21", "", nil, 400, "InvalidMarker"},
		{"unknown include", "GET", "/?comp=list&include=all", "", nil, 400, "InvalidQueryParameterValue"},

		{"metadata not an identifier", "PUT", "/queue1?comp=metadata", "", []string{"x-ms-meta-a-b", "1"}, 400, "InvalidMetadata"},
		{"metadata begins with a digit", "PUT", "/queue1?comp=metadata", "", []string{"x-ms-meta-1a", "1"}, 400, "InvalidMetadata"},
		{"metadata without a name", "PUT", "/queue1?comp=metadata", "", []string{"x-ms-meta-", "1"}, 400, "EmptyMetadataKey"},
		{"metadata twice", "PUT", "/queue1?comp=metadata", "", []string{"x-ms-meta-a", "1", "x-ms-meta-A", "2"}, 400, "InvalidMetadata"},
		{"metadata not ASCII", "PUT", "/queue1?comp=metadata", "", []string{"x-ms-meta-a", "ü"}, 400, "InvalidMetadata"},
		{"metadata too large", "PUT", "/queue1?comp=metadata", "", []string{"x-ms-meta-a", strings.Repeat("v", 8<<10)}, 400, "MetadataTooLarge"},
		{"create with other metadata", "PUT", "/queue1", "", []string{"x-ms-meta-a", "1"}, 409, "QueueAlreadyExists"},

		{"no such queue", "DELETE", "/queue2", "", nil, 404, "QueueNotFound"},
		{"no such queue, metadata", "HEAD", "/queue2?comp=metadata", "", nil, 404, "QueueNotFound"},
		{"no such queue, get", "GET", "/queue2/messages", "", nil, 404, "QueueNotFound"},
		{"no such queue, clear", "DELETE", "/queue2/messages", "", nil, 404, "QueueNotFound"},

		{"no body", "POST", "/queue1/messages", "", nil, 400, "InvalidXmlDocument"},
		{"not closed", "POST", "/queue1/messages", "<QueueMessage><MessageText>", nil, 400, "InvalidXmlDocument"},
		{"two documents", "POST", "/queue1/messages", text("a") + text("b"), nil, 400, "InvalidXmlDocument"},
		{"doctype", "POST", "/queue1/messages", "<!DOCTYPE x>" + text("a"), nil, 400, "InvalidXmlDocument"},
		{"control character", "POST", "/queue1/messages", text("a\x01b"), nil, 400, "InvalidXmlDocument"},
		{"control character by reference", "POST", "/queue1/messages", text("a&#1;b"), nil, 400, "InvalidXmlDocument"},
		{"unknown entity", "POST", "/queue1/messages", text("&nbsp;"), nil, 400, "InvalidXmlDocument"},
		{"not UTF-8", "POST", "/queue1/messages", text("\xff\xfe"), nil, 400, "InvalidXmlDocument"},
		{"another encoding", "POST", "/queue1/messages", `<?xml version="1.0" encoding="utf-16"?>` + text("a"), nil, 400, "InvalidXmlDocument"},
		{"another document", "POST", "/queue1/messages", "<Message><MessageText>a</MessageText></Message>", nil, 400, "InvalidXmlDocument"},
		{"nested too deep", "POST", "/queue1/messages", text(strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100)), nil, 400, "InvalidXmlDocument"},
		{"no text", "POST", "/queue1/messages", "<QueueMessage></QueueMessage>", nil, 400, "InvalidXmlDocument"},
		{"absurd length", "POST", "/queue1/messages", "", []string{"Content-Length", "9000000000"}, 413, "RequestBodyTooLarge"},
		{"length not announced", "POST", "/queue1/messages", text("a"), []string{"Content-Length", "-1"}, 411, "MissingContentLengthHeader"},
		{"shorter than announced", "POST", "/queue1/messages", text("a"), []string{"Content-Length", "1000"}, 400, "InvalidInput"},

		{"an old version lives for 7 days", "POST", "/queue1/messages?messagettl=604801", text("a"), []string{"x-ms-version", "2016-05-31"}, 400, "OutOfRangeQueryParameterValue"},
		{"an old version has no end", "POST", "/queue1/messages?messagettl=-1", text("a"), []string{"x-ms-version", "2016-05-31"}, 400, "OutOfRangeQueryParameterValue"},
		{"hidden for over 7 days", "POST", "/queue1/messages?messagettl=-1&visibilitytimeout=604801", text("a"), nil, 400, "OutOfRangeQueryParameterValue"},

		{"get none", "GET", "/queue1/messages?numofmessages=0", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"get 33", "GET", "/queue1/messages?numofmessages=33", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"peek 33", "GET", "/queue1/messages?peekonly=true&numofmessages=33", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"get without hiding", "GET", "/queue1/messages?visibilitytimeout=0", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"get and hide for over 7 days", "GET", "/queue1/messages?visibilitytimeout=604801", "", nil, 400, "OutOfRangeQueryParameterValue"},
		{"peek neither true nor false", "GET", "/queue1/messages?peekonly=maybe", "", nil, 400, "InvalidQueryParameterValue"},

		{"delete without receipt", "DELETE", "/queue1/messages/x", "", nil, 400, "MissingRequiredQueryParameter"},
		{"delete what is not there", "DELETE", "/queue1/messages/x?popreceipt=x", "", nil, 404, "MessageNotFound"},
		{"update without visibility", "PUT", "/queue1/messages/x?popreceipt=x", text("a"), nil, 400, "MissingRequiredQueryParameter"},
		{"update without receipt", "PUT", "/queue1/messages/x?visibilitytimeout=1", text("a"), nil, 400, "MissingRequiredQueryParameter"},
		{"update what is not there", "PUT", "/queue1/messages/x?visibilitytimeout=1&popreceipt=x", text("a"), nil, 404, "MessageNotFound"},

		{"two policies of one id", "PUT", "/queue1?comp=acl", strings.Replace(onePolicy("a", "r"), "</SignedIdentifiers>", onePolicy("a", "r")[len("<SignedIdentifiers>"):], 1), nil, 400, "InvalidXmlNodeValue"},

		{"settings not XML", "PUT", "/?restype=service&comp=properties", "x", nil, 400, "InvalidXmlDocument"},
		{"settings without version", "PUT", "/?restype=service&comp=properties", "<StorageServiceProperties><Logging/></StorageServiceProperties>", nil, 400, "InvalidXmlDocument"},
	} {
		t.Run(c.why, func(t *testing.T) {
			servicetest.Send(t, s, c.method, c.target, c.body, c.head...).Want(t, c.status, c.code)
		})
	}
	if a := servicetest.Send(t, s, "GET", "/queue1?comp=metadata", ""); a.Header.Get("X-Ms-Approximate-Messages-Count") != "0" {
		t.Error("a refused request has added a message")
	}
}

func onePolicy(id, permission string) string {
	return "<SignedIdentifiers><SignedIdentifier><Id>" + id + "</Id><AccessPolicy><Permission>" + permission + "</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
}

func policies(n int) string {
	var b strings.Builder
	b.WriteString("<SignedIdentifiers>")
	for i := range n {
		b.WriteString("<SignedIdentifier><Id>" + string(rune('a'+i)) + "</Id></SignedIdentifier>")
	}
	return b.String() + "</SignedIdentifiers>"
}

func TestValuesAtTheLimitsAreAccepted(t *testing.T) {
	s := service(t)
	for _, c := range []struct{ why, method, target, body string }{
		{"64 KiB", "POST", "/queue1/messages", text(strings.Repeat("x", 64<<10))},
		{"64 KiB, all escaped", "POST", "/queue1/messages", text(strings.Repeat("&quot;", 64<<10))},
		{"no text", "POST", "/queue1/messages", text("")},
		{"for ever", "POST", "/queue1/messages?messagettl=-1&visibilitytimeout=604800", text("a")},
		{"longest number", "POST", "/queue1/messages?messagettl=2147483647", text("a")},
		{"markup", "POST", "/queue1/messages", text("a<b>c</b>")},
		{"BOM", "POST", "/queue1/messages", "\uFEFF" + text("a")},
		{"five policies", "PUT", "/queue1?comp=acl", policies(5)},
		{"get 32", "GET", "/queue1/messages?numofmessages=32&visibilitytimeout=604800", ""},
		{"list more than 5,000", "GET", "/?comp=list&maxresults=1000000", ""},
	} {
		if a := servicetest.Send(t, s, c.method, c.target, c.body); a.Status >= 300 {
			t.Errorf("%s: %d %s", c.why, a.Status, a.Code)
		}
	}
}

func TestMarkupIsRemovedFromAText(t *testing.T) {
	s := service(t)
	servicetest.Send(t, s, "POST", "/queue1/messages", text("a<b>c</b>&lt;d&gt;"))
	assert.Contains(t, servicetest.Send(t, s, "GET", "/queue1/messages", "").Body, "<MessageText>ac&lt;d&gt;</MessageText>")
}

func TestPoliciesCanBeRead(t *testing.T) {
	s := service(t)
	servicetest.Send(t, s, "PUT", "/queue1?comp=acl", onePolicy("p", "rp")).Want(t, 204, "")
	if p := s.Policies("queue1"); len(p) != 1 || p[0].ID != "p" || p[0].Permission != "rp" {
		t.Errorf("%+v", p)
	}
	servicetest.Send(t, s, "PUT", "/queue1?comp=acl", "").Want(t, 204, "")
	if s.Policies("queue1") != nil || s.Policies("none") != nil {
		t.Error("an empty Set Queue ACL removes everything")
	}
}
