package blob

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

type container struct {
	name     string
	etag     string
	modified time.Time
	meta     restxml.Metadata
	public   string // "", "blob" or "container"
	policies []restxml.Policy
	lease    lease
	blobs    []*blob // sorted by name
}

// search finds where name is, or belongs.
func (ct *container) search(name string) (int, bool) {
	return slices.BinarySearchFunc(ct.blobs, name, func(b *blob, name string) int { return strings.Compare(b.name, name) })
}

// get finds a blob, also one of which only uncommitted blocks exist.
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

// find needs s.mu.
func (r *request) find() (*container, *restxml.Error) {
	ct := r.s.containers[r.container]
	if ct == nil {
		return nil, restxml.Refuse(http.StatusNotFound, "ContainerNotFound", "The specified container does not exist.")
	}
	return ct, nil
}

// onContainer lets do work on the container of the path, with s.mu held.
func (r *request) onContainer(do func(*container) *restxml.Error) *restxml.Error {
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	ct, e := r.find()
	if e != nil {
		return e
	}
	return do(ct)
}

// touch gives the container a new version. It needs s.mu.
func (r *request) touch(ct *container) {
	ct.etag, ct.modified = r.s.ticks.ETag(r.Now), r.Now
}

func (r *request) containerOp() *restxml.Error {
	read := r.R.Method == http.MethodGet || r.R.Method == http.MethodHead
	put := r.R.Method == http.MethodPut
	switch comp := r.Query.Get("comp"); comp {
	case "":
		switch {
		case put:
			return r.createContainer()
		case read:
			return r.describeContainer()
		case r.R.Method == http.MethodDelete:
			return r.deleteContainer()
		}
	case "metadata":
		switch {
		case put:
			return r.setContainerMetadata()
		case read:
			return r.describeContainer()
		}
	case "acl":
		switch {
		case put:
			return r.setACL()
		case read:
			return r.getACL()
		}
	case "lease":
		if put {
			return r.leaseContainer()
		}
	case "list":
		if r.R.Method == http.MethodGet {
			return r.listBlobs()
		}
	case "undelete", "rename", "batch", "blobs":
		return restxml.NotImplemented("comp=" + comp + " on a container")
	default:
		return restxml.InvalidQuery("comp", comp, "Unknown operation.")
	}
	return restxml.UnsupportedVerb()
}

func (r *request) publicAccess() (string, *restxml.Error) {
	switch v := r.Header("X-Ms-Blob-Public-Access"); v {
	case "", "blob", "container":
		return v, nil
	default:
		return "", restxml.InvalidHeader("x-ms-blob-public-access", v)
	}
}

// https://learn.microsoft.com/rest/api/storageservices/create-container
func (r *request) createContainer() *restxml.Error {
	meta, e := r.Metadata()
	if e != nil {
		return e
	}
	public, e := r.publicAccess()
	if e != nil {
		return e
	}
	r.Lock(&r.s.mu)
	defer r.s.mu.Unlock()
	if r.s.dying.Holds(r.container, r.Now) {
		return restxml.Refuse(http.StatusConflict, "ContainerBeingDeleted", "The specified container is being deleted. Try operation later.")
	}
	if r.s.containers[r.container] != nil {
		return restxml.Refuse(http.StatusConflict, "ContainerAlreadyExists", "The specified container already exists.")
	}
	ct := &container{name: r.container, meta: meta, public: public}
	r.touch(ct)
	r.s.containers[r.container] = ct
	r.Stamp(ct.etag, ct.modified)
	r.Empty(http.StatusCreated)
	return nil
}

// Get Container Properties and Get Container Metadata:
// https://learn.microsoft.com/rest/api/storageservices/get-container-properties
func (r *request) describeContainer() *restxml.Error {
	return r.onContainer(func(ct *container) *restxml.Error {
		if e := r.holdsContainer(ct, false); e != nil {
			return e
		}
		r.Stamp(ct.etag, ct.modified)
		ct.meta.Headers(r.W.Header())
		if r.Query.Get("comp") == "" {
			ct.lease.headers(r.Call)
			r.Set("X-Ms-Blob-Public-Access", ct.public)
			for _, name := range []string{"X-Ms-Has-Immutability-Policy", "X-Ms-Has-Legal-Hold", "X-Ms-Immutable-Storage-With-Versioning-Enabled", "X-Ms-Deny-Encryption-Scope-Override"} {
				r.Set(name, "false")
			}
			r.Set("X-Ms-Default-Encryption-Scope", "$account-encryption-key")
		}
		r.Empty(http.StatusOK)
		return nil
	})
}

// containerConditions reads the conditions of a write on a container, which are
// those by time only.
func (r *request) containerConditions() (conditions, *restxml.Error) {
	cond, e := readConditions(r.Call, "", false)
	if e == nil && (cond.match != nil || cond.noneMatch != nil) {
		e = restxml.Refuse(http.StatusBadRequest, "ConditionHeadersNotSupported", "Condition headers are not supported.")
	}
	return cond, e
}

// change runs one write on the container behind its lease and conditions.
// needsLease says whether a leased container demands the lease id.
func (r *request) change(needsLease bool, status int, do func(*container)) *restxml.Error {
	cond, e := r.containerConditions()
	if e != nil {
		return e
	}
	return r.onContainer(func(ct *container) *restxml.Error {
		if e := r.holdsContainer(ct, needsLease); e != nil {
			return e
		}
		if e := cond.write(ct.etag, ct.modified); e != nil {
			return e
		}
		do(ct)
		r.Count(0, 1)
		if status != http.StatusAccepted {
			r.touch(ct)
			r.Stamp(ct.etag, ct.modified)
		}
		r.Empty(status)
		return nil
	})
}

// https://learn.microsoft.com/rest/api/storageservices/delete-container
func (r *request) deleteContainer() *restxml.Error {
	return r.change(true, http.StatusAccepted, func(ct *container) {
		delete(r.s.containers, ct.name)
		r.s.dying.Bury(ct.name, r.Now)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/set-container-metadata
func (r *request) setContainerMetadata() *restxml.Error {
	meta, e := r.Metadata()
	if e != nil {
		return e
	}
	return r.change(false, http.StatusOK, func(ct *container) { ct.meta = meta })
}

// https://learn.microsoft.com/rest/api/storageservices/set-container-acl
func (r *request) setACL() *restxml.Error {
	public, e := r.publicAccess()
	if e != nil {
		return e
	}
	policies, e := r.Call.Policies("racwdxyltmeopif")
	if e != nil {
		return e
	}
	return r.change(false, http.StatusOK, func(ct *container) { ct.public, ct.policies = public, policies })
}

// https://learn.microsoft.com/rest/api/storageservices/get-container-acl
func (r *request) getACL() *restxml.Error {
	return r.onContainer(func(ct *container) *restxml.Error {
		if e := r.holdsContainer(ct, false); e != nil {
			return e
		}
		r.Stamp(ct.etag, ct.modified)
		r.Set("X-Ms-Blob-Public-Access", ct.public)
		r.XML(http.StatusOK, restxml.PoliciesXML(ct.policies))
		return nil
	})
}

// Policies are the stored access policies of a container, nil when there is no
// such container: for the mount, which checks signatures. The caller must not
// change them.
func (s *Service) Policies(name string) []restxml.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ct := s.containers[name]; ct != nil {
		return ct.policies
	}
	return nil
}

// PublicAccess says what may be read without authentication: "container" its
// blobs and its listing, "blob" its blobs, "" nothing.
func (s *Service) PublicAccess(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ct := s.containers[name]; ct != nil {
		return ct.public
	}
	return ""
}
