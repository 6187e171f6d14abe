package blob

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
	"github.com/google/uuid"
)

// sourcePath finds the container and blob of x-ms-copy-source, which has to be
// within the account.
func (r *request) sourcePath() (container, name string, e *restxml.Error) {
	text := r.Header("X-Ms-Copy-Source")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || len(text) > 2<<10 {
		return "", "", restxml.InvalidHeader("x-ms-copy-source", text)
	}
	base, err := url.Parse(r.Endpoint())
	if err != nil {
		return "", "", restxml.InvalidHeader("x-ms-copy-source", text)
	}
	path, ok := strings.CutPrefix(u.Path, strings.TrimSuffix(base.Path, "/")+"/")
	if !ok || !strings.EqualFold(u.Host, base.Host) {
		return "", "", restxml.Refuse(http.StatusBadRequest, "CopyAcrossAccountsNotSupported", "The copy source account and destination account must be the same.")
	}
	if q := u.Query(); q.Has("snapshot") || q.Has("versionid") {
		return "", "", restxml.NotImplemented("snapshots and versions")
	}
	if container, name, ok = strings.Cut(path, "/"); !ok {
		container, name = rootContainer, path
	}
	if checkContainer(container) != nil || name == "" {
		return "", "", restxml.InvalidHeader("x-ms-copy-source", text)
	}
	return container, name, nil
}

// sourceBlob finds the source and checks its conditions. It needs s.mu.
func (r *request) sourceBlob(container, name string, cond conditions) (*blob, *restxml.Error) {
	var b *blob
	if ct := r.s.containers[container]; ct != nil {
		b = ct.get(name, r.Now)
	}
	if b == nil || !b.committed {
		return nil, restxml.Refuse(http.StatusNotFound, "CannotVerifyCopySource", "The specified blob does not exist.",
			"CopySourceStatusCode", "404", "CopySourceErrorCode", "BlobNotFound")
	}
	return b, cond.write(b.etag, b.modified)
}

// https://learn.microsoft.com/rest/api/storageservices/copy-blob and
// https://learn.microsoft.com/rest/api/storageservices/copy-blob-from-url
func (r *request) copyBlob() *restxml.Error {
	fresh, cond, e := r.incoming("", false)
	if e != nil {
		return e
	}
	sourceCond, e := readConditions(r.Call, "X-Ms-Source-", false)
	if e != nil {
		return e
	}
	container, name, e := r.sourcePath()
	if e != nil {
		return e
	}
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	src, e := r.sourceBlob(container, name, sourceCond)
	if e != nil {
		return e
	}
	fresh.take(src)
	fresh.sealed = src.kind == appendBlob && r.Header("X-Ms-Seal-Blob") == "true"
	fresh.copied = &copied{id: uuid.NewString(), source: r.Header("X-Ms-Copy-Source"), size: src.size(), done: r.Now}
	sync := r.Header("X-Ms-Requires-Sync") == "true"
	e = r.replace(cond, fresh, func(b *blob) *restxml.Error {
		if b != nil && !sync && b.lease.locked(r.Now) && b.lease.duration != forever {
			return restxml.Refuse(http.StatusPreconditionFailed, "InfiniteLeaseDurationRequired", "The lease ID matched, but the specified lease must be an infinite-duration lease.")
		}
		return nil
	})
	if e != nil {
		return e
	}
	r.Set("X-Ms-Copy-Id", fresh.copied.id)
	r.Set("X-Ms-Copy-Status", "success")
	r.Empty(http.StatusAccepted)
	return nil
}

// take copies what a copy copies: content, headers, and the metadata unless the
// request brought its own.
func (b *blob) take(src *blob) {
	b.kind, b.head = src.kind, src.head
	b.blocks = slices.Clip(src.blocks) // so that an append to either leaves the other alone
	if b.meta == nil {
		b.meta = src.meta
	}
}

