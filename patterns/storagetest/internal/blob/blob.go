package blob

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

const (
	blockBlob  = "BlockBlob"
	appendBlob = "AppendBlob"
)

// stagedFor is how long uncommitted blocks are kept after the last Put Block.
const stagedFor = 7 * 24 * time.Hour

// block is a part of a blob's content. The bytes are never changed.
type block struct {
	id   string // as the client sent it, in base64; "" if it has none
	data []byte
	end  int64 // offset in the blob after it
}

type blob struct {
	name      string
	kind      string
	committed bool // if false, only uncommitted blocks exist
	created   time.Time
	modified  time.Time
	etag      string
	head      contentHeaders
	meta      xmlservice.Metadata
	tags      []tag
	tier      string // "" unless set explicitly
	tiered    time.Time
	sealed    bool
	blocks    []block
	staged    map[string][]byte
	stagedAt  time.Time
	lease     lease
	copied    *copied
	snapshot  string  // the id, "" for the blob itself
	snapshots []*blob // of the blob, the oldest first
}

// size is the length of the content in bytes.
func (b *blob) size() int64 {
	if len(b.blocks) == 0 {
		return 0
	}
	return b.blocks[len(b.blocks)-1].end
}

// forget drops uncommitted blocks after a week, and reports whether nothing remains of
// the blob.
func (b *blob) forget(now time.Time) bool {
	if b.staged != nil && now.Sub(b.stagedAt) >= stagedFor {
		b.staged = nil
	}
	return !b.committed && b.staged == nil
}

// contentOf returns blocks with their offsets set.
func contentOf(blocks []block) []block {
	var end int64
	for i := range blocks {
		end += int64(len(blocks[i].data))
		blocks[i].end = end
	}
	return blocks
}

// slice returns the stored bytes of [from, to) without copying them.
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

// stamp sets a new ETag and time of modification. The caller holds s.mu.
func (c *call) stamp(b *blob) {
	b.etag, b.modified = c.s.ticks.ETag(c.Now), c.Now
	b.lease.modified(c.Now)
}

// onBlob calls do with the committed blob that the request names, with s.mu held.
func (c *call) onBlob(do func(*container, *blob) *reply.Error) *reply.Error {
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	ct, b, e := c.lookup()
	if e != nil {
		return e
	}
	if b == nil || !b.committed {
		return noBlob()
	}
	return do(ct, b)
}

func noBlob() *reply.Error {
	return reply.New(http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
}

// lookup returns the container, and the blob or its snapshot. The blob may be uncommitted, or
// nil. The caller holds s.mu.
func (c *call) lookup() (*container, *blob, *reply.Error) {
	ct, e := c.find()
	if e != nil {
		return nil, nil, e
	}
	return ct, ct.get(c.Name, c.Now).snapshotOf(c.Query.Get("snapshot")), nil
}

func wrongType() *reply.Error {
	return conflict("InvalidBlobType", "The blob type is invalid for this operation.")
}

// replace creates the blob that the request names, or overwrites it, after checking its
// lease and conditions. fill, if it is not nil, completes fresh with data of the existing
// blob, which may be uncommitted, or nil. The caller holds s.mu.
func (c *call) replace(cond conditions, fresh *blob, fill func(*blob) *reply.Error) *reply.Error {
	ct, b, e := c.lookup()
	if e != nil {
		return e
	}
	old := b
	if b != nil && !b.committed {
		old = nil
	}
	if e := c.holds(old, true); e != nil {
		return e
	}
	if e := cond.create(old); e != nil {
		return e
	}
	if old == nil && b != nil && !cond.modified.IsZero() && !changedSince(b.stagedAt, cond.modified) {
		return cond.failed(http.StatusPreconditionFailed)
	}
	if old != nil && old.kind != fresh.kind {
		return wrongType()
	}
	if fill != nil {
		if e := fill(b); e != nil {
			return e
		}
	}
	fresh.name, fresh.committed, fresh.created = c.Name, true, c.Now
	if fresh.tier != "" {
		fresh.tiered = c.Now
	}
	if old != nil {
		fresh.created, fresh.lease = old.created, old.lease
		if fresh.tier == "" {
			fresh.tier, fresh.tiered = old.tier, old.tiered
		}
	}
	if b != nil {
		fresh.snapshots = b.snapshots
		*b = *fresh // which also drops the uncommitted blocks
	} else {
		b = fresh
		ct.add(b)
	}
	c.stamp(b)
	c.Stamp(b.etag, b.modified)
	c.Count(0, 1)
	return nil
}

// onOwnBlob is onBlob after checking the lease and the conditions of a write, whose names begin
// with prefix. needsLease requires the lease id if the blob is leased.
func (c *call) onOwnBlob(prefix string, needsLease bool, do func(*container, *blob) *reply.Error) *reply.Error {
	cond, e := readConditions(c.Call, prefix, false)
	if e != nil {
		return e
	}
	return c.onBlob(func(ct *container, b *blob) *reply.Error {
		if e := c.holds(b, needsLease); e != nil {
			return e
		}
		if e := cond.write(b.etag, b.modified); e != nil {
			return e
		}
		return do(ct, b)
	})
}

// changeBlob writes to an existing blob after checking its lease and conditions, and
// sets the ETag and time of the reply. If do returns an error, it must not have changed the blob.
func (c *call) changeBlob(do func(*blob) *reply.Error) *reply.Error {
	return c.onOwnBlob("", true, func(_ *container, b *blob) *reply.Error {
		if e := do(b); e != nil {
			return e
		}
		c.stamp(b)
		c.Stamp(b.etag, b.modified)
		c.Count(0, 1)
		return nil
	})
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
