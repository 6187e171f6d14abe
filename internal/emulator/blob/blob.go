package blob

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

const (
	blockBlob  = "BlockBlob"
	appendBlob = "AppendBlob"
)

// stagedFor is how long uncommitted blocks are kept after the last Put Block.
const stagedFor = 7 * 24 * time.Hour

// A block is a stretch of a blob's content. The bytes are never changed.
type block struct {
	id   string // as the client sent it, in base64; "" without one
	data []byte
	end  int64 // offset in the blob just behind it
}

type blob struct {
	name      string
	kind      string
	committed bool // false: only uncommitted blocks exist
	created   time.Time
	modified  time.Time
	etag      string
	head      contentHeaders
	meta      restxml.Metadata
	tags      []tag
	tier      string // as set explicitly, else ""
	sealed    bool
	blocks    []block
	staged    map[string][]byte
	stagedAt  time.Time
	lease     lease
	copied    *copied
}

// size is the length of the content in bytes.
func (b *blob) size() int64 {
	if len(b.blocks) == 0 {
		return 0
	}
	return b.blocks[len(b.blocks)-1].end
}

// forget drops uncommitted blocks whose week is over, and reports whether nothing
// is left of the blob.
func (b *blob) forget(now time.Time) bool {
	if b.staged != nil && now.Sub(b.stagedAt) >= stagedFor {
		b.staged = nil
	}
	return !b.committed && b.staged == nil
}

// contentOf lines blocks up.
func contentOf(blocks []block) []block {
	var end int64
	for i := range blocks {
		end += int64(len(blocks[i].data))
		blocks[i].end = end
	}
	return blocks
}

// slice gives the stored bytes of [from, to) without copying them.
func (b *blob) slice(from, to int64) [][]byte {
	i, _ := slices.BinarySearchFunc(b.blocks, from, func(k block, from int64) int {
		if k.end <= from {
			return -1
		}
		return 1
	})
	var parts [][]byte
	for ; i < len(b.blocks) && from < to; i++ {
		k := b.blocks[i]
		start := k.end - int64(len(k.data))
		part := k.data[from-start : min(to, k.end)-start]
		if len(part) > 0 {
			parts = append(parts, part)
		}
		from = k.end
	}
	return parts
}

// stamp gives the blob a new version. It needs s.mu.
func (r *request) stamp(b *blob) {
	b.etag, b.modified = r.s.ticks.ETag(r.Now), r.Now
	b.lease.modified(r.Now)
}

// onBlob lets do work on the committed blob of the path, with s.mu held.
func (r *request) onBlob(do func(*container, *blob) *restxml.Error) *restxml.Error {
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	ct, b, e := r.lookup()
	if e != nil {
		return e
	}
	if b == nil || !b.committed {
		return noBlob()
	}
	return do(ct, b)
}

