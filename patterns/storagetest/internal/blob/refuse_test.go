package blob_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/blob"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

// server is a service with an HTTP interface.
type server struct {
	http.Handler
	*blob.Service
}

// filled returns a service with container c11, which contains the block blob "b" (one block
// with id AAAA and content "0123456789") and the empty append blob "a".
func filled(t testing.TB) server {
	t.Helper()
	service := blob.New(nil)
	s := server{servicetest.Handler(op.Blob, service.Serve), service}
	send := func(target, body string, head ...string) {
		t.Helper()
		if a := servicetest.Send(t, s, "PUT", target, body, head...); a.Status != 201 {
			t.Fatalf("%s: %d %s", target, a.Status, a.Code)
		}
	}
	send("/c11?restype=container", "")
	send("/c11/b?comp=block&blockid=AAAA", "0123456789")
	send("/c11/b?comp=blocklist", blockList("Latest", "AAAA"))
	send("/c11/a", "", "x-ms-blob-type", "AppendBlob")
	return s
}

// blockList returns the document with the kind, id pairs.
func blockList(pairs ...string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?><BlockList>")
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("<" + pairs[i] + ">" + pairs[i+1] + "</" + pairs[i] + ">")
	}
	return b.String() + "</BlockList>"
}

const guid = "11111111-2222-3333-4444-555555555555"

