package blob

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// putBlock is Put Block, and Put Block From URL when the content has a source.
// https://learn.microsoft.com/rest/api/storageservices/put-block
func (r *request) putBlock(source bool) *restxml.Error {
	id := r.Query.Get("blockid")
	if id == "" {
		return restxml.MissingQuery("blockid")
	}
	if n, ok := blockIDLen(id); !ok {
		return restxml.InvalidQuery("blockid", id, "Not a valid base64 string.")
	} else if n > maxBlockID {
		return restxml.Refuse(http.StatusBadRequest, "OutOfRangeInput", "One of the request inputs is out of range.")
	}
	data, e := r.content(source, maxBlock(r.Version))
	if e != nil {
		return e
	}
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	ct, b, e := r.lookup()
	if e != nil {
		return e
	}
	if e := r.holds(b, true); e != nil {
		return e
	}
	if b != nil && b.kind != blockBlob {
		return wrongType()
	}
	if e := b.canStage(id); e != nil {
		return e
	}
	if b == nil {
		b = &blob{name: r.blob, kind: blockBlob, created: r.Now}
		ct.add(b)
	}
	if b.staged == nil {
		b.staged = map[string][]byte{}
	}
	b.staged[id], b.stagedAt = data, r.Now
	r.Count(0, 1)
	r.created()
	return nil
}

func (b *blob) canStage(id string) *restxml.Error {
	if b == nil {
		return nil
	}
	_, again := b.staged[id]
	if !again && len(b.staged) >= maxStaged {
		return conflict("BlockCountExceedsLimit", "The uncommitted block count cannot exceed the maximum limit of 100,000 blocks.")
	}
	for other := range b.staged {
		if len(other) != len(id) {
			return restxml.Refuse(http.StatusBadRequest, "InvalidBlobOrBlock", "The specified blob or block content is invalid.")
		}
		break // all that are there have one length
	}
	return nil
}

// content is the body of a request, or the stretch of a source blob it names,
// verified, not empty and at most limit bytes.
func (r *request) content(source bool, limit int64) ([]byte, *restxml.Error) {
	if source {
		return r.sourceContent(limit)
	}
	data, e := r.Body(limit)
	if e != nil {
		return nil, e
	}
	if len(data) == 0 {
		return nil, restxml.InvalidHeader("Content-Length", "0")
	}
	return data, r.Verify(data, "Content-Md5", "X-Ms-Content-Crc64")
}

// https://learn.microsoft.com/rest/api/storageservices/put-block-list
func (r *request) putBlockList() *restxml.Error {
	fresh, cond, e := r.incoming(blockBlob, false)
	if e != nil {
		return e
	}
	body, e := r.Body(maxBlockList)
	if e != nil {
		return e
	}
	if e := r.Verify(body, "Content-Md5", "X-Ms-Content-Crc64"); e != nil {
		return e
	}
	list, e := restxml.ParseXML(body, "BlockList")
	if e != nil {
		return e
	}
	if len(list.Kids) > maxBlocks {
		return restxml.Refuse(http.StatusBadRequest, "BlockListTooLong", "The block list may not contain more than 50,000 blocks.")
	}
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	e = r.replace(cond, fresh, func(b *blob) (e *restxml.Error) {
		fresh.blocks, e = b.pick(list)
		return e
	})
	if e != nil {
		return e
	}
	r.created()
	return nil
}

// pick collects the blocks of a list, each from where its element says. b may be
// nil.
func (b *blob) pick(list *restxml.Node) ([]block, *restxml.Error) {
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
	blocks := make([]block, 0, len(list.Kids))
	for _, n := range list.Kids {
		id := strings.TrimSpace(n.Text)
		if n, ok := blockIDLen(id); !ok || n > maxBlockID {
			return nil, restxml.Refuse(http.StatusBadRequest, "InvalidBlockId", "The specified block ID is invalid. The block ID must be Base64-encoded.")
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
			return nil, restxml.InvalidXML()
		}
		if !ok {
			return nil, restxml.Refuse(http.StatusBadRequest, "InvalidBlockList", "The specified block list is invalid.")
		}
		blocks = append(blocks, block{id: id, data: data})
	}
	return contentOf(blocks), nil
}

// https://learn.microsoft.com/rest/api/storageservices/get-block-list
func (r *request) getBlockList() *restxml.Error {
	kind := r.Query.Get("blocklisttype")
	switch kind {
	case "":
		kind = "committed"
	case "committed", "uncommitted", "all":
	default:
		return restxml.InvalidQuery("blocklisttype", kind, "Unknown list.")
	}
	var x restxml.XML
	r.Lock(&r.s.mu)
	e := r.blockList(&x, kind)
	r.s.mu.Unlock()
	if e != nil {
		return e
	}
	r.XML(http.StatusOK, &x)
	return nil
}

func (r *request) blockList(x *restxml.XML, kind string) *restxml.Error {
	_, b, e := r.lookup()
	if e != nil {
		return e
	}
	if b == nil {
		return noBlob()
	}
	if e := r.holds(b, false); e != nil {
		return e
	}
	if b.kind != blockBlob {
		return wrongType()
	}
	if b.committed {
		r.Stamp(b.etag, b.modified)
	}
	r.Set("X-Ms-Blob-Content-Length", itoa(b.size()))
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
