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

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// sign adds the date and the signature: Shared Key Lite for the Table service, Shared Key for the others. It does not
// change an existing Authorization header, except that "none" means no signature. If the request has the header Sas, it
// adds a SAS of the table, queue or container to the address instead.
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
func sign(t *testing.T, req *http.Request, s service) {
	t.Helper()
	if text := req.Header.Get("Sas"); text != "" {
		req.Header.Del("Sas")
		addSAS(t, req, s, text)
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
	key := assert.Must(base64.StdEncoding.DecodeString(storagetest.AccountKey))(t)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// addSAS adds a SAS to the address of a request to the service s.
func addSAS(t *testing.T, req *http.Request, s service, text string) {
	t.Helper()
	sas := map[service]func(*testing.T, string) string{tables: tableSAS, queues: queueSAS, blobs: containerSAS}[s]
	if req.URL.RawQuery != "" {
		req.URL.RawQuery += "&"
	}
	req.URL.RawQuery += sas(t, text)
}

// tableSAS returns a service SAS of a table with the given parameters, such as "tn=people&sp=r&spk=a".
func tableSAS(t *testing.T, text string) string {
	t.Helper()
	return serviceSAS(t, text, func(p url.Values) (string, []string) {
		return "/table/" + storagetest.AccountName + "/" + strings.ToLower(p.Get("tn")), []string{"spk", "srk", "epk", "erk"}
	})
}

// containerSAS is tableSAS for a container, whose name is the parameter c.
func containerSAS(t *testing.T, text string) string {
	t.Helper()
	return serviceSAS(t, text, func(p url.Values) (string, []string) {
		resource := "/blob/" + storagetest.AccountName + "/" + p.Get("c")
		p.Del("c")
		p.Set("sr", "c")
		return resource, []string{"sr", "", "rscc", "rscd", "rsce", "rscl", "rsct"}
	})
}

// queueSAS is tableSAS for a queue, whose name is the parameter q.
func queueSAS(t *testing.T, text string) string {
	t.Helper()
	return serviceSAS(t, text, func(p url.Values) (string, []string) {
		resource := "/queue/" + storagetest.AccountName + "/" + p.Get("q")
		p.Del("q")
		return resource, nil
	})
}

// serviceSAS returns a SAS that expires after an hour, unless the parameters contain another expiry or a stored policy. The
// function returns the signed name of the resource, and the names of the parameters that are signed last. A sig among the
// parameters becomes another signature, in front of the right one.
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
func serviceSAS(t *testing.T, text string, signed func(url.Values) (string, []string)) string {
	t.Helper()
	p := assert.Must(url.ParseQuery(text))(t)
	p.Set("sv", "2019-02-02")
	if !p.Has("se") && !p.Has("si") {
		p.Set("se", time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05Z"))
	}
	resource, last := signed(p)
	lines := []string{p.Get("sp"), p.Get("st"), p.Get("se"), resource}
	for _, name := range append([]string{"si", "sip", "spr", "sv"}, last...) {
		lines = append(lines, p.Get(name))
	}
	p.Add("sig", signature(t, strings.Join(lines, "\n")))
	return p.Encode()
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
