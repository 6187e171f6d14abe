package blob

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// putBlock implements Put Block and Put Block From URL.
// https://learn.microsoft.com/rest/api/storageservices/put-block
func (c *call) putBlock() *reply.Error {
	id := c.Query.Get("blockid")
	if id == "" {
		return reply.MissingQuery("blockid")
	}
	if n, ok := blockIDLen(id); !ok {
		return reply.InvalidQuery("blockid", id, "Not a valid base64 string.")
	} else if n > maxBlockID {
		return reply.New(http.StatusBadRequest, "OutOfRangeInput", "One of the request inputs is out of range.").Because("blockid: at most 64 bytes before base64")
	}
	data, e := c.content(maxBlock(c.Version))
	if e != nil {
		return e
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	ct, b, e := c.lookup()
	if e != nil {
		return e
	}
	if e := c.holds(b, true); e != nil {
		return e
	}
	if b != nil && b.kind != blockBlob {
		return wrongType()
	}
	if e := b.canStage(id); e != nil {
		return e
	}
	if b == nil {
		b = &blob{name: c.Name, kind: blockBlob, created: c.Now}
		ct.add(b)
	}
	if b.staged == nil {
		b.staged = map[string][]byte{}
	}
	b.staged[id], b.stagedAt = data, c.Now
	c.Count(0, 1)
	return c.created()
}

func (b *blob) canStage(id string) *reply.Error {
	if b == nil {
		return nil
	}
	_, again := b.staged[id]
	if !again && len(b.staged) >= maxStaged {
		return conflict("BlockCountExceedsLimit", "The uncommitted block count cannot exceed the maximum limit of 100,000 blocks.")
	}
	for other := range b.staged {
		if len(other) != len(id) {
			return reply.New(http.StatusBadRequest, "InvalidBlobOrBlock", "The specified blob or block content is invalid.").Because("blockid: all ids of a blob have the same length")
		}
		break // all have the same length
	}
	return nil
}

// content returns the body of a request or, if it names a source blob, the range of that
// blob. The content is verified, not empty, and at most limit bytes long.
func (c *call) content(limit int64) ([]byte, *reply.Error) {
	if c.Header("X-Ms-Copy-Source") != "" {
		return c.sourceContent(limit)
	}
	data, e := c.Body(limit)
	if e != nil {
		return nil, e
	}
	if len(data) == 0 {
		return nil, reply.InvalidHeader("Content-Length", "0", "a block is not empty")
	}
	return data, c.Verify(data, "Content-Md5", "X-Ms-Content-Crc64")
}

// https://learn.microsoft.com/rest/api/storageservices/put-block-list
func (c *call) putBlockList() *reply.Error {
	fresh, cond, e := c.incoming(blockBlob, false)
	if e != nil {
		return e
	}
	body, e := c.Body(maxBlockList)
	if e != nil {
		return e
	}
	if e := c.Verify(body, "Content-Md5", "X-Ms-Content-Crc64"); e != nil {
		return e
	}
	list, e := xmlservice.ParseXML(body, "BlockList")
	if e != nil {
		return e
	}
	if len(list.Children) > maxBlocks {
		return reply.New(http.StatusBadRequest, "BlockListTooLong", "The block list may not contain more than 50,000 blocks.").Because("BlockList: at most 50,000 elements")
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	e = c.replace(cond, fresh, func(b *blob) (e *reply.Error) {
		fresh.blocks, e = b.pick(list)
		return e
	})
	if e != nil {
		return e
	}
	return c.created()
}

// pick returns the blocks of a block list. Each element of the list names the list of
// blocks to take its block from. b may be nil.
func (b *blob) pick(list *xmlservice.Node) ([]block, *reply.Error) {
	var staged map[string][]byte
	committed := map[string][]byte{}
	if b != nil {
		staged = b.staged
		for _, k := range b.blocks {
			if k.id != "" {
				committed[k.id] = k.data
			}
		}
	}
	blocks := make([]block, 0, len(list.Children))
	for _, n := range list.Children {
		id := strings.TrimSpace(n.Text)
		if n, ok := blockIDLen(id); !ok || n > maxBlockID {
			return nil, reply.New(http.StatusBadRequest, "InvalidBlockId", "The specified block ID is invalid. The block ID must be Base64-encoded.").Because("BlockList" + ": base64 of at most 64 bytes")
		}
		var data []byte
		ok := false
		switch n.Name {
		case "Committed":
			data, ok = committed[id]
		case "Uncommitted":
			data, ok = staged[id]
		case "Latest":
			if data, ok = staged[id]; !ok {
				data, ok = committed[id]
			}
		default:
			return nil, reply.UnknownXML(n.Name)
		}
		if !ok {
			return nil, reply.New(http.StatusBadRequest, "InvalidBlockList", "The specified block list is invalid.").Because(n.Name + ": the blob has no such block")
		}
		blocks = append(blocks, block{id: id, data: data})
	}
	return contentOf(blocks), nil
}

// https://learn.microsoft.com/rest/api/storageservices/get-block-list
func (c *call) getBlockList() *reply.Error {
	kind := c.Query.Get("blocklisttype")
	switch kind {
	case "":
		kind = "committed"
	case "committed", "uncommitted", "all":
	default:
		return reply.InvalidQuery("blocklisttype", kind, "Unknown list.")
	}
	var x xmlservice.XML
	c.Lock(&c.s.mu)
	e := c.blockList(&x, kind)
	c.s.mu.Unlock()
	if e != nil {
		return e
	}
	return c.XML(http.StatusOK, &x)
}

func (c *call) blockList(x *xmlservice.XML, kind string) *reply.Error {
	_, b, e := c.lookup()
	if e != nil {
		return e
	}
	if b == nil {
		return noBlob()
	}
	if e := c.holds(b, false); e != nil {
		return e
	}
	if b.kind != blockBlob {
		return wrongType()
	}
	if b.committed {
		c.Stamp(b.etag, b.modified)
		c.Set("X-Ms-Blob-Content-Length", itoa(b.size()))
	}
	item := func(id string, data []byte) {
		x.Begin("Block")
		x.Text("Name", id)
		x.Text("Size", itoa(int64(len(data))))
		x.End("Block")
	}
	x.Begin("BlockList")
	if kind != "uncommitted" {
		x.Begin("CommittedBlocks")
		for _, k := range b.blocks {
			if k.id != "" {
				item(k.id, k.data)
			}
		}
		x.End("CommittedBlocks")
	}
	if kind != "committed" {
		x.Begin("UncommittedBlocks")
		for _, id := range slices.Sorted(maps.Keys(b.staged)) {
			item(id, b.staged[id])
		}
		x.End("UncommittedBlocks")
	}
	x.End("BlockList")
	return nil
}
