package request

import (
	"net/http"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// parseBlob parses /, /container, /container/blob/name and, in the root container,
// /blob.
func (r *Request) parseBlob() {
	restype := r.Query.Get("restype")
	var refusals []*reply.Error // the first one is the reply
	add := func(e *reply.Error) { refusals = append(refusals, e) }
	add(r.unsupported())
	path := strings.ReplaceAll(r.Path, `\`, "/") // as the service does, but not in a prefix to list
	if path == "" || restype == "account" {
		r.Resource, r.Name, _ = strings.Cut(path, "/")
		var refusal *reply.Error
		r.Op, refusal = blobAccountOp(r.Method, restype, r.Query.Get("comp"))
		add(refusal)
	} else {
		var ok bool
		r.Resource, r.Name, ok = strings.Cut(path, "/")
		if (!ok || r.Name == "") && !r.Query.Has("restype") {
			r.Resource, r.Name = rootContainer, strings.TrimSuffix(path, "/")
		}
		add(CheckContainer(r.Resource))
		var refusal *reply.Error
		switch {
		case r.Name != "":
			if restype != "" {
				add(reply.InvalidQuery("restype", restype, "Not a container."))
			}
			add(checkBlob(r.Name))
			r.Op, refusal = r.blobOp(r.Query.Get("comp"))
			add(checkSnapshot(r.Op, r.Query.Get("snapshot")))
		case restype == "container":
			r.Op, refusal = containerOp(r.Method, r.Query.Get("comp"))
		default:
			refusal = reply.InvalidQuery("restype", restype, "Unknown type of resource.")
		}
		add(refusal)
	}
	for _, e := range refusals {
		if e != nil {
			r.Refusal = e
			return
		}
	}
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
		return reply.InvalidQuery("snapshot", id, "Not an id of a snapshot.")
	}
	return nil
}

func batchOp(method string) (op.Op, *reply.Error) {
	if method == http.MethodPost {
		return op.BlobBatch, nil
	}
	return op.BlobOther, reply.UnsupportedVerb()
}

func blobAccountOp(method, restype, comp string) (op.Op, *reply.Error) {
	get, head, put := method == http.MethodGet, method == http.MethodHead, method == http.MethodPut
	switch restype + " " + comp {
	case " list":
		if get {
			return op.BlobListContainers, nil
		}
		return op.BlobOther, reply.UnsupportedVerb()
	case "account properties":
		if get || head {
			return op.BlobGetAccountInfo, nil
		}
		return op.BlobOther, reply.UnsupportedVerb()
	case "service properties":
		switch {
		case get:
			return op.BlobGetProperties, nil
		case put:
			return op.BlobSetProperties, nil
		}
		return op.BlobOther, reply.UnsupportedVerb()
	case "service stats":
		return op.BlobStats, noStats(comp)
	case "service userdelegationkey":
		return op.BlobOther, reply.NotImplemented("user delegation keys")
	case " batch":
		return batchOp(method)
	case " blobs":
		return op.BlobOther, reply.NotImplemented("search by tags")
	case " ":
		return op.BlobOther, reply.InvalidURI()
	}
	return op.BlobOther, unknownComp(comp)
}

func containerOp(method, comp string) (op.Op, *reply.Error) {
	read := method == http.MethodGet || method == http.MethodHead
	put := method == http.MethodPut
	switch comp {
	case "":
		switch {
		case put:
			return op.BlobCreateContainer, nil
		case read:
			return op.BlobGetContainer, nil
		case method == http.MethodDelete:
			return op.BlobDeleteContainer, nil
		}
	case "metadata":
		switch {
		case put:
			return op.BlobSetContainerMetadata, nil
		case read:
			return op.BlobGetContainer, nil
		}
	case "acl":
		switch {
		case put:
			return op.BlobSetACL, nil
		case read:
			return op.BlobGetACL, nil
		}
	case "lease":
		if put {
			return op.BlobLeaseContainer, nil
		}
	case "list":
		if method == http.MethodGet {
			return op.BlobList, nil
		}
	case "batch":
		return batchOp(method)
	case "undelete", "rename", "blobs":
		return op.BlobOther, reply.NotImplemented("comp=" + comp + " on a container")
	default:
		return op.BlobOther, unknownComp(comp)
	}
	return op.BlobOther, reply.UnsupportedVerb()
}

func (r *Request) blobOp(comp string) (op.Op, *reply.Error) {
	switch r.Method {
	case http.MethodGet:
		switch comp {
		case "", "metadata":
			return op.BlobGet, nil
		case "blocklist":
			return op.BlobGetBlockList, nil
		case "tags":
			return op.BlobGetTags, nil
		case "pagelist":
			return op.BlobOther, reply.NotImplemented("page blobs")
		}
	case http.MethodHead:
		switch comp {
		case "", "metadata":
			return op.BlobHead, nil
		}
	case http.MethodDelete:
		switch comp {
		case "":
			return op.BlobDelete, nil
		case "immutabilityPolicies":
			return op.BlobOther, reply.NotImplemented("immutability policies")
		}
	case http.MethodPost:
		if comp == "query" {
			return op.BlobOther, reply.NotImplemented("query")
		}
	case http.MethodPut:
		return r.blobPutOp(comp)
	default:
		return op.BlobOther, reply.UnsupportedVerb()
	}
	return op.BlobOther, unknownBlobComp(comp)
}

func unknownBlobComp(comp string) *reply.Error {
	if _, ok := blobPuts[comp]; ok || comp == "" {
		return reply.UnsupportedVerb()
	}
	return unknownComp(comp)
}

// blobPuts are the operations on a blob with the method PUT, by the comp parameter.
var blobPuts = map[string]op.Op{
	"block":       op.BlobPutBlock,
	"blocklist":   op.BlobPutBlockList,
	"appendblock": op.BlobAppend,
	"seal":        op.BlobSeal,
	"metadata":    op.BlobSetMetadata,
	"properties":  op.BlobSetHeaders,
	"lease":       op.BlobLease,
	"tags":        op.BlobSetTags,
	"tier":        op.BlobSetTier,
	"copy":        op.BlobAbortCopy,
	"snapshot":    op.BlobSnapshot,
}

func (r *Request) blobPutOp(comp string) (op.Op, *reply.Error) {
	if o, ok := blobPuts[comp]; ok {
		return o, nil
	}
	switch comp {
	case "":
		kind := r.Header.Get("X-Ms-Blob-Type")
		if r.Header.Get("X-Ms-Copy-Source") != "" && (kind == "" || kind == "BlockBlob") {
			return op.BlobCopy, nil
		}
		return op.BlobPut, nil
	case "page", "incrementalcopy":
		return op.BlobOther, reply.NotImplemented("page blobs")
	case "undelete", "expiry", "immutabilityPolicies", "legalhold":
		return op.BlobOther, reply.NotImplemented("comp=" + comp)
	}
	return op.BlobOther, unknownComp(comp)
}
