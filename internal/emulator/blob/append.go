package blob

import (
	"net/http"
	"strconv"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// appendBlock is Append Block, and Append Block From URL when the content has a
// source. https://learn.microsoft.com/rest/api/storageservices/append-block
func (r *request) appendBlock(source bool) *restxml.Error {
	at, e := r.offset("X-Ms-Blob-Condition-Appendpos")
	if e != nil {
		return e
	}
	most, e := r.offset("X-Ms-Blob-Condition-Maxsize")
	if e != nil {
		return e
	}
	data, e := r.content(source, maxAppend(r.Version))
	if e != nil {
		return e
	}
	e = r.changeBlob(func(b *blob) *restxml.Error {
		size := b.size()
		switch {
		case b.kind != appendBlob:
			return wrongType()
		case b.sealed:
			return conflict("BlobIsSealed", "The specified blob is sealed and its contents can't be modified unless the blob is re-created after a delete.")
		case most >= 0 && size+int64(len(data)) > most:
			return restxml.Refuse(http.StatusPreconditionFailed, "MaxBlobSizeConditionNotMet", "The max blob size condition specified was not met.")
		case at >= 0 && size != at:
			return restxml.Refuse(http.StatusPreconditionFailed, "AppendPositionConditionNotMet", "The append position condition specified was not met.")
		case len(b.blocks) >= maxBlocks:
			return conflict("BlockCountExceedsLimit", "The committed block count cannot exceed the maximum limit of 50,000 blocks.")
		}
		b.blocks = append(b.blocks, block{data: data, end: size + int64(len(data))})
		b.head.md5 = "" // it was of other content
		r.Set("X-Ms-Blob-Append-Offset", itoa(size))
		r.Set("X-Ms-Blob-Committed-Block-Count", itoa(int64(len(b.blocks))))
		return nil
	})
	if e == nil {
		r.created()
	}
	return e
}

// offset reads a byte position; -1 when the header is absent.
func (r *request) offset(name string) (int64, *restxml.Error) {
	text := r.Header(name)
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, restxml.InvalidHeader(name, text)
	}
	return n, nil
}

// seal makes an append blob read-only. It may be done again.
// https://learn.microsoft.com/rest/api/storageservices/append-blob-seal
func (r *request) seal() *restxml.Error {
	at, e := r.offset("X-Ms-Blob-Condition-Appendpos")
	if e != nil {
		return e
	}
	e = r.changeBlob(func(b *blob) *restxml.Error {
		switch {
		case b.kind != appendBlob:
			return wrongType()
		case at >= 0 && b.size() != at:
			return restxml.Refuse(http.StatusPreconditionFailed, "AppendPositionConditionNotMet", "The append position condition specified was not met.")
		}
		b.sealed = true
		return nil
	})
	if e == nil {
		r.Set("X-Ms-Blob-Sealed", "true")
		r.Empty(http.StatusOK)
	}
	return e
}
