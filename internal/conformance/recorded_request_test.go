package conformance

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// replay sends the requests of a recording to an account in memory, within a bubble of testing/synctest: the time between two
// requests passes as in the recording.
type replay struct {
	t       *testing.T
	service service
	account *storagetest.Account
	version string
	replies []*recordedReply
}

// recordedReply is a reply that later requests refer to.
type recordedReply struct {
	*http.Response
	body []byte
}

var (
	primaryURL   = map[service]string{tables: storagetest.TablesURL, queues: storagetest.QueuesURL, blobs: storagetest.BlobsURL}
	secondaryURL = map[service]string{tables: storagetest.SecondaryTablesURL, queues: storagetest.SecondaryQueuesURL, blobs: storagetest.SecondaryBlobsURL}
)

// prepare creates what exists before the first request. It returns false if the account does not offer that.
func (r *replay) prepare(exists []string) bool {
	for _, e := range exists {
		words := strings.Split(e, " ")
		f := &fact{method: http.MethodPut, target: "/" + words[1]}
		switch words[0] {
		case "table":
			f.method, f.target, f.body = http.MethodPost, "/Tables", "json TableName='"+words[1]+"'"
		case "container":
			f.target += "?restype=container"
		case "blob":
			f.headers = [][2]string{{"x-ms-blob-type", words[2]}}
			f.body = "bytes " + words[3] + " 0"
		}
		var more *fact
		if words[0] == "blob" && words[2] == "AppendBlob" {
			more = &fact{method: f.method, target: f.target + "?comp=appendblock", body: f.body}
			f.body = ""
		}
		if a := r.send(f); a.StatusCode == http.StatusNotImplemented {
			return false
		} else if a.StatusCode != http.StatusCreated {
			r.t.Fatalf("%s: %d\n%s", e, a.StatusCode, a.body)
		}
		if more != nil {
			r.send(more)
		}
	}
	return true
}

// send sends the request that f describes.
func (r *replay) send(f *fact) *recordedReply {
	base := primaryURL[r.service]
	if f.secondary {
		base = secondaryURL[r.service]
	}
	body := r.bodyOf(f)
	path, query, _ := strings.Cut(r.fill(f.target, nil, f), "?")
	u := assert.Must(url.Parse(base))(r.t)
	u.Path = path
	u.RawQuery = escapeQuery(query)
	req := assert.Must(http.NewRequestWithContext(r.t.Context(), f.method, u.String(), bytes.NewReader(body)))(r.t)
	req.Header.Set("X-Ms-Version", r.version)
	req.Header.Set("X-Ms-Client-Request-Id", "fact")
	if r.service == tables {
		req.Header.Set("Dataserviceversion", "3.0")
	}
	for _, h := range f.headers {
		value := r.fill(h[1], body, f)
		if value == "-" {
			req.Header.Del(h[0])
		} else if strings.HasPrefix(h[0], "x-ms-meta-") {
			req.Header[h[0]] = []string{value} // in its case
		} else {
			req.Header.Set(h[0], value)
		}
	}
	if strings.HasPrefix(f.body, "batch") {
		req.Header.Set("Content-Type", "multipart/mixed; boundary=batch")
	}
	sign(r.t, req, r.service)
	res, err := r.account.Transport().Do(req)
	assert.NoError(r.t, err)
	defer res.Body.Close()
	return &recordedReply{res, assert.Must(io.ReadAll(res.Body))(r.t)}
}

// escapeQuery encodes the values of a query.
func escapeQuery(query string) string {
	if query == "" {
		return ""
	}
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		parameters[i] = url.QueryEscape(name) + "=" + url.QueryEscape(value)
	}
	return strings.Join(parameters, "&")
}

var braces = regexp.MustCompile(`\{[^{}]*\}`)

// fill replaces the texts in braces.
func (r *replay) fill(text string, body []byte, f *fact) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return braces.ReplaceAllStringFunc(text, func(s string) string { return r.value(s[1:len(s)-1], body, f) })
}

