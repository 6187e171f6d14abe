package blob

import (
	"net/http"
	"strings"
	"sync"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// Service is the Blob service of one account. Make one with New; it is safe for
// concurrent use.
type Service struct {
	mu         sync.Mutex
	containers map[string]*container
	dying      restxml.Tombstones
	ticks      restxml.Ticks
	setting    restxml.Settings
}

// New makes an empty service.
func New() *Service { return &Service{containers: map[string]*container{}} }

// A request is a call with the container and blob that its path names.
type request struct {
	*restxml.Call
	s               *Service
	container, blob string
}

// ServeHTTP carries out one request. The path has no account: /, /container,
// /container/blob/name or, in the root container, /blob. Header names are
// canonical, as net/http delivers them; an x-ms-meta- name may be as the client
// spelled it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, e := restxml.Begin(w, r)
	if e == nil {
		e = s.route(&request{Call: c, s: s})
	}
	if e != nil {
		c.Fail(e)
	}
}

// What would silently mean something else if it were ignored.
var (
	foreignQuery = [][2]string{
		{"snapshot", "snapshots"}, {"prevsnapshot", "snapshots"}, {"versionid", "versions"}, {"startFrom", "listing from a name"},
	}
	foreignHeader = [][2]string{
		{"X-Ms-If-Tags", "tag conditions"}, {"X-Ms-Source-If-Tags", "tag conditions"},
		{"X-Ms-Encryption-Key", "customer-provided keys"}, {"X-Ms-Encryption-Scope", "encryption scopes"},
		{"X-Ms-Immutability-Policy-Until-Date", "immutability policies"}, {"X-Ms-Legal-Hold", "legal holds"},
		{"X-Ms-Structured-Body", "structured bodies"},
	}
)

func (r *request) unsupported() *restxml.Error {
	for _, f := range foreignQuery {
		if r.Query.Has(f[0]) {
			return restxml.NotImplemented(f[1])
		}
	}
	for _, f := range foreignHeader {
		if r.Header(f[0]) != "" {
			return restxml.NotImplemented(f[1])
		}
	}
	return nil
}

func (s *Service) route(r *request) *restxml.Error {
	if e := r.unsupported(); e != nil {
		return e
	}
	path := strings.TrimPrefix(r.R.URL.Path, "/")
	restype := r.Query.Get("restype")
	if path == "" || restype == "account" {
		return r.account()
	}
	var ok bool
	if r.container, r.blob, ok = strings.Cut(path, "/"); (!ok || r.blob == "") && !r.Query.Has("restype") {
		r.container, r.blob = rootContainer, strings.TrimSuffix(path, "/")
	}
	if e := checkContainer(r.container); e != nil {
		return e
	}
	if r.blob == "" {
		if restype != "container" {
			return restxml.InvalidQuery("restype", restype, "Unknown type of resource.")
		}
		return r.containerOp()
	}
	if restype != "" {
		return restxml.InvalidQuery("restype", restype, "Not a container.")
	}
	if e := checkBlob(r.blob); e != nil {
		return e
	}
	return r.blobOp()
}

func (r *request) account() *restxml.Error {
	restype, comp := r.Query.Get("restype"), r.Query.Get("comp")
	read := r.R.Method == http.MethodGet || r.R.Method == http.MethodHead
	switch restype + " " + comp {
	case " list":
		if r.R.Method != http.MethodGet {
			return restxml.UnsupportedVerb()
		}
		return r.listContainers()
	case "account properties":
		if !read {
			return restxml.UnsupportedVerb()
		}
		r.Set("X-Ms-Sku-Name", "Standard_LRS")
		r.Set("X-Ms-Account-Kind", "StorageV2")
		r.Set("X-Ms-Is-Hns-Enabled", "false")
		r.Empty(http.StatusOK)
		return nil
	case "service properties":
		return r.Settings(&r.s.setting, true)
	case "service stats":
		return restxml.InvalidQuery("comp", comp, "Statistics are read from the secondary endpoint.")
	case "service userdelegationkey":
		return restxml.NotImplemented("user delegation keys")
	case " batch":
		return restxml.NotImplemented("blob batch")
	case " blobs":
		return restxml.NotImplemented("search by tags")
	case " ":
		return restxml.InvalidURI()
	}
	return restxml.InvalidQuery("comp", comp, "Unknown operation.")
}
