package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// sign adds the date and the signature: Shared Key Lite for the Table service, Shared Key for the others. It does not
// change an existing Authorization header, except that "none" means no signature. If the request has the header Sas, it
// adds a SAS of the table to the address instead.
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
func sign(t *testing.T, req *http.Request, s service) {
	t.Helper()
	if text := req.Header.Get("Sas"); text != "" {
		req.Header.Del("Sas")
		signTable(t, req, text)
		return
	}
	switch req.Header.Get("Authorization") {
	case "":
	case "none":
		req.Header.Del("Authorization")
		return
	default:
		return
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	req.Header.Set("X-Ms-Date", date)
	scheme, text := "SharedKey", sharedKeyText(req)
	if s == tables {
		scheme = "SharedKeyLite"
		text = date + "\n/" + storagetest.AccountName + req.URL.EscapedPath()
		if comp := req.URL.Query().Get("comp"); comp != "" {
			text += "?comp=" + comp
		}
	}
	req.Header.Set("Authorization", scheme+" "+storagetest.AccountName+":"+signature(t, text))
}

func signature(t *testing.T, text string) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(storagetest.AccountKey)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signTable adds a service SAS with the given parameters, such as "tn=people&sp=r&spk=a", to the request. The SAS expires
// after an hour, unless the parameters contain another expiry or a stored policy.
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
func signTable(t *testing.T, req *http.Request, text string) {
	t.Helper()
	p, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	p.Set("sv", "2019-02-02")
	if !p.Has("se") && !p.Has("si") {
		p.Set("se", time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05Z"))
	}
	lines := []string{p.Get("sp"), p.Get("st"), p.Get("se"), "/table/" + storagetest.AccountName + "/" + strings.ToLower(p.Get("tn"))}
	for _, name := range []string{"si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"} {
		lines = append(lines, p.Get(name))
	}
	p.Set("sig", signature(t, strings.Join(lines, "\n")))
	if req.URL.RawQuery != "" {
		req.URL.RawQuery += "&"
	}
	req.URL.RawQuery += p.Encode()
}

func sharedKeyText(req *http.Request) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	line(req.Method)
	for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Length", "Content-Md5", "Content-Type",
		"Date", "If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"} {
		if name == "Content-Length" && req.ContentLength > 0 {
			line(strconv.FormatInt(req.ContentLength, 10))
			continue
		}
		line(req.Header.Get(name))
	}
	headers := map[string]string{}
	for name, values := range req.Header {
		if name := strings.ToLower(name); strings.HasPrefix(name, "x-ms-") {
			headers[name] = strings.TrimSpace(values[0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		line(name + ":" + headers[name])
	}
	b.WriteString("/" + storagetest.AccountName + req.URL.EscapedPath())
	query := req.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		b.WriteString("\n" + strings.ToLower(name) + ":" + strings.Join(query[name], ","))
	}
	return b.String()
}