func TestInvalidRequestsAreRefusedWithStatusAndCode(t *testing.T) {
	put := []string{"x-ms-blob-type", "BlockBlob"}
	with := func(head ...string) []string { return append([]string{"x-ms-blob-type", "BlockBlob"}, head...) }
	for _, c := range []struct {
		why, method, target, body string
		head                      []string
		status                    int
		code                      string
	}{
		{"blob with a type of resource", "PUT", "/c11/b?restype=container", "", nil, 400, "InvalidQueryParameterValue"},
		{"root without operation", "GET", "/", "", nil, 400, "InvalidUri"},
		{"unknown operation", "GET", "/?comp=what", "", nil, 400, "InvalidQueryParameterValue"},
		{"unknown operation on a blob", "PUT", "/c11/b?comp=what", "", nil, 400, "InvalidQueryParameterValue"},
		{"wrong verb", "PATCH", "/c11/b", "", nil, 405, "UnsupportedHttpVerb"},
		{"wrong verb on an operation", "GET", "/c11/b?comp=lease", "", nil, 405, "UnsupportedHttpVerb"},
		{"no root container", "GET", "/b", "", nil, 404, "ContainerNotFound"},
		{"control character in a name", "PUT", "/c11/a%01b", "", put, 400, "InvalidResourceName"},
		{"name not UTF-8", "PUT", "/c11/a%ff", "", put, 400, "InvalidUri"},

		{"no such container", "GET", "/c12?restype=container", "", nil, 404, "ContainerNotFound"},
		{"list with a foreign marker", "GET", "/c11?restype=container&comp=list&marker=%21", "", nil, 400, "InvalidQueryParameterValue"},

		{"put without length", "PUT", "/c11/b", "x", with("Content-Length", "-1"), 411, "MissingContentLengthHeader"},
		{"put too much", "PUT", "/c11/b", "", with("Content-Length", "5242880001"), 413, "RequestBodyTooLarge"},
		{"put too much for 2019", "PUT", "/c11/b", "", with("Content-Length", "268435457", "x-ms-version", "2019-07-07"), 413, "RequestBodyTooLarge"},
		{"put too much for 2015", "PUT", "/c11/b", "", with("Content-Length", "67108865", "x-ms-version", "2015-12-11"), 413, "RequestBodyTooLarge"},
		{"put less than announced", "PUT", "/c11/b", "x", with("Content-Length", "5000000000"), 400, "InvalidInput"},
		{"put with a bad MD5 to store", "PUT", "/c11/b", "x", with("x-ms-blob-content-md5", "!"), 400, "InvalidMd5"},
		{"put with a bad CRC64", "PUT", "/c11/b", "x", with("x-ms-content-crc64", "AAA="), 400, "InvalidHeaderValue"},
		{"put with both sums", "PUT", "/c11/b", "", with("x-ms-content-crc64", "AAAAAAAAAAA=", "Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="), 400, "BothCrc64AndMd5HeaderPresent"},
		{"put a length of page blobs", "PUT", "/c11/b", "x", with("x-ms-blob-content-length", "512"), 400, "InvalidHeaderValue"},
		{"put only if there", "PUT", "/c11/new", "x", with("If-Match", "*"), 412, "ConditionNotMet"},
		{"put with two tags", "PUT", "/c11/b", "x", with("If-Match", `"a","b"`), 400, "InvalidHeaderValue"},
		{"put with contrary conditions", "PUT", "/c11/b", "x", with("If-Match", "*", "If-None-Match", "x"), 400, "MultipleConditionHeadersNotSupported"},
		{"put with a bad lease", "PUT", "/c11/b", "x", with("x-ms-lease-id", "mine"), 400, "InvalidHeaderValue"},
		{"put with eleven tags", "PUT", "/c11/b", "x", with("x-ms-tags", "a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k="), 400, "TagsTooLarge"},

		{"block too large", "PUT", "/c11/b?comp=block&blockid=AAAA", "", []string{"Content-Length", "4194304001"}, 413, "RequestBodyTooLarge"},
		{"block too large for 2019", "PUT", "/c11/b?comp=block&blockid=AAAA", "", []string{"Content-Length", "104857601", "x-ms-version", "2019-07-07"}, 413, "RequestBodyTooLarge"},
		{"block too large for 2015", "PUT", "/c11/b?comp=block&blockid=AAAA", "", []string{"Content-Length", "4194305", "x-ms-version", "2015-12-11"}, 413, "RequestBodyTooLarge"},
		{"list of something else", "PUT", "/c11/b?comp=blocklist", blockList("Newest", "AAAA"), nil, 400, "InvalidXmlDocument"},
		{"list with a bad id", "PUT", "/c11/b?comp=blocklist", blockList("Latest", "!"), nil, 400, "InvalidBlockId"},
		{"list with another MD5", "PUT", "/c11/b?comp=blocklist", blockList(), []string{"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}, 400, "Md5Mismatch"},
		{"list of an append blob", "PUT", "/c11/a?comp=blocklist", blockList(), nil, 409, "InvalidBlobType"},
		{"list only if new, though its blocks are gone", "PUT", "/c11/b?comp=blocklist", blockList("Uncommitted", "AAAA"), []string{"If-None-Match", "*"}, 409, "BlobAlreadyExists"},
		{"list of 50,001 blocks", "PUT", "/c11/b?comp=blocklist", "<BlockList>" + strings.Repeat("<Latest>AAAA</Latest>", 50_001) + "</BlockList>", nil, 400, "BlockListTooLong"},

		{"append too much", "PUT", "/c11/a?comp=appendblock", "", []string{"Content-Length", "104857601"}, 413, "RequestBodyTooLarge"},
		{"append too much for 2021", "PUT", "/c11/a?comp=appendblock", "", []string{"Content-Length", "4194305", "x-ms-version", "2021-12-02"}, 413, "RequestBodyTooLarge"},

		{"delete nothing", "DELETE", "/c11/new", "", nil, 404, "BlobNotFound"},
		{"read with both sums", "GET", "/c11/b", "", []string{"x-ms-range-get-content-md5", "true", "x-ms-range-get-content-crc64", "true", "Range", "bytes=0-"}, 400, "InvalidInput"},
		{"read if not there", "GET", "/c11/b", "", []string{"If-None-Match", "*"}, 400, "UnsatisfiableCondition"},

		{"renew without id", "PUT", "/c11/b?comp=lease", "", []string{"x-ms-lease-action", "renew"}, 400, "MissingRequiredHeader"},
		{"change without a new id", "PUT", "/c11/b?comp=lease", "", []string{"x-ms-lease-action", "change", "x-ms-lease-id", guid}, 400, "MissingRequiredHeader"},

		{"copy from no address", "PUT", "/c11/b", "", []string{"x-ms-copy-source", "b"}, 400, "InvalidHeaderValue"},
		{"copy from another account", "PUT", "/c11/b", "", []string{"x-ms-copy-source", "https://other.example/c11/b"}, 400, "CopyAcrossAccountsNotSupported"},
		{"copy from a missing blob", "PUT", "/c11/b", "", []string{"x-ms-copy-source", "https://account.example/c11/new"}, 404, "CannotVerifyCopySource"},
		{"copy onto another type", "PUT", "/c11/a", "", []string{"x-ms-copy-source", "https://account.example/c11/b"}, 409, "InvalidBlobType"},
		{"copy of another version", "PUT", "/c11/x", "", []string{"x-ms-copy-source", "https://account.example/c11/b", "x-ms-source-if-match", `"0x1"`}, 412, "SourceConditionNotMet"},
		{"abort no copy", "PUT", "/c11/b?comp=copy&copyid=" + guid, "", []string{"x-ms-copy-action", "abort"}, 409, "NoPendingCopyOperation"},
		{"abort without an id of a copy", "PUT", "/c11/none?comp=copy&copyid=x", "", []string{"x-ms-copy-action", "abort"}, 400, "InvalidQueryParameterValue"},

		{"tags not XML", "PUT", "/c11/b?comp=tags", "x", nil, 400, "InvalidXmlDocument"},
		{"tier of an append blob", "PUT", "/c11/a?comp=tier", "", []string{"x-ms-access-tier", "Cool"}, 409, "InvalidBlobType"},
		{"page blob", "PUT", "/c11/p", "", []string{"x-ms-blob-type", "PageBlob", "x-ms-blob-content-length", "512"}, 501, "NotImplemented"},
		{"snapshot of a snapshot", "PUT", "/c11/b?comp=snapshot&snapshot=2021-01-01T01:01:01.0000000Z", "", nil, 400, "InvalidQueryParameterValue"},
		{"read a missing snapshot", "GET", "/c11/b?snapshot=2021-01-01T01:01:01.0000000Z", "", nil, 404, "BlobNotFound"},
		{"delete a snapshot with its snapshots", "DELETE", "/c11/b?snapshot=2021-01-01T01:01:01.0000000Z", "", []string{"x-ms-delete-snapshots", "include"}, 400, "InvalidHeaderValue"},
		{"tag condition", "GET", "/c11/b", "", []string{"x-ms-if-tags", "a='b'"}, 501, "NotImplemented"},
		{"own key", "GET", "/c11/b", "", []string{"x-ms-encryption-key", "k"}, 501, "NotImplemented"},
		{"archive", "PUT", "/c11/b?comp=tier", "", []string{"x-ms-access-tier", "Archive"}, 501, "NotImplemented"},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := filled(t)
			servicetest.Send(t, s, c.method, c.target, c.body, c.head...).Want(t, c.status, c.code)
			assert.Equal(t, servicetest.Send(t, s, "GET", "/c11/b", "").Body, "0123456789", "a refused request has changed the blob")
			if a := servicetest.Send(t, s, "GET", "/c11/a", ""); a.Body != "" || a.Header.Get("X-Ms-Blob-Committed-Block-Count") != "0" {
				t.Errorf("a refused request has changed the append blob: %q", a.Body)
			}
		})
	}
}

