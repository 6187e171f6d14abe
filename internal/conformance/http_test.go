package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
)

// service is one of the three storage services.
type service string

const (
	tables service = "table"
	queues service = "queue"
	blobs  service = "blob"
)

// defaults are the headers of a request, unless its step overrides them.
var defaults = map[service]map[string]string{
	tables: {"Accept": "application/json;odata=minimalmetadata", "X-Ms-Version": "2019-02-02"},
	queues: {"Accept": "application/xml", "X-Ms-Version": "2021-12-02"},
	blobs:  {"Accept": "application/xml", "X-Ms-Version": "2021-12-02"},
}

// talk is a running conversation.
type talk struct {
	t       *testing.T
	service service
	base    string
	names   map[string]string // the values of placeholders such as {T}
	live    *harness.Live     // nil for an account with the shared key
}

func (k talk) fill(text string) string { return k.fillWith(text, func(s string) string { return s }) }

func (k talk) fillWith(text string, encode func(string) string) string {
	for _, name := range slices.Sorted(maps.Keys(k.names)) {
		text = strings.ReplaceAll(text, name, encode(k.names[name]))
	}
	return text
}

// reply is what a service sent: its status and error code, and its whole text.
type reply struct{ summary, text string }

// client does not request compression. Its timeout is long enough for a busy machine.
var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}}

var encoded = strings.NewReplacer(" ", "%20", "\"", "%22", "#", "%23", "\\", "%5C", "<", "%3C", ">", "%3E", "\t", "%09", "\u0085", "%C2%85")

// send sends one request, signed with the shared key.
func (k talk) send(s step) reply {
	k.t.Helper()
	method, path, _ := strings.Cut(k.fillWith(s.request, url.QueryEscape), " ")
	body := k.fill(s.body)
	if strings.HasPrefix(body, "--") { // the lines of a multipart document end in CRLF
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	req, err := http.NewRequestWithContext(k.t.Context(), method, k.base+encoded.Replace(path), strings.NewReader(body))
	assert.NoError(k.t, err)
	for name, value := range defaults[k.service] {
		req.Header.Set(name, value)
	}
	if strings.HasPrefix(body, "{") && k.service == tables {
		req.Header.Set("Content-Type", "application/json")
	}
	for h := range strings.SplitSeq(k.fill(s.headers), "|") {
		if name, value, ok := strings.Cut(h, ": "); ok && value == "" {
			req.Header.Del(name)
		} else if ok {
			req.Header.Set(name, value)
		}
	}
	var transport policy.Transporter = client
	if k.live != nil {
		transport = k.live.Transport
		scope := policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}}
		req.Header.Set("Authorization", "Bearer "+assert.Must(k.live.Credential.GetToken(k.t.Context(), scope))(k.t).Token)
		req.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	} else {
		sign(k.t, req, k.service)
	}
	res, err := transport.Do(req)
	if err != nil {
		return reply{"no reply", err.Error()}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{"no reply", err.Error()}
	}
	a := reply{fmt.Sprint(res.StatusCode), string(b)}
	if res.StatusCode >= 300 || strings.Contains(a.text, "odata.error") || strings.Contains(a.text, "<Error>") {
		a.summary += errorCode(res, a.text)
	}
	for _, name := range slices.Sorted(maps.Keys(res.Header)) {
		a.text += fmt.Sprintf("\n%s: %s", name, res.Header[name][0])
	}
	a.text += "\n"
	return a
}

var (
	xmlCode   = regexp.MustCompile(`<(?:m:)?[Cc]ode>(\w+)<`)
	innerCode = regexp.MustCompile(`(?s)HTTP/1\.1 (\d+) .*?"odata\.error":\{"code":"(\w+)"`)
)

// errorCode returns a space and the error code of a reply or, for a batch, the status and code of its operation.
func errorCode(res *http.Response, body string) string {
	if code := res.Header.Get("X-Ms-Error-Code"); code != "" {
		return " " + code
	}
	var e struct {
		Error struct{ Code string } `json:"odata.error"`
	}
	if json.Unmarshal([]byte(body), &e) == nil && e.Error.Code != "" {
		return " " + e.Error.Code
	}
	if found := innerCode.FindStringSubmatch(body); found != nil {
		return " " + found[1] + " " + found[2]
	}
	if found := xmlCode.FindStringSubmatch(body); found != nil {
		return " " + found[1]
	}
	return ""
}
