package blob

import (
	"net/http"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Service is the Blob service of one account. Create it with [New]. It is safe for
// concurrent use.
type Service struct {
	mu         sync.Mutex
	containers map[string]*container
	dying      xmlservice.Tombstones
	ticks      xmlservice.Ticks
	setting    xmlservice.Settings
	permit     func(*request.Request) *reply.Error
}

// New returns a service without containers. permit verifies the credentials of the requests
// that another request contains: of the operations of a batch, and of the source of a copy.
// If nil, they need none.
func New(permit func(*request.Request) *reply.Error) *Service {
	if permit == nil {
		permit = func(*request.Request) *reply.Error { return nil }
	}
	return &Service{containers: map[string]*container{}, permit: permit}
}

// call is a request being carried out.
type call struct {
	*xmlservice.Call
	s *Service
}

// Serve carries out one request.
func (s *Service) Serve(w http.ResponseWriter, r *request.Request) {
	x, e := xmlservice.Begin(w, r)
	c := &call{x, s}
	if e == nil {
		e = r.Refusal
	}
	if e == nil {
		e = c.carryOut()
	}
	if e != nil {
		c.Refuse(e)
	}
}

// Exists reports whether a container has a committed blob with that name, now.
func (s *Service) Exists(container, name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ct := s.containers[container]
	if ct == nil {
		return false
	}
	b := ct.get(name, now)
	return b != nil && b.committed
}

func (c *call) carryOut() *reply.Error {
	switch c.Op {
	case op.BlobListContainers:
		return c.listContainers()
	case op.BlobGetAccountInfo:
		return c.accountInfo()
	case op.BlobGetProperties, op.BlobSetProperties:
		return c.Settings(&c.s.setting, true)
	case op.BlobCreateContainer:
		return c.createContainer()
	case op.BlobDeleteContainer:
		return c.deleteContainer()
	case op.BlobGetContainer:
		return c.describeContainer()
	case op.BlobSetContainerMetadata:
		return c.setContainerMetadata()
	case op.BlobLeaseContainer:
		return c.leaseContainer()
	case op.BlobGetACL:
		return c.getACL()
	case op.BlobSetACL:
		return c.setACL()
	case op.BlobList:
		return c.listBlobs()
	case op.BlobBatch:
		return c.batch()
	}
	return c.carryOutOnBlob()
}

func (c *call) carryOutOnBlob() *reply.Error {
	source := c.Header("X-Ms-Copy-Source") != ""
	switch c.Op {
	case op.BlobGet:
		if c.Query.Get("comp") == "metadata" {
			return c.describe()
		}
		return c.download()
	case op.BlobHead:
		return c.describe()
	case op.BlobPut:
		return c.putBlob()
	case op.BlobCopy:
		if c.Header("X-Ms-Blob-Type") == blockBlob {
			return c.putFromURL()
		}
		return c.copyBlob()
	case op.BlobAbortCopy:
		return c.abortCopy()
	case op.BlobPutBlock:
		return c.putBlock(source)
	case op.BlobPutBlockList:
		return c.putBlockList()
	case op.BlobGetBlockList:
		return c.getBlockList()
	case op.BlobAppend:
		return c.appendBlock(source)
	case op.BlobSeal:
		return c.seal()
	case op.BlobSnapshot:
		return c.takeSnapshot()
	case op.BlobDelete:
		return c.deleteBlob()
	case op.BlobSetMetadata:
		return c.setMetadata()
	case op.BlobSetHeaders:
		return c.setHeaders()
	case op.BlobGetTags:
		return c.getTags()
	case op.BlobSetTags:
		return c.setTags()
	case op.BlobSetTier:
		return c.setTier()
	case op.BlobLease:
		return c.leaseBlob()
	}
	return reply.UnsupportedVerb()
}

func (c *call) accountInfo() *reply.Error {
	c.Set("X-Ms-Sku-Name", "Standard_LRS")
	c.Set("X-Ms-Account-Kind", "StorageV2")
	c.Set("X-Ms-Is-Hns-Enabled", "false")
	c.Empty(http.StatusOK)
	return nil
}