// https://learn.microsoft.com/rest/api/storageservices/put-blob-from-url
func (r *request) putFromURL() *restxml.Error {
	if r.R.ContentLength > 0 {
		return restxml.InvalidHeader("Content-Length", itoa(r.R.ContentLength))
	}
	fresh, cond, e := r.incoming(blockBlob, false)
	if e != nil {
		return e
	}
	own, meta := fresh.head, fresh.meta
	keep := r.Header("X-Ms-Copy-Source-Blob-Properties") != "false"
	data, src, e := r.source(maxOneShot(r.Version))
	if e != nil {
		return e
	}
	if keep {
		fresh.head = override(src.head, own, r.Header("X-Ms-Blob-Content-Type") != "")
	}
	if fresh.meta = meta; meta == nil {
		fresh.meta = src.meta
	}
	fresh.head.md5 = restxml.MD5(data)
	if own.md5 != "" && own.md5 != fresh.head.md5 {
		return restxml.CheckMD5(own.md5, data)
	}
	if len(data) > 0 {
		fresh.blocks = contentOf([]block{{data: data}})
	}
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	if e := r.replace(cond, fresh, nil); e != nil {
		return e
	}
	r.Set("Content-Md5", fresh.head.md5)
	r.created()
	return nil
}

// override takes the source's headers but for those that the request sets.
func override(from, own contentHeaders, typed bool) contentHeaders {
	pick := func(own, from string) string {
		if own != "" {
			return own
		}
		return from
	}
	h := contentHeaders{
		contentType: from.contentType, encoding: pick(own.encoding, from.encoding), language: pick(own.language, from.language),
		cacheControl: pick(own.cacheControl, from.cacheControl), disposition: pick(own.disposition, from.disposition),
	}
	if typed {
		h.contentType = own.contentType
	}
	return h
}

// sourceContent is the content of Put Block From URL and Append Block From URL.
func (r *request) sourceContent(limit int64) ([]byte, *restxml.Error) {
	if r.R.ContentLength > 0 {
		return nil, restxml.InvalidHeader("Content-Length", itoa(r.R.ContentLength))
	}
	data, _, e := r.source(limit)
	if e == nil && len(data) == 0 {
		e = restxml.Refuse(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The range specified is invalid for the current size of the resource.")
	}
	return data, e
}

// source reads the source blob, or the x-ms-source-range of it, and verifies it.
// It returns the blob as it was then.
func (r *request) source(limit int64) ([]byte, blob, *restxml.Error) {
	var none blob
	cond, e := readConditions(r.Call, "X-Ms-Source-", false)
	if e != nil {
		return nil, none, e
	}
	container, name, e := r.sourcePath()
	if e != nil {
		return nil, none, e
	}
	var asked *span
	if text := r.Header("X-Ms-Source-Range"); text != "" {
		s, ok := parseSpan(text)
		if !ok {
			return nil, none, restxml.InvalidHeader("x-ms-source-range", text)
		}
		asked = &s
	}
	r.Lock(&r.s.mu)
	src, e := r.sourceBlob(container, name, cond)
	if e != nil {
		r.s.mu.Unlock()
		return nil, none, e
	}
	was := *src
	r.s.mu.Unlock()
	from, to, e := asked.within(was.size())
	if e != nil {
		return nil, none, e
	}
	if to-from > limit {
		return nil, none, rest.TooLarge(limit)
	}
	parts := was.slice(from, to)
	var data []byte
	if len(parts) == 1 {
		data = parts[0]
	} else {
		data = bytes.Join(parts, nil)
	}
	return data, was, r.Verify(data, "X-Ms-Source-Content-Md5", "X-Ms-Source-Content-Crc64")
}

// https://learn.microsoft.com/rest/api/storageservices/abort-copy-blob
func (r *request) abortCopy() *restxml.Error {
	if action := r.Header("X-Ms-Copy-Action"); action != "abort" {
		return restxml.InvalidHeader("x-ms-copy-action", action)
	}
	if r.Query.Get("copyid") == "" {
		return restxml.MissingQuery("copyid")
	}
	return r.onBlob(func(*container, *blob) *restxml.Error {
		return conflict("NoPendingCopyOperation", "There is currently no pending copy operation.")
	})
}
