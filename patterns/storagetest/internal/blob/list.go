package blob

import (
	"maps"
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

func badMarker(marker string) *reply.Error {
	return reply.InvalidQuery("marker", marker, "Not a marker of this service.")
}

// https://learn.microsoft.com/rest/api/storageservices/list-containers2
func (c *call) listContainers() *reply.Error {
	page, e := c.Page(badMarker)
	if e != nil {
		return e
	}
	include, e := c.Include("metadata", "deleted", "system")
	if e != nil {
		return e
	}
	containers := c.s.containers
	if !include["system"] {
		c.s.mu.Lock()
		containers = maps.Clone(containers)
		c.s.mu.Unlock()
		delete(containers, "$logs")
	}
	return xmlservice.List(c.Call, "Containers", &c.s.mu, containers, page, func(x *xmlservice.XML, _ string, ct *container) {
		ct.xml(x, c, include["metadata"])
	})
}

// element writes an element, if the version of the request has it.
func (c *call) element(x *xmlservice.XML, name, value string) {
	if c.Has(name) {
		x.Text(name, value)
	}
}

func (ct *container) xml(x *xmlservice.XML, c *call, meta bool) {
	x.Begin("Container")
	x.Text("Name", ct.name)
	x.Begin("Properties")
	x.Text("Last-Modified", xmlservice.HTTPTime(ct.modified))
	x.Text("Etag", ct.etag)
	ct.lease.xml(x, c.Now)
	x.Maybe("PublicAccess", ct.public)
	c.element(x, "DefaultEncryptionScope", "$account-encryption-key")
	c.element(x, "DenyEncryptionScopeOverride", "false")
	x.Text("HasImmutabilityPolicy", "false")
	x.Text("HasLegalHold", "false")
	c.element(x, "ImmutableStorageWithVersioningEnabled", "false")
	x.End("Properties")
	if meta {
		ct.meta.XML(x)
	}
	x.End("Container")
}

// https://learn.microsoft.com/rest/api/storageservices/list-blobs
func (c *call) listBlobs() *reply.Error {
	page, e := c.Page(badMarker)
	if e != nil {
		return e
	}
	include, e := c.Include("metadata", "snapshots", "uncommittedblobs", "copy", "deleted", "tags", "versions",
		"deletedwithversions", "immutabilitypolicy", "legalhold", "permissions")
	if e != nil {
		return e
	}
	delimiter := c.Query.Get("delimiter")
	if delimiter != "" && include["snapshots"] {
		return reply.InvalidQuery("include", "snapshots", "Not with a delimiter.")
	}
	var x xmlservice.XML
	x.Begin("EnumerationResults", "ServiceEndpoint", c.Endpoint(), "ContainerName", c.Resource)
	page.Echo(&x)
	if c.Query.Has("delimiter") {
		x.Text("Delimiter", delimiter)
	}
	x.Begin("Blobs")
	c.Lock(&c.s.mu)
	next, e := c.walk(&x, page, delimiter, include)
	c.s.mu.Unlock()
	if e != nil {
		return e
	}
	x.End("Blobs")
	x.Text("NextMarker", page.Next(next))
	x.End("EnumerationResults")
	return c.XML(http.StatusOK, &x)
}

// A marker within the snapshots of a blob consists of its name, snapshotMark, which no name
// contains, and the id of the next snapshot, or afterSnapshots for the blob itself.
const (
	snapshotMark   = "\x00"
	afterSnapshots = "~" // follows every id
)

// walk writes one page of blobs and prefixes, and returns the first name of the next page.
// The caller holds s.mu.
func (c *call) walk(x *xmlservice.XML, page xmlservice.Page, delimiter string, include map[string]bool) (next string, e *reply.Error) {
	ct, e := c.find()
	if e != nil {
		return "", e
	}
	if e := c.holdsContainer(ct, false); e != nil {
		return "", e
	}
	n, group := 0, ""
	from, after, _ := strings.Cut(page.From, snapshotMark)
	first, _ := ct.search(max(from, page.Prefix))
	defer func() { c.Count(n, 0) }()
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
		if b.forget(c.Now) || !b.committed && !include["uncommittedblobs"] {
			continue
		}
		if include["snapshots"] {
			for _, s := range b.snapshots {
				if b.name == from && s.snapshot < after {
					continue
				}
				if n == page.Max {
					return s.name + snapshotMark + s.snapshot, nil
				}
				n++
				s.xml(x, c, include)
			}
			if n == page.Max {
				return b.name + snapshotMark + afterSnapshots, nil
			}
		}
		n++
		if group = prefix; prefix != "" {
			x.Begin("BlobPrefix")
			nameXML(x, prefix)
			x.End("BlobPrefix")
			continue
		}
		b.xml(x, c, include)
	}
	return "", nil
}

func (b *blob) xml(x *xmlservice.XML, c *call, include map[string]bool) {
	x.Begin("Blob")
	nameXML(x, b.name)
	x.Maybe("Snapshot", b.snapshot)
	x.Begin("Properties")
	if b.committed {
		c.element(x, "Creation-Time", xmlservice.HTTPTime(b.created))
		x.Text("Last-Modified", xmlservice.HTTPTime(b.modified))
		x.Text("Etag", strings.Trim(b.etag, `"`))
	}
	x.Text("Content-Length", itoa(b.size()))
	if b.committed {
		x.Text("Content-Type", b.head.contentType)
		x.Text("Content-Encoding", b.head.encoding)
		x.Text("Content-Language", b.head.language)
		x.Text("Content-MD5", b.head.md5)
		x.Text("Cache-Control", b.head.cacheControl)
		x.Text("Content-Disposition", b.head.disposition)
	}
	x.Text("BlobType", b.kind)
	if b.kind == blockBlob && (b.snapshot == "" || c.Version >= sinceSnapshotTier) {
		x.Text("AccessTier", b.accessTier())
		if b.tier == "" {
			x.Text("AccessTierInferred", "true")
		} else {
			x.Text("AccessTierChangeTime", xmlservice.HTTPTime(b.tiered))
		}
	}
	if b.snapshot == "" {
		b.lease.xml(x, c.Now)
	}
	if c := b.copied; c != nil && include["copy"] {
		x.Text("CopyId", c.id)
		x.Text("CopySource", c.source)
		x.Text("CopyStatus", "success")
		x.Text("CopyProgress", c.progress())
		x.Text("CopyCompletionTime", xmlservice.HTTPTime(c.done))
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
