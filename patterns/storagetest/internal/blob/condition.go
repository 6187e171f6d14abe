package blob

import (
	"net/http"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// conditions are the conditional headers of a request. A nil list or a zero time means
// that the header is absent.
// https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
type conditions struct {
	match, noneMatch     []string // without quotes; "*" matches everything
	modified, unmodified time.Time
	source               bool
}

// The prefixes of the conditions on the source of a copy, and on a blob whose tags are read
// or set.
const (
	ofSource = "X-Ms-Source-"
	ofTagged = "X-Ms-Blob-"
)

// readConditions reads the four headers whose names begin with prefix, which is "", ofSource
// or ofTagged. If read is true, several tags and any
// combination of headers are permitted, as for reads.
func readConditions(c *xmlservice.Call, prefix string, read bool) (k conditions, e *reply.Error) {
	k.source = prefix == ofSource
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if e := checkQuotes(c, prefix+name); e != nil {
			return k, e
		}
	}
	k.match, k.noneMatch = tags(c.Header(prefix+"If-Match")), tags(c.Header(prefix+"If-None-Match"))
	if k.modified, e = since(c, prefix+"If-Modified-Since"); e != nil {
		return k, e
	}
	if k.unmodified, e = since(c, prefix+"If-Unmodified-Since"); e != nil {
		return k, e
	}
	if read {
		return k, nil
	}
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if strings.Contains(c.Header(prefix+name), ",") {
			return k, reply.InvalidHeader(prefix+name, c.Header(prefix+name), "one ETag only")
		}
	}
	positive := k.match != nil || !k.unmodified.IsZero()
	negative := k.noneMatch != nil || !k.modified.IsZero()
	if positive && negative {
		return k, reply.New(http.StatusBadRequest, "MultipleConditionHeadersNotSupported", "Multiple condition headers are not supported.").Because("conditions of a write: If-Match and If-Unmodified-Since, or If-None-Match and If-Modified-Since")
	}
	return k, nil
}

// checkQuotes decides about an ETag without quotes: one recording of the service has 400, another shows that it was compared.
func checkQuotes(c *xmlservice.Call, name string) *reply.Error {
	for tag := range strings.SplitSeq(c.Header(name), ",") {
		if tag = strings.TrimSpace(tag); tag == "" || tag == "*" || strings.HasPrefix(tag, `"`) {
			continue
		}
		refusal := reply.New(http.StatusBadRequest, "OutOfRangeInput", "One of the request inputs is out of range.")
		return c.Undecided(name, "an ETag without quotes; the service has refused one and compared another", refusal)
	}
	return nil
}

func tags(header string) []string {
	if header == "" {
		return nil
	}
	list := strings.Split(header, ",")
	for i, t := range list {
		list[i] = strings.Trim(strings.TrimSpace(t), `"`)
	}
	return list
}

func since(c *xmlservice.Call, name string) (time.Time, *reply.Error) {
	text := c.Header(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := http.ParseTime(text)
	if err != nil || t.IsZero() {
		return time.Time{}, reply.InvalidHeader(name, text, "an HTTP date")
	}
	return t, nil
}

func matches(list []string, etag string) bool {
	etag = strings.Trim(etag, `"`)
	for _, t := range list {
		if t == "*" || t == etag {
			return true
		}
	}
	return false
}

func (k conditions) failed(status int) *reply.Error {
	code, what := "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met."
	if k.source {
		code, what, status = "SourceConditionNotMet", "The source condition specified using HTTP conditional header(s) is not met.", http.StatusPreconditionFailed
	}
	return reply.New(status, code, what)
}

// changedSince compares times as the service does, truncated to seconds as in Last-Modified.
func changedSince(modified, t time.Time) bool { return modified.Truncate(time.Second).After(t) }

// read decides a read: If-Match && If-Unmodified-Since && (If-None-Match ||
// If-Modified-Since).
func (k conditions) read(etag string, modified time.Time) *reply.Error {
	for _, t := range k.noneMatch {
		if t == "*" {
			return reply.New(http.StatusBadRequest, "UnsatisfiableCondition", "The request includes an unsatisfiable condition for this operation.").Because("If-None-Match: * can never hold for a read")
		}
	}
	if k.match != nil && !matches(k.match, etag) || !k.unmodified.IsZero() && changedSince(modified, k.unmodified) {
		return k.failed(http.StatusPreconditionFailed)
	}
	if k.noneMatch == nil && k.modified.IsZero() {
		return nil
	}
	if k.noneMatch != nil && !matches(k.noneMatch, etag) || !k.modified.IsZero() && changedSince(modified, k.modified) {
		return nil
	}
	return k.failed(http.StatusNotModified)
}

// write decides a write to an existing resource. If both a tag and a time are set, only the
// tag counts.
func (k conditions) write(etag string, modified time.Time) *reply.Error {
	ok := true
	switch {
	case k.match != nil:
		ok = matches(k.match, etag)
	case !k.unmodified.IsZero():
		ok = !changedSince(modified, k.unmodified)
	case k.noneMatch != nil:
		ok = !matches(k.noneMatch, etag)
	case !k.modified.IsZero():
		ok = changedSince(modified, k.modified)
	}
	if !ok {
		return k.failed(http.StatusPreconditionFailed)
	}
	return nil
}

// create decides a write that creates or overwrites; b is nil if there is no blob.
func (k conditions) create(b *blob) *reply.Error {
	if b == nil {
		if k.match != nil {
			return k.failed(http.StatusPreconditionFailed)
		}
		return nil
	}
	if len(k.noneMatch) == 1 && k.noneMatch[0] == "*" {
		return reply.New(http.StatusConflict, "BlobAlreadyExists", "The specified blob already exists.")
	}
	return k.write(b.etag, b.modified)
}
