package blob

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

func badMarker(marker string) *restxml.Error {
	return restxml.InvalidQuery("marker", marker, "Not a marker of this service.")
}

// https://learn.microsoft.com/rest/api/storageservices/list-containers2
func (r *request) listContainers() *restxml.Error {
	page, e := r.Page(badMarker)
	if e != nil {
		return e
	}
	include, e := r.Include("metadata", "deleted", "system")
	if e != nil {
		return e
	}
	var x restxml.XML
	x.Begin("EnumerationResults", "ServiceEndpoint", r.Endpoint())
	page.Echo(&x)
	x.Begin("Containers")
	next := ""
	r.Lock(&r.s.mu)
	n := 0
	for _, name := range slices.Sorted(maps.Keys(r.s.containers)) {
		system := name == "$logs" // shown only when asked for
		if name < page.From || !strings.HasPrefix(name, page.Prefix) || system && !include["system"] {
			continue
		}
		if n == page.Max || n == page.Scan {
			next = name
			break
		}
		n++
		r.s.containers[name].xml(&x, r, include["metadata"])
	}
	r.s.mu.Unlock()
	x.End("Containers")
	r.Count(n, 0)
	x.Text("NextMarker", page.Next(next))
	x.End("EnumerationResults")
	r.XML(http.StatusOK, &x)
	return nil
}

func (ct *container) xml(x *restxml.XML, r *request, meta bool) {
	x.Begin("Container")
	x.Text("Name", ct.name)
	x.Begin("Properties")
	x.Text("Last-Modified", restxml.HTTPTime(ct.modified))
	x.Text("Etag", ct.etag)
	ct.lease.xml(x, r.Now)
	x.Maybe("PublicAccess", ct.public)
	x.Text("DefaultEncryptionScope", "$account-encryption-key")
	x.Text("DenyEncryptionScopeOverride", "false")
	x.Text("HasImmutabilityPolicy", "false")
	x.Text("HasLegalHold", "false")
	x.Text("ImmutableStorageWithVersioningEnabled", "false")
	x.End("Properties")
	if meta {
		ct.meta.XML(x)
	}
	x.End("Container")
}

// https://learn.microsoft.com/rest/api/storageservices/list-blobs
func (r *request) listBlobs() *restxml.Error {
	page, e := r.Page(badMarker)
	if e != nil {
		return e
	}
	include, e := r.Include("metadata", "snapshots", "uncommittedblobs", "copy", "deleted", "tags", "versions",
		"deletedwithversions", "immutabilitypolicy", "legalhold", "permissions")
	if e != nil {
		return e
	}
	delimiter := r.Query.Get("delimiter")
	if delimiter != "" && include["snapshots"] {
		return restxml.InvalidQuery("include", "snapshots", "Not with a delimiter.")
	}
	var x restxml.XML
	x.Begin("EnumerationResults", "ServiceEndpoint", r.Endpoint(), "ContainerName", r.container)
	page.Echo(&x)
	if r.Query.Has("delimiter") {
		x.Text("Delimiter", delimiter)
	}
	x.Begin("Blobs")
	r.Lock(&r.s.mu)
	next, e := r.walk(&x, page, delimiter, include)
	r.s.mu.Unlock()
	if e != nil {
		return e
	}
	x.End("Blobs")
	x.Text("NextMarker", page.Next(next))
	x.End("EnumerationResults")
	r.XML(http.StatusOK, &x)
	return nil
}

// walk writes one page of blobs and prefixes, and says where the next begins. It
// needs s.mu.
func (r *request) walk(x *restxml.XML, page restxml.Page, delimiter string, include map[string]bool) (next string, e *restxml.Error) {
	ct, e := r.find()
	if e != nil {
		return "", e
	}
	if e := r.holdsContainer(ct, false); e != nil {
		return "", e
	}
	n, group := 0, ""
	first, _ := ct.search(max(page.From, page.Prefix))
	defer func() { r.Count(n, 0) }()
	scanned := 0
	for _, b := range ct.blobs[first:] {
		tail, ok := strings.CutPrefix(b.name, page.Prefix)
		if !ok {
			break
		}
		prefix := ""
		if at := strings.Index(tail, delimiter); delimiter != "" && at >= 0 {
			prefix = page.Prefix + tail[:at+len(delimiter)]
			if prefix == group {
				continue
			}
		}
		if n == page.Max || scanned == page.Scan {
			if prefix != "" {
				return prefix, nil
			}
			return b.name, nil
		}
		scanned++
		if b.forget(r.Now) || !b.committed && !include["uncommittedblobs"] {
			continue
		}
		n++
		if group = prefix; prefix != "" {
			x.Begin("BlobPrefix")
			nameXML(x, prefix)
			x.End("BlobPrefix")
			continue
		}
		b.xml(x, r, include)
	}
	return "", nil
}

func (b *blob) xml(x *restxml.XML, r *request, include map[string]bool) {
	x.Begin("Blob")
	nameXML(x, b.name)
	x.Begin("Properties")
	x.Text("Creation-Time", restxml.HTTPTime(b.created))
	if b.committed {
		x.Text("Last-Modified", restxml.HTTPTime(b.modified))
		x.Text("Etag", strings.Trim(b.etag, `"`))
	}
	x.Text("Content-Length", itoa(b.size()))
	x.Text("Content-Type", b.head.contentType)
	x.Text("Content-Encoding", b.head.encoding)
	x.Text("Content-Language", b.head.language)
	x.Text("Content-MD5", b.head.md5)
	x.Text("Cache-Control", b.head.cacheControl)
	x.Text("Content-Disposition", b.head.disposition)
	x.Text("BlobType", b.kind)
	if b.kind == blockBlob {
		x.Text("AccessTier", b.accessTier())
		if b.tier == "" {
			x.Text("AccessTierInferred", "true")
		}
	}
	b.lease.xml(x, r.Now)
	if c := b.copied; c != nil && include["copy"] {
		x.Text("CopyId", c.id)
		x.Text("CopySource", c.source)
		x.Text("CopyStatus", "success")
		x.Text("CopyProgress", c.progress())
		x.Text("CopyCompletionTime", restxml.HTTPTime(c.done))
	}
	x.Text("ServerEncrypted", "true")
	if b.sealed {
		x.Text("Sealed", "true")
	}
	if len(b.tags) > 0 {
		x.Text("TagCount", itoa(int64(len(b.tags))))
	}
	x.End("Properties")
	if include["metadata"] {
		b.meta.XML(x)
	}
	if include["tags"] && len(b.tags) > 0 {
		tagsXML(x, b.tags)
	}
	x.End("Blob")
}
