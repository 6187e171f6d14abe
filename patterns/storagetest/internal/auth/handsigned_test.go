package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// handSigned returns a request with the given string to sign, as clients other than the Go
// SDKs send it.
func handSigned(method, url, scheme, text string, headers ...string) *http.Request {
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Header.Set("Authorization", scheme+" "+account+":"+sign(text))
	return r
}

func TestEveryFormOfSharedKeyIsAccepted(t *testing.T) {
	date := time.Now().UTC().Format(http.TimeFormat)
	tests := []struct {
		name    string
		service op.Service
		request *http.Request
	}{
		{"table, SharedKey, Date", op.Table, handSigned("POST", "https://acct.table.core.windows.net/T", "SharedKey",
			"POST\nmd5\napplication/json\n"+date+"\n/acct/T",
			"Date", date, "Content-MD5", "md5", "Content-Type", "application/json")},
		{"table, SharedKey, x-ms-date takes precedence", op.Table, handSigned("GET", "https://acct.table.core.windows.net/T()?$top=3", "SharedKey",
			"GET\n\n\n"+date+"\n/acct/T()", "x-ms-date", date, "Date", "Mon, 01 Jan 2001 00:00:00 GMT")},
		{"table, SharedKeyLite, comp", op.Table, handSigned("GET", "http://127.0.0.1:10002/acct/T?x=y&comp=acl", "SharedKeyLite",
			date+"\n/acct/acct/T?comp=acl", "x-ms-date", date)},
		{"table, root", op.Table, handSigned("GET", "https://acct.table.core.windows.net?restype=service&comp=properties", "SharedKeyLite",
			date+"\n/acct/?comp=properties", "x-ms-date", date)},
		{"blob, SharedKeyLite", op.Blob, handSigned("GET", "https://acct.blob.core.windows.net/c/b%20b?comp=metadata&z=1", "SharedKeyLite",
			"GET\n\n\n\nx-ms-date:"+date+"\nx-ms-version:2021-04-10\n/acct/c/b%20b?comp=metadata",
			"x-ms-date", date, "x-ms-version", "2021-04-10")},
		{"blob, SharedKey, Date", op.Blob, handSigned("GET", "https://acct.blob.core.windows.net/c/b", "SharedKey",
			"GET\n\n\n\n\n\n"+date+"\n\n\n\n\nbytes=0-1\nx-ms-version:2021-04-10\n/acct/c/b",
			"Date", date, "x-ms-version", "2021-04-10", "Range", "bytes=0-1")},
		{"queue, plus kept in the query", op.Queue, handSigned("DELETE", "https://acct.queue.core.windows.net/q/messages/1?popreceipt=a+b", "SharedKey",
			"DELETE\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:"+date+"\n/acct/q/messages/1\npopreceipt:a+b", "x-ms-date", date)},
		{"queue, plus decoded as a space", op.Queue, handSigned("GET", "https://acct.queue.core.windows.net/?prefix=a+b&Comp=list&prefix=A", "SharedKey",
			"GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:"+date+"\n/acct/\ncomp:list\nprefix:A,a b", "x-ms-date", date)},
		{"queue, a length of 0 signed before 2015-02-21", op.Queue, handSigned("PUT", "https://acct.queue.core.windows.net/q", "SharedKey",
			"PUT\n\n\n0\n\n\n\n\n\n\n\n\nx-ms-date:"+date+"\nx-ms-version:2014-02-14\n/acct/q",
			"x-ms-date", date, "x-ms-version", "2014-02-14", "Content-Length", "0")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, refusal := verify(verifier(), test.request, test.service)
			wantCode(t, refusal, 0, "")
		})
	}
}

