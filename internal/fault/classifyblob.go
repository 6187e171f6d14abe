package fault

import (
	"net/http"
	"net/url"
	"strings"
)

func (q *Request) blob(req *http.Request, path string, query url.Values) {
	q.Op = BlobOther
	container, name, _ := strings.Cut(path, "/")
	q.Resource, q.Name = container, name
	comp := query.Get("comp")
	put := req.Method == http.MethodPut
	switch {
	case container == "" && comp == "list":
		q.Op = BlobListContainers
	case container == "" && comp == "properties":
		q.Op = pick(put, BlobSetProperties, BlobGetProperties)
	case container == "" && comp == "stats":
		q.Op = BlobStats
	case container == "":
	case query.Get("restype") == "container":
		q.Op = containerOp(req.Method, comp)
	case put:
		q.Op = blobPut(req, comp)
	case req.Method == http.MethodGet:
		q.Op = pick(comp == "blocklist", BlobGetBlockList, BlobGet)
	case req.Method == http.MethodHead:
		q.Op = BlobHead
	case req.Method == http.MethodDelete:
		q.Op = BlobDelete
	}
}

func containerOp(method, comp string) Op {
	put := method == http.MethodPut
	switch {
	case comp == "list":
		return BlobList
	case comp == "acl":
		return pick(put, BlobSetACL, BlobGetACL)
	case comp == "lease":
		return BlobLeaseContainer
	case comp == "metadata":
		return pick(put, BlobSetContainerMetadata, BlobGetContainer)
	case comp != "":
		return BlobOther
	case put:
		return BlobCreateContainer
	case method == http.MethodDelete:
		return BlobDeleteContainer
	}
	return BlobGetContainer
}

func blobPut(req *http.Request, comp string) Op {
	switch comp {
	case "":
		return pick(spelled(req.Header, "X-Ms-Copy-Source") != "", BlobCopy, BlobPut)
	case "block":
		return BlobPutBlock
	case "blocklist":
		return BlobPutBlockList
	case "appendblock":
		return BlobAppend
	case "metadata":
		return BlobSetMetadata
	case "properties":
		return BlobSetHeaders
	case "lease":
		return BlobLease
	case "snapshot":
		return BlobSnapshot
	case "copy":
		return BlobCopy
	}
	return BlobOther
}
