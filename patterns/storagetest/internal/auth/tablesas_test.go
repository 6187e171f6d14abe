package auth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// The lines of the string to sign of a table SAS, as query parameters; "" is the
// canonicalized resource.
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas#version-2015-04-05-and-later
var tableSASLines = []string{"sp", "st", "se", "", "si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"}

// tableSAS returns the query of a SAS for the table People, signed without the SDK. It
// consists of defaults that the name and value pairs override; the value "-" removes a
// parameter.
func tableSAS(pairs ...string) url.Values {
	q := url.Values{"tn": {"people"}, "sv": {"2019-02-02"}, "sp": {"raud"}, "se": {"2100-01-01T00:00:00Z"}}
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "-" {
			q.Del(pairs[i])
		}
	}
	text := make([]string, len(tableSASLines))
	for i, name := range tableSASLines {
		if text[i] = q.Get(name); name == "" {
			text[i] = "/table/acct/" + strings.ToLower(q.Get("tn"))
		}
	}
	q.Set("sig", sign(strings.Join(text, "\n")))
	return q
}

func tableRequest(q url.Values) *http.Request {
	r, err := http.NewRequest("GET", "https://acct.table.core.windows.net/People()?$top=5&"+q.Encode(), nil)
	if err != nil {
		panic(err)
	}
	return r
}

func TestATableSASPermitsExactlyItsKeyRange(t *testing.T) {
	type key struct{ pk, rk string }
	tests := []struct {
		name    string
		pairs   []string
		in, out []key
	}{
		{"one partition", []string{"spk", "b", "epk", "b"},
			[]key{{"b", ""}, {"b", "x"}}, []key{{"a", "x"}, {"b ", ""}, {"ba", ""}, {"c", ""}}},
		{"row keys bound their own partition only", []string{"spk", "b", "srk", "5", "epk", "d", "erk", "5"},
			[]key{{"b", "5"}, {"b", "9"}, {"c", ""}, {"c", "9"}, {"d", ""}, {"d", "5"}},
			[]key{{"a", "9"}, {"b", "4"}, {"d", "50"}, {"d", "6"}, {"e", ""}}},
		{"from a partition on", []string{"spk", "b"}, []key{{"b", ""}, {"z", ""}}, []key{{"a", "z"}, {"", ""}}},
		{"up to a row", []string{"epk", "b", "erk", "5"}, []key{{"", ""}, {"a", "z"}, {"b", "5"}}, []key{{"b", "6"}, {"c", ""}}},
		{"order of UTF-16 units", []string{"spk", "\uffee", "epk", "\uffee"}, []key{{"\uffee", "r"}}, []key{{"😀", "r"}}},
		{"above a surrogate pair", []string{"spk", "😀"}, []key{{"😀", ""}, {"\uffee", ""}}, []key{{"z", ""}}},
		{"odd characters", []string{"spk", "a b+c&d='ä", "epk", "a b+c&d='ä"}, []key{{"a b+c&d='ä", ""}}, []key{{"a b", ""}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, refusal := verify(verifier(), tableRequest(tableSAS(test.pairs...)), op.Table)
			wantCode(t, refusal, 0, "")
			wantCode(t, g.Allow(op.TableQuery, "People"), 0, "")
			for _, o := range []op.Op{op.TableQuery, op.TableInsert, op.TableMerge, op.TableUpsertMerge, op.TableDelete} {
				for _, k := range test.in {
					wantCode(t, g.AllowRow(o, "People", k.pk, k.rk), 0, "")
				}
				for _, k := range test.out {
					wantCode(t, g.AllowRow(o, "People", k.pk, k.rk), 403, "AuthorizationFailure")
				}
			}
		})
	}
}

func TestEveryPartOfATableSASIsSigned(t *testing.T) {
	good := tableSAS("spk", "a", "srk", "b", "epk", "c", "erk", "d", "spr", "https,http", "sip", "127.0.0.1", "st", "2020-01-01T00:00:00Z")
	_, refusal := verify(verifier(), tableRequest(good), op.Table)
	wantCode(t, refusal, 0, "")
	for name, value := range map[string]string{"sp": "r", "se": "2101-01-01T00:00:00Z", "st": "2021-01-01T00:00:00Z", "tn": "other",
		"sv": "2020-02-02", "spk": "b", "srk": "a", "epk": "d", "erk": "e", "spr": "https", "sip": "127.0.0.0-127.0.0.9", "sig": sign("")} {
		for _, change := range []string{value, ""} {
			altered := url.Values{}
			for k, v := range good {
				altered[k] = v
			}
			altered.Set(name, change)
			_, refusal := verify(verifier(), tableRequest(altered), op.Table)
			wantCode(t, refusal, 403, "AuthenticationFailed")
		}
	}
}

func TestUpsertThroughASASNeedsAddAndUpdate(t *testing.T) {
	for sp, allowed := range map[string]bool{"r": false, "a": false, "u": false, "rud": false, "rad": false, "au": true, "raud": true} {
		g, refusal := verify(verifier(), tableRequest(tableSAS("sp", sp)), op.Table)
		wantCode(t, refusal, 0, "")
		code := "AuthorizationPermissionMismatch"
		if allowed {
			code = ""
		}
		wantCode(t, g.AllowRow(op.TableUpsertMerge, "people", "a", "b"), 403, code)
	}
}

