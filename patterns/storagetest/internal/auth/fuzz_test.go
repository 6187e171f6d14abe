package auth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// FuzzVerify sends arbitrary requests. They must not panic, and must be refused, because
// they are not signed with the key. Bearer tokens over https are an exception.
func FuzzVerify(f *testing.F) {
	seed := tableSAS("spk", "a", "epk", "b")
	seed.Set("sig", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	f.Add("GET", "/acct/People()", seed.Encode(), "", "x-ms-date: Mon, 03 Feb 2031 04:05:06 GMT", "10.0.0.1:1", 0)
	f.Add("PUT", "/c/%ff%00/../b", "sr=b&sv=2020-12-06&sig=%zz&sip=-&st=0000&se=9", "", "", "", 2)
	f.Add("", "", "ss=bqt&srt=sco&sp=r&sv=2020-12-06&se=2100-01-01&sig=AAAA", "", "", "[::1]", 1)
	f.Add("POST", "//$batch", "comp&comp=%&=&&", "SharedKeyLite acct:AAAA", "x-ms-meta--a: b\nX-Ms-: c\ncontent-length: -7", "", 0)
	f.Add("GET", "/q", "a=+&A=%2b", "SharedKey acct:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "x-ms-date:Mon, 03 Feb 2031 04:05:06 GMT\nx-ms-a_:1\nx-ms-a1:2", "", 1)
	f.Add("GET", "/T", "", "Bearer a.b.c", "", "", 0)
	f.Fuzz(func(t *testing.T, method, path, query, authorization, headers, remote string, service int) {
		r := &http.Request{Method: method, URL: &url.URL{Scheme: "https", Path: path, RawPath: path, RawQuery: query},
			Header: http.Header{}, RemoteAddr: remote, ContentLength: int64(len(path) - 3)}
		for line := range strings.SplitSeq(headers, "\n") {
			name, value, _ := strings.Cut(line, ":")
			r.Header[name] = append(r.Header[name], value)
		}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		g, refusal := verify(verifier(), r, []op.Service{op.Table, op.Queue, op.Blob}[uint(service)%3])
		if refusal == nil && g.Kind() != auth.Bearer {
			t.Errorf("accepted: %v", g.Kind())
		}
		if refusal != nil && (refusal.Status < 400 || refusal.Status > 403 || refusal.Code == "" || refusal.Message == "") {
			t.Errorf("refused with %d %v", refusal.Status, refusal)
		}
		if refusal != nil && g.Allow(op.TableQuery, "") == nil {
			t.Error("refused with a grant")
		}
	})
}