func noBlob() *restxml.Error {
	return restxml.Refuse(http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
}

// lookup finds the container, and the blob if there is one, also an uncommitted
// one. It needs s.mu.
func (r *request) lookup() (*container, *blob, *restxml.Error) {
	ct, e := r.find()
	if e != nil {
		return nil, nil, e
	}
	return ct, ct.get(r.blob, r.Now), nil
}

func wrongType() *restxml.Error {
	return conflict("InvalidBlobType", "The blob type is invalid for this operation.")
}

// replace puts fresh in the place of the path's blob, whatever is there, after
// the checks that a write which creates needs. fill, if any, completes fresh from
// what is there (nil, or also an uncommitted blob) once they have passed. It needs
// s.mu.
func (r *request) replace(cond conditions, fresh *blob, fill func(*blob) *restxml.Error) *restxml.Error {
	ct, b, e := r.lookup()
	if e != nil {
		return e
	}
	old := b
	if b != nil && !b.committed {
		old = nil
	}
	if e := r.holds(old, true); e != nil {
		return e
	}
	if e := cond.create(old); e != nil {
		return e
	}
	if old != nil && old.kind != fresh.kind {
		return wrongType()
	}
	if fill != nil {
		if e := fill(b); e != nil {
			return e
		}
	}
	fresh.name, fresh.committed, fresh.created = r.blob, true, r.Now
	if old != nil {
		fresh.created, fresh.lease = old.created, old.lease
		if fresh.tier == "" {
			fresh.tier = old.tier
		}
	}
	if b != nil {
		*b = *fresh // which also drops the uncommitted blocks
	} else {
		b = fresh
		ct.add(b)
	}
	r.stamp(b)
	r.Stamp(b.etag, b.modified)
	r.Count(0, 1)
	return nil
}

// onOwnBlob is onBlob behind the lease and the conditions of a write.
func (r *request) onOwnBlob(do func(*container, *blob) *restxml.Error) *restxml.Error {
	cond, e := readConditions(r.Call, "", false)
	if e != nil {
		return e
	}
	return r.onBlob(func(ct *container, b *blob) *restxml.Error {
		if e := r.holds(b, true); e != nil {
			return e
		}
		if e := cond.write(b.etag, b.modified); e != nil {
			return e
		}
		return do(ct, b)
	})
}

// changeBlob runs one write on an existing blob behind its lease and conditions, and
// stamps the answer. do may refuse, and then has changed nothing.
func (r *request) changeBlob(do func(*blob) *restxml.Error) *restxml.Error {
	return r.onOwnBlob(func(_ *container, b *blob) *restxml.Error {
		if e := do(b); e != nil {
			return e
		}
		r.stamp(b)
		r.Stamp(b.etag, b.modified)
		r.Count(0, 1)
		return nil
	})
}

func (r *request) blobOp() *restxml.Error {
	comp := r.Query.Get("comp")
	switch r.R.Method {
	case http.MethodGet:
		switch comp {
		case "":
			return r.download()
		case "metadata":
			return r.describe()
		case "blocklist":
			return r.getBlockList()
		case "tags":
			return r.getTags()
		case "pagelist":
			return restxml.NotImplemented("page blobs")
		}
	case http.MethodHead:
		switch comp {
		case "", "metadata":
			return r.describe()
		}
	case http.MethodDelete:
		switch comp {
		case "":
			return r.deleteBlob()
		case "immutabilityPolicies":
			return restxml.NotImplemented("immutability policies")
		}
	case http.MethodPost:
		if comp == "query" {
			return restxml.NotImplemented("query")
		}
	case http.MethodPut:
		return r.putOp(comp)
	default:
		return restxml.UnsupportedVerb()
	}
	return r.unknown(comp)
}

func (r *request) unknown(comp string) *restxml.Error {
	switch comp {
	case "", "metadata", "block", "blocklist", "appendblock", "seal", "properties", "lease", "tags", "tier", "copy":
		return restxml.UnsupportedVerb()
	}
	return restxml.InvalidQuery("comp", comp, "Unknown operation.")
}

func (r *request) putOp(comp string) *restxml.Error {
	source := r.Header("X-Ms-Copy-Source") != ""
	switch comp {
	case "":
		switch kind := r.Header("X-Ms-Blob-Type"); {
		case source && kind == "":
			return r.copyBlob()
		case source && kind == blockBlob:
			return r.putFromURL()
		default:
			return r.putBlob(kind)
		}
	case "block":
		return r.putBlock(source)
	case "blocklist":
		return r.putBlockList()
	case "appendblock":
		return r.appendBlock(source)
	case "seal":
		return r.seal()
	case "metadata":
		return r.setMetadata()
	case "properties":
		return r.setHeaders()
	case "lease":
		return r.leaseBlob()
	case "tags":
		return r.setTags()
	case "tier":
		return r.setTier()
	case "copy":
		return r.abortCopy()
	case "page", "incrementalcopy":
		return restxml.NotImplemented("page blobs")
	case "snapshot", "undelete", "expiry", "immutabilityPolicies", "legalhold":
		return restxml.NotImplemented("comp=" + comp)
	}
	return r.unknown(comp)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