func TestATableSASIsRefusedWithTheCodeOfTheService(t *testing.T) {
	const failed = "AuthenticationFailed"
	tests := []struct {
		name, code string
		pairs      []string
		change     func(r *http.Request)
	}{
		{name: "expired", code: failed, pairs: []string{"se", "2020-01-01T00:00:00Z"}},
		{name: "not yet valid", code: failed, pairs: []string{"st", "2099-01-01"}},
		{name: "valid since", pairs: []string{"st", "2020-01-01T00:00Z"}},
		{name: "7 digits", pairs: []string{"st", "2020-01-01T00:00:00.1234567Z"}},
		{name: "no expiry", code: failed, pairs: []string{"se", "-"}},
		{name: "an invalid time", code: failed, pairs: []string{"se", "tomorrow"}},
		{name: "no permissions", code: failed, pairs: []string{"sp", "-"}},
		{name: "permissions out of order", code: failed, pairs: []string{"sp", "ar"}},
		{name: "a permission twice", code: failed, pairs: []string{"sp", "rr"}},
		{name: "an unknown permission", code: failed, pairs: []string{"sp", "rx"}},
		{name: "no table", code: failed, pairs: []string{"tn", "-"}},
		{name: "no version", code: failed, pairs: []string{"sv", "-"}},
		{name: "an invalid version", code: failed, pairs: []string{"sv", "latest"}},
		{name: "an old version", code: failed, pairs: []string{"sv", "2014-02-14"}},
		{name: "srk without spk", code: failed, pairs: []string{"srk", "a"}},
		{name: "erk without epk", code: failed, pairs: []string{"spk", "a", "erk", "a"}},
		{name: "an unknown protocol", code: failed, pairs: []string{"spr", "http"}},
		{name: "https by https", pairs: []string{"spr", "https"}},
		{name: "https by http", code: "AuthorizationProtocolMismatch", pairs: []string{"spr", "https"},
			change: func(r *http.Request) { r.URL.Scheme = "http" }},
		{name: "either by http", pairs: []string{"spr", "https,http"}, change: func(r *http.Request) { r.URL.Scheme = "http" }},
		{name: "in process", pairs: []string{"sip", "127.0.0.1"}},
		{name: "the address", pairs: []string{"sip", "10.1.2.3"}, change: func(r *http.Request) { r.RemoteAddr = "10.1.2.3:4567" }},
		{name: "an address in the range", pairs: []string{"sip", "10.1.2.3-10.1.2.9"}, change: func(r *http.Request) { r.RemoteAddr = "[::ffff:10.1.2.9]:4567" }},
		{name: "an address above the range", code: "AuthorizationSourceIPMismatch", pairs: []string{"sip", "10.1.2.3-10.1.2.9"},
			change: func(r *http.Request) { r.RemoteAddr = "10.1.2.10:4567" }},
		{name: "another address", code: "AuthorizationSourceIPMismatch", pairs: []string{"sip", "10.1.2.3"}},
		{name: "an invalid address", code: failed, pairs: []string{"sip", "10.1.2"}},
		{name: "a user delegation SAS", code: failed, pairs: []string{"skoid", "x"}},
		{name: "an unknown policy", code: failed, pairs: []string{"si", "gone"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := tableRequest(tableSAS(test.pairs...))
			if test.change != nil {
				test.change(r)
			}
			_, refusal := verify(verifier(), r, op.Table)
			wantCode(t, refusal, 403, test.code)
		})
	}
}

func TestAStoredAccessPolicySetsWhatTheSASOmits(t *testing.T) {
	long := strings.Repeat("i", 65)
	policies := map[string]auth.StoredPolicy{
		"full":    {Start: time.Now().Add(-time.Hour), Expiry: time.Now().Add(time.Hour), Permissions: "ra"},
		"empty":   {},
		"expired": {Expiry: time.Now().Add(-time.Hour), Permissions: "ra"},
		long:      {Expiry: time.Now().Add(time.Hour), Permissions: "ra"},
	}
	v := verifier()
	v.Policy = func(s op.Service, resource, id string) (auth.StoredPolicy, bool) {
		assert.Equal(t, s, op.Table)
		assert.Equal(t, resource, "people")
		p, ok := policies[id]
		return p, ok
	}
	tests := []struct {
		name  string
		pairs []string
		code  string
	}{
		{"all from the policy", []string{"si", "full", "sp", "-", "se", "-"}, ""},
		{"all from the SAS", []string{"si", "empty"}, ""},
		{"permissions in both", []string{"si", "full", "se", "-"}, "AuthenticationFailed"},
		{"expiry in both", []string{"si", "full", "sp", "-"}, "AuthenticationFailed"},
		{"expiry in neither", []string{"si", "empty", "se", "-"}, "AuthenticationFailed"},
		{"permissions in neither", []string{"si", "empty", "sp", "-"}, "AuthenticationFailed"},
		{"expired", []string{"si", "expired", "sp", "-", "se", "-"}, "AuthenticationFailed"},
		{"revoked", []string{"si", "gone", "sp", "-", "se", "-"}, "AuthenticationFailed"},
		{"an id over 64 characters", []string{"si", long, "sp", "-", "se", "-"}, "AuthenticationFailed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, refusal := verify(v, tableRequest(tableSAS(test.pairs...)), op.Table)
			wantCode(t, refusal, 403, test.code)
			if refusal == nil {
				wantCode(t, g.AllowRow(op.TableInsert, "People", "a", "b"), 0, "")
			}
		})
	}
	g, _ := verify(v, tableRequest(tableSAS("si", "full", "sp", "-", "se", "-")), op.Table)
	wantCode(t, g.AllowRow(op.TableDelete, "People", "a", "b"), 403, "AuthorizationPermissionMismatch")
}
