package request

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

const (
	get, head, put = http.MethodGet, http.MethodHead, http.MethodPut
	post, remove   = http.MethodPost, http.MethodDelete
)

// routes are the operations on one kind of resource of the Queue or Blob service.
type routes struct {
	other op.Op // of all other requests

	// ops are the operations by what the request asks for, usually its comp parameter, and by
	// its method.
	ops map[string]map[string]op.Op

	// missing is what the real service supports and this one does not, also by what the
	// request asks for.
	missing map[string]string
}

// find returns the operation of a request that asks for what with comp, and the reply if it
// cannot be carried out.
func (t *routes) find(method, what, comp string) (op.Op, *reply.Error) {
	if name, ok := t.missing[what]; ok {
		return t.other, reply.NotImplemented(name)
	}
	byMethod, ok := t.ops[what]
	if !ok {
		return t.other, reply.InvalidQuery("comp", comp, "Unknown operation.")
	}
	if o, ok := byMethod[method]; ok {
		return o, nil
	}
	return t.other, reply.UnsupportedVerb()
}

// onService is find for a request to the service itself, whose statistics only the secondary
// returns.
func (t *routes) onService(method, restype, comp string, stats op.Op) (op.Op, *reply.Error) {
	switch what := restype + " " + comp; what {
	case " ":
		return t.other, reply.InvalidURI("the address is that of the account, without an operation")
	case "service stats":
		return stats, reply.InvalidQuery("comp", comp, "Statistics are read from the secondary endpoint.")
	default:
		return t.find(method, what, comp)
	}
}

var queueService = routes{other: op.QueueOther, ops: map[string]map[string]op.Op{
	" list":              {get: op.QueueList},
	"service properties": {get: op.QueueGetProperties, put: op.QueueSetProperties},
}}

var onQueue = routes{other: op.QueueOther, ops: map[string]map[string]op.Op{
	"":         {put: op.QueueCreate, remove: op.QueueDrop},
	"metadata": {get: op.QueueGetMetadata, head: op.QueueGetMetadata, put: op.QueueSetMetadata},
	"acl":      {get: op.QueueGetACL, head: op.QueueGetACL, put: op.QueueSetACL},
}}

var onMessages = routes{other: op.QueueOther, ops: map[string]map[string]op.Op{
	"all": {post: op.QueuePut, get: op.QueueGet, remove: op.QueueClear},
	"one": {put: op.QueueUpdate, remove: op.QueueDelete},
}}

var blobService = routes{
	other: op.BlobOther,
	ops: map[string]map[string]op.Op{
		" list":              {get: op.BlobListContainers},
		" batch":             {post: op.BlobBatch},
		"account properties": {get: op.BlobGetAccountInfo, head: op.BlobGetAccountInfo},
		"service properties": {get: op.BlobGetProperties, put: op.BlobSetProperties},
	},
	missing: map[string]string{"service userdelegationkey": "user delegation keys", " blobs": "search by tags"},
}

var onContainer = routes{
	other: op.BlobOther,
	ops: map[string]map[string]op.Op{
		"":         {get: op.BlobGetContainer, head: op.BlobGetContainer, put: op.BlobCreateContainer, remove: op.BlobDeleteContainer},
		"metadata": {get: op.BlobGetContainer, head: op.BlobGetContainer, put: op.BlobSetContainerMetadata},
		"acl":      {get: op.BlobGetACL, head: op.BlobGetACL, put: op.BlobSetACL},
		"lease":    {put: op.BlobLeaseContainer},
		"list":     {get: op.BlobList},
		"batch":    {post: op.BlobBatch},
	},
	missing: map[string]string{
		"undelete": "comp=undelete on a container", "rename": "comp=rename on a container", "blobs": "comp=blobs on a container",
	},
}

var onBlob = routes{
	other: op.BlobOther,
	ops: map[string]map[string]op.Op{
		"":            {get: op.BlobGet, head: op.BlobHead, put: op.BlobPut, remove: op.BlobDelete},
		"metadata":    {get: op.BlobGet, head: op.BlobHead, put: op.BlobSetMetadata},
		"blocklist":   {get: op.BlobGetBlockList, put: op.BlobPutBlockList},
		"tags":        {get: op.BlobGetTags, put: op.BlobSetTags},
		"block":       {put: op.BlobPutBlock},
		"appendblock": {put: op.BlobAppend},
		"seal":        {put: op.BlobSeal},
		"properties":  {put: op.BlobSetHeaders},
		"lease":       {put: op.BlobLease},
		"tier":        {put: op.BlobSetTier},
		"copy":        {put: op.BlobAbortCopy},
		"snapshot":    {put: op.BlobSnapshot},
	},
	missing: map[string]string{
		"page": "page blobs", "pagelist": "page blobs", "incrementalcopy": "page blobs",
		"query": "query", "undelete": "comp=undelete", "expiry": "comp=expiry", "legalhold": "comp=legalhold",
		"immutabilityPolicies": "immutability policies",
	},
}
