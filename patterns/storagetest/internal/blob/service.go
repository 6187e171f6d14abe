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
		e = operations[c.Op](c) // a request without an operation has a Refusal
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

// operations are the functions that carry the operations out.
var operations map[op.Op]func(*call) *reply.Error

func init() { // because a batch carries out operations, too
	operations = map[op.Op]func(*call) *reply.Error{
		op.BlobListContainers:       (*call).listContainers,
		op.BlobGetAccountInfo:       (*call).accountInfo,
		op.BlobGetProperties:        (*call).properties,
		op.BlobSetProperties:        (*call).properties,
		op.BlobCreateContainer:      (*call).createContainer,
		op.BlobDeleteContainer:      (*call).deleteContainer,
		op.BlobGetContainer:         (*call).describeContainer,
		op.BlobSetContainerMetadata: (*call).setContainerMetadata,
		op.BlobLeaseContainer:       (*call).leaseContainer,
		op.BlobGetACL:               (*call).getACL,
		op.BlobSetACL:               (*call).setACL,
		op.BlobList:                 (*call).listBlobs,
		op.BlobBatch:                (*call).batch,
		op.BlobGet:                  (*call).get,
		op.BlobHead:                 (*call).describe,
		op.BlobPut:                  (*call).putBlob,
		op.BlobCopy:                 (*call).copyBlob,
		op.BlobAbortCopy:            (*call).abortCopy,
		op.BlobPutBlock:             (*call).putBlock,
		op.BlobPutBlockList:         (*call).putBlockList,
		op.BlobGetBlockList:         (*call).getBlockList,
		op.BlobAppend:               (*call).appendBlock,
		op.BlobSeal:                 (*call).seal,
		op.BlobSnapshot:             (*call).takeSnapshot,
		op.BlobDelete:               (*call).deleteBlob,
		op.BlobSetMetadata:          (*call).setMetadata,
		op.BlobSetHeaders:           (*call).setHeaders,
		op.BlobGetTags:              (*call).getTags,
		op.BlobSetTags:              (*call).setTags,
		op.BlobSetTier:              (*call).setTier,
		op.BlobLease:                (*call).leaseBlob,
	}
}

func (c *call) properties() *reply.Error { return c.Settings(&c.s.setting, true) }

func (c *call) accountInfo() *reply.Error {
	c.Set("X-Ms-Sku-Name", "Standard_LRS")
	c.Set("X-Ms-Account-Kind", "StorageV2")
	c.Set("X-Ms-Is-Hns-Enabled", "false")
	return c.Empty(http.StatusOK)
}
