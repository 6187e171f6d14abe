package auth_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// javascript reads testdata/javascript.json, which contains requests of @azure/data-tables
// 13.3.2, @azure/storage-queue 12.30.0 and @azure/storage-blob 12.32.0, recorded from a
// socket. They are signed with the key of these tests: by Shared Key, and by SAS of the
// packages' own helpers. internal/conformance/js/record.cjs wrote the file and describes
// how to record again.
func javascript(t *testing.T) []recorded {
	t.Helper()
	data := assert.Must(os.ReadFile("testdata/javascript.json"))(t)
	var all []recorded
	assert.NoError(t, json.Unmarshal(data, &all))
	return all
}

type recorded struct {
	Service, Name, Method, URL string
	Headers                    map[string]string
}

var services = map[string]op.Service{"table": op.Table, "queue": op.Queue, "blob": op.Blob}

// request returns the recorded request, with its query replaced by query unless that is
// empty, and a verifier whose clock shows the time of the signature.
func (rec recorded) request(t *testing.T, query string) (*http.Request, *auth.Verifier) {
	t.Helper()
	r, err := http.NewRequest(rec.Method, "https://127.0.0.1:10000"+rec.URL, nil)
	assert.NoError(t, err)
	if query != "" {
		r.URL.RawQuery = query
	}
	for name, value := range rec.Headers {
		r.Header.Set(name, value)
	}
	if length := rec.Headers["content-length"]; length != "" {
		if r.ContentLength, err = strconv.ParseInt(length, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	v := verifier()
	v.Policy = func(s op.Service, resource, id string) (auth.StoredPolicy, bool) {
		want := map[op.Service]string{op.Table: "people", op.Queue: "jobs", op.Blob: "files"}[s]
		return auth.StoredPolicy{Expiry: time.Now().Add(time.Hour), Permissions: "r"}, resource == want && id == "policy é+1"
	}
	if date := r.Header.Get("x-ms-date"); date != "" {
		at := assert.Must(http.ParseTime(date))(t)
		v.Now = func() time.Time { return at }
	}
	return r, v
}

func TestRequestsOfTheJavaScriptSDKsAreAccepted(t *testing.T) {
	kinds := make(map[string]map[auth.Kind]int)
	for _, rec := range javascript(t) {
		t.Run(rec.Service+"/"+rec.Name, func(t *testing.T) {
			r, v := rec.request(t, "")
			g, refusal := verify(v, r, services[rec.Service])
			if rec.Name == `SAS back\slash` {
				// The package signs the backslash, which the service replaces before it verifies.
				wantCode(t, refusal, 403, "AuthenticationFailed")
				return
			}
			wantCode(t, refusal, 0, "")
			if kinds[rec.Service] == nil {
				kinds[rec.Service] = make(map[auth.Kind]int)
			}
			kinds[rec.Service][g.Kind()]++

			without := &auth.Verifier{Account: v.Account, Keys: v.Keys[:1], Policy: v.Policy, Now: v.Now}
			_, refusal = verify(without, r, services[rec.Service])
			wantCode(t, refusal, 403, "AuthenticationFailed")
		})
	}
	for service := range services {
		for _, kind := range []auth.Kind{auth.SharedKey, auth.ServiceSAS, auth.AccountSAS} {
			if kinds[service][kind] == 0 {
				t.Errorf("no request of kind %d to the %s service", kind, service)
			}
		}
	}
}

// signedParameters returns the parameters that the signature of a SAS covers. ses and sr
// are covered only since certain versions.
func signedParameters(version string) []string {
	signed := []string{"sp", "st", "se", "si", "sip", "spr", "sv", "tn", "spk", "srk", "epk", "erk", "ss", "srt", "rscc", "rscd", "rsce", "rscl", "rsct"}
	if version >= "2018-11-09" {
		signed = append(signed, "sr")
	}
	if version >= "2020-12-06" {
		signed = append(signed, "ses")
	}
	return signed
}

// another returns another value of a parameter, whose form is valid, so that the signature
// is checked.
func another(name, value string) string {
	switch name {
	case "sv":
		return "2015-04-06"
	case "sr":
		return map[string]string{"b": "bs", "c": "b"}[value]
	case "ss":
		return value + "f"
	case "srt":
		return value + "o"
	}
	return value + "0"
}

// If a change to any single parameter is detected, the verified text contains everything
// that the package has signed.
func TestEveryPartOfASASOfTheJavaScriptSDKsIsSigned(t *testing.T) {
	changed := make(map[string]int)
	for _, rec := range javascript(t) {
		r, _ := rec.request(t, "")
		query := r.URL.Query()
		if !query.Has("sig") {
			continue
		}
		for _, name := range signedParameters(query.Get("sv")) {
			if !query.Has(name) || name == "sr" && rec.Name == "container SAS" { // a container SAS does not name a blob
				continue
			}
			altered := r.URL.Query()
			altered.Set(name, another(name, altered.Get(name)))
			r, v := rec.request(t, altered.Encode())
			if _, refusal := verify(v, r, services[rec.Service]); refusal == nil || !strings.HasPrefix(refusal.Detail[1], "Signature did not match") {
				t.Errorf("%s %s with another %s: %v", rec.Service, rec.Name, name, refusal)
			}
			changed[name]++
		}
	}
	for _, name := range signedParameters("2026-01-01") {
		if changed[name] == 0 {
			t.Errorf("no recorded SAS has %s", name)
		}
	}
}

func TestATableSASOfTheJavaScriptSDKPermitsItsKeyRange(t *testing.T) {
	ranges := map[string]auth.KeyRange{
		"SAS":                    {},
		"SAS of every kind":      {},
		"SAS for a range":        {StartPartition: "a b+c", StartRow: "1", EndPartition: "a b+c", EndRow: "2"},
		"SAS for a partition":    {StartPartition: "a b+c", EndPartition: "a b+c"},
		"SAS of a stored policy": {},
	}
	for _, rec := range javascript(t) {
		want, ok := ranges[rec.Name]
		if rec.Service != "table" || !ok {
			continue
		}
		delete(ranges, rec.Name)
		r, v := rec.request(t, "")
		g, refusal := verify(v, r, op.Table)
		wantCode(t, refusal, 0, "")
		assert.Equal(t, g.Range(), want, rec.Name, "permits")
		wantCode(t, g.AllowRow(op.TableQuery, "People", "a b+c", "1"), 0, "")
		if want.EndRow != "" {
			wantCode(t, g.AllowRow(op.TableQuery, "People", "a b+c", "3"), 403, "AuthorizationFailure")
		}
	}
	assert.Equal(t, len(ranges), 0, "not recorded", ranges)
}
