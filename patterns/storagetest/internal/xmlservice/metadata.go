package xmlservice

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// Metadata is the metadata of a resource. Names are compared without regard to case, and keep the
// case in which they were sent; see [Call.Metadata] for an exception.
type Metadata map[string]string

// MaxMetadata is the largest total size of names and values in bytes.
// https://learn.microsoft.com/rest/api/storageservices/setting-and-retrieving-properties-and-metadata-for-blob-resources
const MaxMetadata = 8 << 10

const (
	metaPrefix    = "x-ms-meta-"
	metaCanonical = "X-Ms-Meta-"
)

// Metadata reads the x-ms-meta- headers of a request. In process the name keeps the
// case in which the client wrote it (x-ms-meta-LogType). A name that net/http has
// canonicalized (X-Ms-Meta-Logtype) has lost its case and is kept in lower case.
func (c *Call) Metadata() (Metadata, *reply.Error) {
	var meta Metadata
	size := 0
	for key, values := range c.Request.Header {
		if len(key) < len(metaPrefix) || !strings.EqualFold(key[:len(metaPrefix)], metaPrefix) {
			continue
		}
		name := key[len(metaPrefix):]
		if strings.HasPrefix(key, metaCanonical) {
			name = strings.ToLower(name)
		}
		if name == "" {
			return nil, reply.New(http.StatusBadRequest, "EmptyMetadataKey", "The key for one of the metadata key-value pairs is empty.").Because("x-ms-meta-: a name follows")
		}
		if len(values) != 1 || !identifier(name) || !reply.VisibleASCII(values[0]) || has(meta, name) {
			return nil, reply.New(http.StatusBadRequest, "InvalidMetadata", "The metadata specified is invalid. It has characters that are not permitted.").Because(metaPrefix + name + ": the name is a C# identifier that occurs once in any case, the value ASCII without control characters")
		}
		if meta == nil {
			meta = Metadata{}
		}
		value := strings.TrimSpace(values[0])
		meta[name] = value
		size += len(name) + len(value)
	}
	if size > MaxMetadata {
		return nil, reply.New(http.StatusBadRequest, "MetadataTooLarge", "The metadata specified exceeds the maximum permissible limit.").Because("x-ms-meta-: names and values have at most 8 KiB together")
	}
	return meta, nil
}

func has(m Metadata, name string) bool {
	if _, ok := m[name]; ok {
		return true
	}
	for k := range m {
		if strings.EqualFold(k, name) {
			return true
		}
	}
	return false
}

// identifier reports whether a name has the form of a C# identifier in ASCII. Header names
// cannot contain other characters.
func identifier(s string) bool {
	for i := range len(s) {
		b := s[i]
		letter := b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z'
		if !letter && (i == 0 || b < '0' || b > '9') {
			return false
		}
	}
	return s != ""
}

// Equal reports whether m and o are equal, without regard to the case of the names.
func (m Metadata) Equal(o Metadata) bool {
	return len(m) == len(o) && maps.Equal(m.folded(), o.folded())
}

func (m Metadata) folded() map[string]string {
	f := make(map[string]string, len(m))
	for k, v := range m {
		f[strings.ToLower(k)] = v
	}
	return f
}

// Headers sets the metadata in the headers of a reply, in the case in which the names are stored; see
// [CanonicalNames].
func (m Metadata) Headers(h http.Header) {
	for k, v := range m {
		h[metaPrefix+k] = []string{v}
	}
}

// CanonicalNames changes the names of metadata in the headers of a reply to what the HTTP client of Go reads.
func CanonicalNames(h http.Header) {
	for name, values := range h {
		if strings.HasPrefix(name, metaPrefix) {
			delete(h, name)
			h[http.CanonicalHeaderKey(name)] = values
		}
	}
}

// XML writes the Metadata element of a listing.
func (m Metadata) XML(x *XML) {
	x.Begin("Metadata")
	for _, k := range slices.Sorted(maps.Keys(m)) {
		x.Text(k, m[k])
	}
	x.End("Metadata")
}