func (r *replay) value(name string, body []byte, f *fact) string {
	after := func(prefix string) time.Time {
		seconds := assert.Must(strconv.Atoi(strings.TrimPrefix(name, prefix)))(r.t)
		return time.Now().UTC().Add(time.Duration(seconds) * time.Second)
	}
	switch kind, rest, _ := strings.Cut(name, " "); {
	case strings.HasPrefix(name, "http"):
		return after("http").Format(http.TimeFormat)
	case strings.HasPrefix(name, "iso"):
		return after("iso").Format("2006-01-02T15:04:05Z")
	case strings.HasPrefix(name, "lease"):
		return "00000000-0000-0000-0000-00000000000" + name[len("lease"):]
	case strings.HasPrefix(name, "id"):
		number, length, _ := strings.Cut(name[len("id"):], ".")
		id := fmt.Sprintf("%0*s", assert.Must(strconv.Atoi(length))(r.t), number)
		return base64.StdEncoding.EncodeToString([]byte(id))
	case name == "md5":
		return sumOf(body)
	case name == "md5?":
		return sumOf([]byte("something else"))
	case kind == "md5":
		return sumOf(r.source(f))
	case kind == "source":
		return r.sourceURL(rest)
	}
	step, field, _ := strings.Cut(name, ".")
	n, err := strconv.Atoi(step)
	if err != nil || n >= len(r.replies) {
		r.t.Fatalf("%v: {%s} is not known", f, name)
	}
	field, bare := strings.CutSuffix(field, ".bare")
	v := r.replies[n].field(field)
	if bare {
		v = strings.Trim(v, `"`)
	}
	return v
}

func sumOf(body []byte) string {
	sum := md5.Sum(body)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// sourceURL returns the address of a source of a copy, such as "/container/blob sas=b,r".
func (r *replay) sourceURL(text string) string {
	path, sas, signed := strings.Cut(text, " sas=")
	if !signed {
		return storagetest.BlobsURL + path
	}
	kind, permissions, _ := strings.Cut(sas, ",")
	query := serviceSAS(r.t, "sp="+permissions, func(p url.Values) (string, []string) {
		p.Set("sr", kind)
		return "/blob/" + storagetest.AccountName + path, []string{"sr", "", "rscc", "rscd", "rsce", "rscl", "rsct"}
	})
	return storagetest.BlobsURL + path + "?" + query
}

// source reads the range of the source that f names.
func (r *replay) source(f *fact) []byte {
	get := &fact{method: http.MethodGet}
	for _, h := range f.headers {
		switch h[0] {
		case "x-ms-copy-source":
			get.target, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSuffix(h[1], "}"), "{source "), " ")
		case "x-ms-source-range":
			get.headers = [][2]string{{"x-ms-range", h[1]}}
		}
	}
	return r.send(get).body
}

// field returns the value of a header, or the text of the element of a name and a number, such as PopReceipt.2.
func (a *recordedReply) field(name string) string {
	element, number, numbered := strings.Cut(name, ".")
	if !numbered {
		return a.Header.Get(name)
	}
	n, _ := strconv.Atoi(number)
	if element == "etag" {
		if found := etagIn.FindAllStringSubmatch(string(a.body), -1); n <= len(found) {
			return strings.ReplaceAll(found[n-1][1]+found[n-1][2], `\"`, `"`)
		}
		return ""
	}
	d := xml.NewDecoder(bytes.NewReader(a.body))
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == element {
			if n--; n == 0 {
				var text string
				_ = d.DecodeElement(&text, &start) // the reply is well-formed
				return text
			}
		}
	}
}

// etagIn matches the ETags of rows, and those of the operations of a batch.
var etagIn = regexp.MustCompile(`"odata.etag":"((?:[^"\\]|\\.)*)"|ETag: (\S+)`)

// bodyOf returns the body of a request.
func (r *replay) bodyOf(f *fact) []byte {
	kind, rest, _ := strings.Cut(f.body, " ")
	switch kind {
	case "":
		return nil
	case "bytes":
		var size, number int
		assert.MayFail(fmt.Sscan(rest, &size, &number))
		return bytes.Repeat([]byte{'a' + byte(number%26)}, size)
	case "json":
		return r.entity(rest)
	case "xml":
		var b strings.Builder
		b.WriteString(`<?xml version="1.0" encoding="utf-8"?>`)
		if left := r.element(&b, rest, f); left != "" {
			r.t.Fatalf("%v: %q follows the document", f, left)
		}
		return []byte(b.String())
	case "batch":
		return r.batch(f, rest == "changes")
	}
	r.t.Fatalf("%v: a body of the kind %s", f, kind)
	return nil
}