func TestConditionalReads(t *testing.T) {
	s := filled(t)
	tag := servicetest.Send(t, s, "HEAD", "/c11/b", "").Header.Get("Etag")
	const past, future = "Mon, 01 Jan 2001 00:00:00 GMT", "Tue, 01 Jan 2999 00:00:00 GMT"
	// If-Match && If-Unmodified-Since && (If-None-Match || If-Modified-Since)
	for _, c := range []struct {
		why    string
		head   []string
		status int
	}{
		{"none", nil, 200},
		{"this version", []string{"If-Match", tag}, 200},
		{"this version without quotes", []string{"If-Match", strings.Trim(tag, `"`)}, 200},
		{"one of several versions", []string{"If-Match", `"0x1", ` + tag}, 200},
		{"not this version", []string{"If-None-Match", tag}, 304},
		{"not another version", []string{"If-None-Match", `"0x1"`}, 200},
		{"none of several", []string{"If-None-Match", `"0x1",` + tag}, 304},
		{"either is enough: tag", []string{"If-None-Match", `"0x1"`, "If-Modified-Since", future}, 200},
		{"either is enough: time", []string{"If-None-Match", tag, "If-Modified-Since", past}, 200},
		{"neither", []string{"If-None-Match", tag, "If-Modified-Since", future}, 304},
		{"412 goes before 304", []string{"If-None-Match", tag, "If-Match", `"0x1"`}, 412},
		{"both of the first kind", []string{"If-Match", tag, "If-Unmodified-Since", past}, 412},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			assert.Equal(t, servicetest.Send(t, s, method, "/c11/b", "", c.head...).Status, c.status, method, c.why)
		}
	}
}

func TestRangedReads(t *testing.T) {
	s := filled(t)
	for _, c := range []struct {
		head         []string
		status       int
		body, ranged string
	}{
		{[]string{"Range", "bytes=0-"}, 206, "0123456789", "bytes 0-9/10"},
		{[]string{"Range", "bytes=9-9"}, 206, "9", "bytes 9-9/10"},
		{[]string{"Range", "bytes=3-5"}, 206, "345", "bytes 3-5/10"},
		{[]string{"Range", "bytes=8-100"}, 206, "89", "bytes 8-9/10"},
		{[]string{"Range", "bytes=0-1", "x-ms-range", "bytes=2-3"}, 206, "23", "bytes 2-3/10"},
		{[]string{"Range", "bytes=-3"}, 200, "0123456789", ""},
		{[]string{"Range", "lines=1-2"}, 200, "0123456789", ""},
	} {
		a := servicetest.Send(t, s, "GET", "/c11/b", "", c.head...)
		if a.Status != c.status || a.Body != c.body || a.Header.Get("Content-Range") != c.ranged {
			t.Errorf("%v: %d %q %q", c.head, a.Status, a.Body, a.Header.Get("Content-Range"))
		}
	}
	a := servicetest.Send(t, s, "GET", "/c11/b", "", "Range", "bytes=0-0", "x-ms-range-get-content-md5", "true")
	if got := a.Header.Get("Content-Md5"); got != "z80ghJXVZe9m59/5+Ydk2g==" { // of "0"
		t.Errorf("MD5 of the range: %s", got)
	}
	if a := servicetest.Send(t, s, "GET", "/c11/b", "", "Range", "bytes=20-"); a.Header.Get("Content-Range") != "bytes */10" {
		t.Errorf("416 with Content-Range %q", a.Header.Get("Content-Range"))
	}
}
