package request

import (
	"cmp"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// parseBlob parses /, /container, /container/blob/name and, in the root container,
// /blob.
func (r *Request) parseBlob() {
	restype, comp := r.Query.Get("restype"), r.Query.Get("comp")
	path := strings.ReplaceAll(r.Path, `\`, "/") // as the service does, but not in a prefix to list
	var below bool
	r.Resource, r.Name, below = strings.Cut(path, "/")
	if path == "" || restype == "account" {
		r.Op, r.Refusal = blobService.onService(r.Method, restype, comp, op.BlobStats)
		r.Refusal = cmp.Or(r.unsupported(), r.Refusal)
		return
	}
	if (!below || r.Name == "") && !r.Query.Has("restype") {
		r.Resource, r.Name = rootContainer, strings.TrimSuffix(path, "/")
	}
	var refusal, typeRefusal *reply.Error
	switch {
	case r.Name != "":
		if restype != "" {
			typeRefusal = reply.InvalidQuery("restype", restype, "Not a container.")
		}
		r.Op, refusal = r.blobOp()
		refusal = cmp.Or(checkBlob(r.Name), checkSnapshot(r.Op, r.Query.Get("snapshot")), refusal)
	case restype == "container":
		r.Op, refusal = onContainer.find(r.Method, comp, comp)
	default:
		refusal = reply.InvalidQuery("restype", restype, "Unknown type of resource.")
	}
	r.Refusal = cmp.Or(r.unsupported(), checkContainer(r.Resource), typeRefusal, refusal)
}

// Parameters and headers that are refused, because ignoring them would change the result.
var (
	foreignQuery = [][2]string{
		{"prevsnapshot", "page blobs"}, {"versionid", "versions"}, {"startFrom", "listing from a name"},
	}
	foreignHeader = [][2]string{
		{"X-Ms-If-Tags", "tag conditions"}, {"X-Ms-Source-If-Tags", "tag conditions"},
		{"X-Ms-Encryption-Key", "customer-provided keys"}, {"X-Ms-Encryption-Scope", "encryption scopes"},
		{"X-Ms-Immutability-Policy-Until-Date", "immutability policies"}, {"X-Ms-Legal-Hold", "legal holds"},
		{"X-Ms-Structured-Body", "structured bodies"},
	}
)

func (r *Request) unsupported() *reply.Error {
	for _, f := range foreignQuery {
		if r.Query.Has(f[0]) {
			return reply.NotImplemented(f[1])
		}
	}
	for _, f := range foreignHeader {
		if r.Header.Get(f[0]) != "" {
			return reply.NotImplemented(f[1])
		}
	}
	return nil
}

// checkSnapshot checks the id of the snapshot that an operation is on, "" for the blob itself.
func checkSnapshot(o op.Op, id string) *reply.Error {
	if id == "" {
		return nil
	}
	switch o {
	case op.BlobGet, op.BlobHead, op.BlobGetBlockList, op.BlobGetTags, op.BlobSetTier, op.BlobDelete:
	default:
		return reply.InvalidQuery("snapshot", id, "A snapshot cannot be changed.")
	}
	if _, err := time.Parse(reply.TimeFormat, id); err != nil {
		e := reply.InvalidQuery("snapshot", id, "Not an id of a snapshot.")
		e.Early = true
		return e
	}
	return nil
}

func (r *Request) blobOp() (op.Op, *reply.Error) {
	comp := r.Query.Get("comp")
	o, refusal := onBlob.find(r.Method, comp, comp)
	if kind := r.Header.Get("X-Ms-Blob-Type"); o == op.BlobPut && r.Header.Get("X-Ms-Copy-Source") != "" && (kind == "" || kind == "BlockBlob") {
		o = op.BlobCopy
	}
	return o, refusal
}
