package blob

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

type container struct {
	name     string
	etag     string
	modified time.Time
	meta     xmlservice.Metadata
	public   string // "", "blob" or "container"
	policies []xmlservice.Policy
	lease    lease
	blobs    []*blob // sorted by name
}

// search returns the index of name, or where to insert it.
func (ct *container) search(name string) (int, bool) {
	return slices.BinarySearchFunc(ct.blobs, name, func(b *blob, name string) int { return strings.Compare(b.name, name) })
}

// get returns a blob, which may consist of uncommitted blocks only, or nil.
func (ct *container) get(name string, now time.Time) *blob {
	i, ok := ct.search(name)
	if !ok {
		return nil
	}
	b := ct.blobs[i]
	if b.forget(now) {
		ct.blobs = slices.Delete(ct.blobs, i, i+1)
		return nil
	}
	return b
}

func (ct *container) add(b *blob) {
	i, _ := ct.search(b.name)
	ct.blobs = slices.Insert(ct.blobs, i, b)
}

func (ct *container) remove(b *blob) {
	if i, ok := ct.search(b.name); ok {
		ct.blobs = slices.Delete(ct.blobs, i, i+1)
	}
}

const noContainer = "ContainerNotFound"

// find returns the container that the request names. The caller holds s.mu.
func (c *call) find() (*container, *reply.Error) {
	ct := c.s.containers[c.Resource]
	if ct == nil {
		return nil, reply.New(http.StatusNotFound, noContainer, "The specified container does not exist.")
	}
	return ct, nil
}

// onContainer calls do with the container that the request names, with s.mu held.
func (c *call) onContainer(do func(*container) *reply.Error) *reply.Error {
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	ct, e := c.find()
	if e != nil {
		return e
	}
	return do(ct)
}

// touch sets a new ETag and time of modification. The caller holds s.mu.
func (c *call) touch(ct *container) {
	ct.etag, ct.modified = c.s.ticks.ETag(c.Now), c.Now
}

func (c *call) publicAccess() (string, *reply.Error) {
	switch v := c.Header("X-Ms-Blob-Public-Access"); v {
	case "", "blob", "container":
		return v, nil
	default:
		return "", reply.InvalidHeader("x-ms-blob-public-access", v, "blob or container")
	}
}

// https://learn.microsoft.com/rest/api/storageservices/create-container
func (c *call) createContainer() *reply.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	public, e := c.publicAccess()
	if e != nil {
		return e
	}
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	if c.s.dying.Has(c.Resource, c.Now) {
		return reply.New(http.StatusConflict, "ContainerBeingDeleted", "The specified container is being deleted. Try operation later.")
	}
	if c.s.containers[c.Resource] != nil {
		return reply.New(http.StatusConflict, "ContainerAlreadyExists", "The specified container already exists.")
	}
	ct := &container{name: c.Resource, meta: meta, public: public}
	c.touch(ct)
	c.s.containers[c.Resource] = ct
	c.Stamp(ct.etag, ct.modified)
	return c.Empty(http.StatusCreated)
}

// describeContainer implements Get Container Properties and Get Container Metadata.
// https://learn.microsoft.com/rest/api/storageservices/get-container-properties
func (c *call) describeContainer() *reply.Error {
	return c.onContainer(func(ct *container) *reply.Error {
		if e := c.holdsContainer(ct, false); e != nil {
			return e
		}
		c.Stamp(ct.etag, ct.modified)
		ct.meta.Headers(c.W.Header())
		if c.Query.Get("comp") == "" {
			ct.lease.headers(c.Call)
			c.Set("X-Ms-Blob-Public-Access", ct.public)
			for _, name := range []string{"X-Ms-Has-Immutability-Policy", "X-Ms-Has-Legal-Hold", "X-Ms-Immutable-Storage-With-Versioning-Enabled", "X-Ms-Deny-Encryption-Scope-Override"} {
				c.Set(name, "false")
			}
			c.Set("X-Ms-Default-Encryption-Scope", "$account-encryption-key")
		}
		return c.Empty(http.StatusOK)
	})
}

// containerConditions reads the conditions of a write to a container, which may only be
// times.
func (c *call) containerConditions() (conditions, *reply.Error) {
	cond, e := readConditions(c.Call, "", false)
	if e == nil && (cond.match != nil || cond.noneMatch != nil) {
		e = reply.New(http.StatusBadRequest, "ConditionHeadersNotSupported", "Condition headers are not supported.").Because("If-Match, If-None-Match: conditions on a container are times")
	}
	return cond, e
}

// change writes to the container after checking its lease and conditions. needsLease
// requires the lease id if the container is leased.
func (c *call) change(needsLease bool, status int, do func(*container)) *reply.Error {
	cond, e := c.containerConditions()
	if e != nil {
		return e
	}
	return c.onContainer(func(ct *container) *reply.Error {
		if e := c.holdsContainer(ct, needsLease); e != nil {
			return e
		}
		if e := cond.write(ct.etag, ct.modified); e != nil {
			return e
		}
		do(ct)
		c.Count(0, 1)
		if status != http.StatusAccepted {
			c.touch(ct)
			c.Stamp(ct.etag, ct.modified)
		}
		return c.Empty(status)
	})
}

// beingDeleted reports whether the name of the container is still blocked.
func (c *call) beingDeleted() bool {
	c.Lock(&c.s.mu)
	defer c.s.mu.Unlock()
	return c.s.dying.Has(c.Resource, c.Now)
}

// https://learn.microsoft.com/rest/api/storageservices/delete-container
func (c *call) deleteContainer() *reply.Error {
	e := c.change(true, http.StatusAccepted, func(ct *container) {
		delete(c.s.containers, ct.name)
		c.s.dying.Add(ct.name, c.Now)
	})
	if e != nil && e.Code == noContainer && c.beingDeleted() {
		return c.Empty(http.StatusAccepted) // the reply to the first delete is repeated
	}
	return e
}

// https://learn.microsoft.com/rest/api/storageservices/set-container-metadata
func (c *call) setContainerMetadata() *reply.Error {
	meta, e := c.Metadata()
	if e != nil {
		return e
	}
	return c.change(false, http.StatusOK, func(ct *container) { ct.meta = meta })
}

// https://learn.microsoft.com/rest/api/storageservices/set-container-acl
func (c *call) setACL() *reply.Error {
	public, e := c.publicAccess()
	if e != nil {
		return e
	}
	policies, e := c.Call.Policies("racwdxyltmeopif")
	if e != nil {
		return e
	}
	return c.change(false, http.StatusOK, func(ct *container) { ct.public, ct.policies = public, policies })
}

// https://learn.microsoft.com/rest/api/storageservices/get-container-acl
func (c *call) getACL() *reply.Error {
	return c.onContainer(func(ct *container) *reply.Error {
		if e := c.holdsContainer(ct, false); e != nil {
			return e
		}
		c.Stamp(ct.etag, ct.modified)
		c.Set("X-Ms-Blob-Public-Access", ct.public)
		return c.XML(http.StatusOK, xmlservice.PoliciesXML(ct.policies))
	})
}

// Policies returns the stored access policies of a container, nil if it does not exist. The
// caller must not change them.
func (s *Service) Policies(name string) []xmlservice.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ct := s.containers[name]; ct != nil {
		return ct.policies
	}
	return nil
}

// PublicAccess returns what may be read without authentication: "container" means the
// blobs and the list of blobs, "blob" only the blobs, "" nothing.
func (s *Service) PublicAccess(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ct := s.containers[name]; ct != nil {
		return ct.public
	}
	return ""
}