func TestSharedKeyIsRefusedWithTheCodeOfTheService(t *testing.T) {
	const url, text = "https://acct.table.core.windows.net/T", "\n/acct/T"
	now := time.Now()
	at := func(d time.Duration) string { return now.Add(d).UTC().Format(http.TimeFormat) }
	with := func(authorization string, headers ...string) *http.Request {
		r := handSigned("GET", url, "SharedKeyLite", "", headers...)
		r.Header.Set("Authorization", authorization)
		return r
	}
	tests := []struct {
		name    string
		request *http.Request
		status  int
		code    string
	}{
		{"14 minutes late", handSigned("GET", url, "SharedKeyLite", at(-14*time.Minute)+text, "x-ms-date", at(-14*time.Minute)), 0, ""},
		{"14 minutes early", handSigned("GET", url, "SharedKeyLite", at(14*time.Minute)+text, "x-ms-date", at(14*time.Minute)), 0, ""},
		{"16 minutes late", handSigned("GET", url, "SharedKeyLite", at(-16*time.Minute)+text, "x-ms-date", at(-16*time.Minute)), 403, "AuthenticationFailed"},
		{"16 minutes early", handSigned("GET", url, "SharedKeyLite", at(16*time.Minute)+text, "x-ms-date", at(16*time.Minute)), 403, "AuthenticationFailed"},
		{"no date", handSigned("GET", url, "SharedKeyLite", text), 403, "AuthenticationFailed"},
		{"an invalid date", handSigned("GET", url, "SharedKeyLite", "soon"+text, "x-ms-date", "soon"), 403, "AuthenticationFailed"},
		{"another account", with("SharedKeyLite other:"+sign(at(0)+text), "x-ms-date", at(0)), 403, "AuthenticationFailed"},
		{"a signature that is not base64", with("SharedKeyLite acct:%%%", "x-ms-date", at(0)), 403, "AuthenticationFailed"},
		{"a short signature", with("SharedKeyLite acct:AAAA", "x-ms-date", at(0)), 403, "AuthenticationFailed"},
		{"no signature", with("SharedKey acct", "x-ms-date", at(0)), 400, "InvalidAuthenticationInfo"},
		{"no credential", with("SharedKey", "x-ms-date", at(0)), 400, "InvalidAuthenticationInfo"},
		{"another scheme", with("Basic YTpi", "x-ms-date", at(0)), 400, "InvalidAuthenticationInfo"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, refusal := verify(verifier(), test.request, op.Table)
			wantCode(t, refusal, test.status, test.code)
			if refusal != nil && strings.Contains(refusal.Error(), string(key)) {
				t.Error("the error contains the key")
			}
		})
	}
}

func TestSkewIsMeasuredByTheClockOfTheService(t *testing.T) {
	v := verifier()
	v.Now = func() time.Time { return time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC) }
	date := "Mon, 03 Feb 2031 04:05:06 GMT"
	_, refusal := verify(v, handSigned("GET", "https://acct.table.core.windows.net/T", "SharedKeyLite", date+"\n/acct/T", "x-ms-date", date), op.Table)
	wantCode(t, refusal, 0, "")
}

func TestAnonymousRequestsAreChallenged(t *testing.T) {
	for _, s := range []op.Service{op.Table, op.Queue, op.Blob} {
		r, _ := http.NewRequest("GET", "https://acct.x.core.windows.net/T", nil)
		g, refusal := verify(verifier(), r, s)
		wantCode(t, refusal, 401, "NoAuthenticationInformation")
		if !strings.HasPrefix(refusal.Header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("challenge %q", refusal.Header.Get("WWW-Authenticate"))
		}
		wantCode(t, g.Allow(op.TableQuery, ""), 403, "AuthorizationFailure")
	}
}

func TestWellFormedBearerTokensAreAccepted(t *testing.T) {
	tests := []struct {
		name, url, token string
		status           int
		code             string
	}{
		{"jwt", "https://acct.table.core.windows.net/T", "eyJ0.eyJh-_~+/.c2ln==", 0, ""},
		{"opaque", "https://acct.table.core.windows.net/T", "fake", 0, ""},
		{"empty", "https://acct.table.core.windows.net/T", "", 401, "InvalidAuthenticationInfo"},
		{"only padding", "https://acct.table.core.windows.net/T", "==", 401, "InvalidAuthenticationInfo"},
		{"two words", "https://acct.table.core.windows.net/T", "a b", 401, "InvalidAuthenticationInfo"},
		{"refused by the account", "https://acct.table.core.windows.net/T", "revoked", 401, "InvalidAuthenticationInfo"},
		{"http", "http://acct.table.core.windows.net/T", "fake", 403, "AuthenticationFailed"},
	}
	v := verifier()
	v.Bearer = func(token string) bool { return token != "revoked" }
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, _ := http.NewRequest("GET", test.url, nil)
			r.Header.Set("Authorization", "Bearer "+test.token)
			g, refusal := verify(v, r, op.Table)
			wantCode(t, refusal, test.status, test.code)
			if test.status == 401 && refusal != nil && refusal.Header.Get("WWW-Authenticate") == "" {
				t.Error("no challenge")
			}
			if refusal == nil && (g.Kind() != auth.Bearer || g.Allow(op.TableSetACL, "T") != nil) {
				t.Errorf("grant %v", g.Kind())
			}
		})
	}
}
