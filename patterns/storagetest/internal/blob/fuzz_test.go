package blob_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

func request(t testing.TB, method, target string) *http.Request {
	t.Helper()
	u := assert.Must(url.Parse(target))(t)
	return &http.Request{Method: method, URL: u, Host: "account.example", Header: http.Header{}, Body: http.NoBody}
}

// FuzzRequest sends arbitrary requests. servicetest.Do fails the test if the service would
// not send such a reply. Two headers are arbitrary, so that combinations are tested.
func FuzzRequest(f *testing.F) {
	f.Add("PUT", "/c11/b", "", "X-Ms-Blob-Type", "BlockBlob", "If-None-Match", "*", "x")
	f.Add("PUT", "/c11/b", "comp=block&blockid=AAAA", "Content-Md5", "x", "X-Ms-Content-Crc64", "y", "data")
	f.Add("PUT", "/c11/b", "comp=blocklist", "X-Ms-Version", "2015-12-11", "X-Ms-Meta-A", "b", blockList("Latest", "AAAA"))
	f.Add("PUT", "/c11/a", "comp=appendblock", "X-Ms-Blob-Condition-Appendpos", "0", "X-Ms-Blob-Condition-Maxsize", "9", "x")
	f.Add("GET", "/c11/b", "", "Range", "bytes=1-2", "X-Ms-Range-Get-Content-Md5", "true", "")
	f.Add("GET", "/c11", "restype=container&comp=list&prefix=a&delimiter=/&marker=YQ&maxresults=1&include=metadata,copy", "", "", "", "", "")
	f.Add("PUT", "/c11/b", "comp=lease", "X-Ms-Lease-Action", "acquire", "X-Ms-Lease-Duration", "15", "")
	f.Add("PUT", "/c11/b", "comp=lease", "X-Ms-Lease-Action", "break", "X-Ms-Lease-Break-Period", "0", "")
	f.Add("PUT", "/c11/x", "", "X-Ms-Copy-Source", "https://account.example/c11/b", "X-Ms-Blob-Type", "BlockBlob", "")
	f.Add("PUT", "/c11/b", "comp=block&blockid=AAAA", "X-Ms-Copy-Source", "https://account.example/c11/b", "X-Ms-Source-Range", "bytes=0-3", "")
	f.Add("PUT", "/c11/b", "comp=tags", "", "", "", "", "<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>")
	f.Add("PUT", "/c11", "restype=container&comp=acl", "X-Ms-Blob-Public-Access", "blob", "", "", "<SignedIdentifiers/>")
	f.Add("HEAD", "/c11/b", "", "If-Match", "*", "If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT", "")
	f.Add("DELETE", "/c11", "restype=container", "X-Ms-Lease-Id", guid, "", "", "")
	f.Add("GET", "/", "comp=list&include=metadata", "", "", "", "", "")
	f.Add("PUT", "/c11/b", "comp=tier", "X-Ms-Access-Tier", "Cool", "X-Ms-Tags", "a=b&c=d", "")
	f.Add("PUT", "/c11/b", "comp=snapshot", "X-Ms-Meta-A", "b", "If-Match", "*", "")
	f.Add("DELETE", "/c11/b", "snapshot=2021-01-01T01:01:01.0000000Z", "X-Ms-Delete-Snapshots", "include", "", "", "")
	f.Add("GET", "/c11", "restype=container&comp=list&include=snapshots&marker=YgB-", "", "", "", "", "")
	f.Add("POST", "/", "comp=batch", "Content-Type", "multipart/mixed; boundary=b", "", "", "--b\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nDELETE /c11/b HTTP/1.1\r\n\r\n--b--")
	f.Add("PUT", "/c11/x", "", "X-Ms-Copy-Source", "https://account.example/c11/b?snapshot=x", "X-Ms-Requires-Sync", "true", "")
	f.Add("DELETE", "/c11/b", "", "X-Ms-Access-Tier-If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT", "X-Ms-Lease-Id", guid, "")
	f.Fuzz(func(t *testing.T, method, path, query, head1, value1, head2, value2, body string) {
		s := filled(t)
		r := (&http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "account.example",
			Header: http.Header{http.CanonicalHeaderKey(head1): {value1}},
			Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}).WithContext(t.Context())
		r.Header.Add(head2, value2)
		if head1 == "Content-Length" {
			r.ContentLength = int64(len(value1)) * 1_000_003
		}
		servicetest.Do(t, s, r)
		for _, target := range []string{"/?comp=list", "/c11?restype=container&comp=list"} {
			if a := servicetest.Send(t, s, "GET", target, ""); a.Status != 200 && a.Code != "ContainerNotFound" {
				t.Errorf("%s afterwards: %d %s", target, a.Status, a.Code)
			}
		}
	})
}
