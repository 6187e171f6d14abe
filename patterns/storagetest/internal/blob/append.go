package blob

import (
	"net/http"
	"strconv"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// appendBlock implements Append Block and Append Block From URL.
// https://learn.microsoft.com/rest/api/storageservices/append-block
func (c *call) appendBlock() *reply.Error {
	at, e := c.offset("X-Ms-Blob-Condition-Appendpos")
	if e != nil {
		return e
	}
	most, e := c.offset("X-Ms-Blob-Condition-Maxsize")
	if e != nil {
		return e
	}
	data, e := c.content(maxAppend(c.Version))
	if e != nil {
		return e
	}
	e = c.changeBlob(func(b *blob) *reply.Error {
		size := b.size()
		switch {
		case b.kind != appendBlob:
			return wrongType()
		case b.sealed:
			return conflict("BlobIsSealed", "The specified blob is sealed and its contents can't be modified unless the blob is re-created after a delete.")
		case most >= 0 && size+int64(len(data)) > most:
			return reply.New(http.StatusPreconditionFailed, "MaxBlobSizeConditionNotMet", "The max blob size condition specified was not met.")
		case at >= 0 && size != at:
			return reply.New(http.StatusPreconditionFailed, "AppendPositionConditionNotMet", "The append position condition specified was not met.")
		case len(b.blocks) >= maxBlocks:
			return conflict("BlockCountExceedsLimit", "The committed block count cannot exceed the maximum limit of 50,000 blocks.")
		}
		b.blocks = append(b.blocks, block{data: data, end: size + int64(len(data))})
		b.head.md5 = "" // the content has changed
		c.Set("X-Ms-Blob-Append-Offset", itoa(size))
		c.Set("X-Ms-Blob-Committed-Block-Count", itoa(int64(len(b.blocks))))
		return nil
	})
	if e != nil {
		return e
	}
	return c.created()
}

// offset reads a byte position from a header, -1 if the header is absent.
func (c *call) offset(name string) (int64, *reply.Error) {
	text := c.Header(name)
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, reply.InvalidHeader(name, text, "a number that is not negative")
	}
	return n, nil
}

// seal makes an append blob read-only. It may be repeated.
// https://learn.microsoft.com/rest/api/storageservices/append-blob-seal
func (c *call) seal() *reply.Error {
	at, e := c.offset("X-Ms-Blob-Condition-Appendpos")
	if e != nil {
		return e
	}
	e = c.changeBlob(func(b *blob) *reply.Error {
		switch {
		case b.kind != appendBlob:
			return wrongType()
		case at >= 0 && b.size() != at:
			return reply.New(http.StatusPreconditionFailed, "AppendPositionConditionNotMet", "The append position condition specified was not met.")
		}
		b.sealed = true
		return nil
	})
	if e != nil {
		return e
	}
	c.Set("X-Ms-Blob-Sealed", "true")
	return c.Empty(http.StatusOK)
}