// element writes an element such as Name=text, Name='text' or Name(element,element), and returns what follows it.
func (r *replay) element(b *strings.Builder, text string, f *fact) string {
	end := strings.IndexAny(text, "(),=")
	if end < 0 {
		end = len(text)
	}
	name, rest := text[:end], text[end:]
	b.WriteString("<" + name + ">")
	switch {
	case strings.HasPrefix(rest, "='"):
		value, after := cutValue(rest[1:])
		_ = xml.EscapeText(b, []byte(r.long(r.fill(value, nil, f)))) // a Builder never fails
		rest = after
	case strings.HasPrefix(rest, "="):
		end := strings.IndexAny(rest, "),")
		if end < 0 {
			end = len(rest)
		}
		// The words of some elements are lists, whose commas are followed by capitals and no bracket or equals sign.
		for end < len(rest) && rest[end] == ',' && strings.Trim(firstWord(rest[end+1:]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			end += 1 + len(firstWord(rest[end+1:]))
		}
		_ = xml.EscapeText(b, []byte(r.fill(rest[1:end], nil, f)))
		rest = rest[end:]
	case strings.HasPrefix(rest, "("):
		for more := true; more; {
			rest = r.element(b, rest[1:], f)
			more = strings.HasPrefix(rest, ",")
		}
		rest = strings.TrimPrefix(rest, ")")
	}
	b.WriteString("</" + name + ">")
	return rest
}

// long returns the text that a text such as v1*70000 represents.
func (r *replay) long(text string) string {
	short, size, ok := strings.Cut(text, "*")
	n, err := strconv.Atoi(size)
	if !ok || err != nil {
		return text
	}
	return strings.Repeat(short, n/len(short)+1)[:n]
}

func firstWord(text string) string {
	if end := strings.IndexAny(text, "(),="); end >= 0 {
		return text[:end]
	}
	return text
}

// cutValue returns the text between the quote at the beginning of text and the quote that ends it, which a blank, a comma, a
// bracket or nothing follows.
func cutValue(text string) (value, rest string) {
	for i := 1; i < len(text); i++ {
		if text[i] == '\'' && (i+1 == len(text) || strings.ContainsRune(" ,)", rune(text[i+1]))) {
			return text[1:i], text[i+1:]
		}
	}
	return text[1:], ""
}

// entity writes a JSON object of members such as p1='text', p1=7, p1=null, and p1:Int64=7 with its type. A member of the type
// Int64! is a number and not a text.
func (r *replay) entity(text string) []byte {
	var members []string
	for text != "" {
		name, rest, _ := strings.Cut(text, "=")
		value := ""
		quoted := strings.HasPrefix(rest, "'")
		if quoted {
			value, rest = cutValue(rest)
		} else {
			value, rest, _ = strings.Cut(rest, " ")
		}
		text = strings.TrimPrefix(rest, " ")
		name, kind, typed := strings.Cut(name, ":")
		kind, bare := strings.CutSuffix(kind, "!")
		if typed {
			members = append(members, fmt.Sprintf("%q:%q", name+"@odata.type", "Edm."+kind))
		}
		if size, ok := strings.CutPrefix(value, "*"); ok && kind == "Binary" {
			value = base64.StdEncoding.EncodeToString(make([]byte, assert.Must(strconv.Atoi(size))(r.t)))
		}
		if quoted {
			value = r.long(value)
		}
		if quoted || typed && !bare {
			value = fmt.Sprintf("%q", value)
		}
		members = append(members, fmt.Sprintf("%q:%s", name, value))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// batch writes a multipart document.
func (r *replay) batch(f *fact, changes bool) []byte {
	var b strings.Builder
	boundary := "batch"
	if changes {
		b.WriteString("--batch\r\nContent-Type: multipart/mixed; boundary=changeset\r\n\r\n")
		boundary = "changeset"
	}
	for _, p := range f.parts {
		body := r.bodyOf(p)
		path, query, _ := strings.Cut(r.fill(p.target, nil, f), "?")
		u := url.URL{Path: path, RawQuery: escapeQuery(query)}
		target := u.String()
		if r.service == tables {
			target = primaryURL[tables] + target
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n%s %s HTTP/1.1\r\n", boundary, p.method, target)
		req := http.Request{Method: p.method, Header: http.Header{}, URL: &u}
		for _, h := range p.headers {
			req.Header.Set(h[0], r.fill(h[1], body, f))
		}
		if r.service == blobs {
			req.Header.Set("X-Ms-Version", r.version)
			sign(r.t, &req, blobs)
		}
		_ = req.Header.Write(&b) // a Builder never fails
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s\r\n", len(body), body)
	}
	if changes {
		b.WriteString("--changeset--\r\n")
	}
	b.WriteString("--batch--\r\n")
	return []byte(b.String())
}
