package auth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// handSAS returns a query with the name and value pairs, signed over text.
func handSAS(text []string, pairs ...string) string {
	q := url.Values{"sig": {sign(strings.Join(text, "\n"))}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

func TestTheTextOfABlobSASDependsOnItsVersion(t *testing.T) {
	const se, resource = "2100-01-01T00:00:00Z", "/blob/acct/c/b"
	overrides := []string{"cache", "disposition", "encoding", "language", "type"}
	text := func(version string, own ...string) []string {
		return append(append([]string{"r", "", se, resource, "", "", "", version}, own...), overrides...)
	}
	tests := []struct {
		version string
		own     []string
		code    string
	}{
		{"2015-04-05", nil, ""},
		{"2018-03-28", nil, ""},
		{"2018-03-28", []string{"b", ""}, "AuthenticationFailed"},
		{"2018-11-09", []string{"b", ""}, ""},
		{"2020-10-02", []string{"b", ""}, ""},
		{"2020-10-02", []string{"b", "", "scope"}, "AuthenticationFailed"},
		{"2020-12-06", []string{"b", "", "scope"}, ""},
		{"2026-04-06", []string{"b", "", "scope"}, ""},
		{"2026-04-06", []string{"b", ""}, "AuthenticationFailed"},
	}
	for _, test := range tests {
		query := handSAS(text(test.version, test.own...), "sp", "r", "se", se, "sv", test.version, "sr", "b", "ses", "scope",
			"rscc", "cache", "rscd", "disposition", "rsce", "encoding", "rscl", "language", "rsct", "type")
		_, refusal := verify(verifier(), get(t, "https://acct.blob.core.windows.net/c/b?"+query), op.Blob)
		wantCode(t, refusal, 403, test.code)
	}
}

func TestABlobSASIsForTheResourceThatItNames(t *testing.T) {
	const se = "2100-01-01T00:00:00Z"
	sas := func(sr, resource string) string {
		return handSAS([]string{"r", "", se, "/blob/acct" + resource, "", "", "", "2019-12-12", sr, "", "", "", "", "", ""},
			"sp", "r", "se", se, "sv", "2019-12-12", "sr", sr)
	}
	tests := []struct{ sr, resource, path, code string }{
		{"b", "/c/b", "/c/b", ""},
		{"c", "/c", "/c/b", ""},
		{"c", "/c", "/c", ""},
		{"b", "/c", "/c", "AuthenticationFailed"},
		{"b", "/c/b", "/c", "AuthenticationFailed"},
		{"b", "/c/b", "/c/other", "AuthenticationFailed"},
		{"c", "/c/b", "/c/b", "AuthenticationFailed"},
		{"d", "/c/b", "/c/b", "AuthenticationFailed"},
		{"", "/c/b", "/c/b", "AuthenticationFailed"},
	}
	for _, test := range tests {
		query := sas(test.sr, test.resource)
		if test.path == "/c" { // without restype the path is a blob in the root container
			query += "&restype=container"
		}
		_, refusal := verify(verifier(), get(t, "https://acct.blob.core.windows.net"+test.path+"?"+query), op.Blob)
		wantCode(t, refusal, 403, test.code)
	}
}

// accountSAS returns an account SAS with the values, which may be invalid, signed without the SDK.
func accountSAS(pairs ...string) string {
	q := url.Values{"sv": {"2019-02-02"}, "ss": {"t"}, "srt": {"o"}, "sp": {"au"}, "se": {"2100-01-01T00:00:00Z"}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	text := []string{account}
	for _, name := range []string{"sp", "ss", "srt", "st", "se", "sip", "spr", "sv"} {
		text = append(text, q.Get(name))
	}
	q.Set("sig", sign(strings.Join(append(text, ""), "\n")))
	return q.Encode()
}

func TestAnAccountSASIsRefusedWithTheCodeOfTheService(t *testing.T) {
	tests := []struct {
		name, code string
		pairs      []string
	}{
		{"good", "", nil},
		{"no expiry", "AuthenticationFailed", []string{"se", ""}},
		{"expired", "AuthenticationFailed", []string{"se", "2020-01-01"}},
		{"no permissions", "AuthenticationFailed", []string{"sp", ""}},
		{"no services", "AuthenticationFailed", []string{"ss", ""}},
		{"unknown service", "AuthenticationFailed", []string{"ss", "tx"}},
		{"no resource types", "AuthenticationFailed", []string{"srt", ""}},
		{"unknown resource type", "AuthenticationFailed", []string{"srt", "ox"}},
		{"a stored access policy", "AuthenticationFailed", []string{"si", "id"}},
		{"another service", "AuthorizationServiceMismatch", []string{"ss", "qb"}},
		{"another address", "AuthorizationSourceIPMismatch", []string{"sip", "10.0.0.1"}},
		{"a version that also signs ses", "AuthenticationFailed", []string{"sv", "2020-12-06"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, refusal := verify(verifier(), get(t, "https://acct.table.core.windows.net/T?"+accountSAS(test.pairs...)), op.Table)
			wantCode(t, refusal, 403, test.code)
		})
	}
}

func TestUpsertThroughAnAccountSASNeedsAddAndUpdate(t *testing.T) {
	for sp, code := range map[string]string{"a": "AuthorizationPermissionMismatch", "u": "AuthorizationPermissionMismatch", "ua": "", "rwdlacup": ""} {
		g, refusal := verify(verifier(), get(t, "https://acct.table.core.windows.net/T?"+accountSAS("sp", sp)), op.Table)
		wantCode(t, refusal, 0, "")
		wantCode(t, g.AllowRow(op.TableUpsertMerge, "T", "a", "b"), 403, code)
	}
}
