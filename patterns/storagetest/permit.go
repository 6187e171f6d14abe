package storagetest

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/auth"
	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
	"github.com/azpatterns/azpatterns/internal/fault"
)

// guard is a shared access signature as the Table service asks it.
type guard struct{ grant auth.Grant }

var rights = [...]auth.Op{
	rest.ReadRows:        auth.QueryEntities,
	rest.InsertRow:       auth.InsertEntity,
	rest.UpdateRow:       auth.UpdateEntity,
	rest.UpsertRow:       auth.UpsertEntity,
	rest.DeleteRow:       auth.DeleteEntity,
	rest.ListTables:      auth.ListTables,
	rest.CreateTable:     auth.CreateTable,
	rest.DeleteTable:     auth.DeleteTable,
	rest.ReadPolicies:    auth.GetACL,
	rest.WritePolicies:   auth.SetACL,
	rest.ReadProperties:  auth.GetServiceProperties,
	rest.WriteProperties: auth.SetServiceProperties,
}

func (g guard) Allow(right rest.Right, table string) *rest.Error {
	return refused(g.grant.Allow(rights[right], table))
}

func (g guard) AllowRow(right rest.Right, table, partition, row string) *rest.Error {
	return refused(g.grant.AllowRow(rights[right], table, partition, row))
}

func (g guard) Sees(partition, row string) bool { return g.grant.Range().Contains(partition, row) }

func (g guard) All() bool { return g.grant.Range().All() }

func refused(r *auth.Refusal) *rest.Error {
	if r == nil {
		return nil
	}
	return &rest.Error{Status: r.Status, Code: r.Code, Message: r.Message}
}

// operations says what a request to the Queue or Blob service asks for.
var operations = map[fault.Op]auth.Op{
	fault.QueuePut:           auth.PutMessage,
	fault.QueueGet:           auth.GetMessages,
	fault.QueuePeek:          auth.PeekMessages,
	fault.QueueUpdate:        auth.UpdateMessage,
	fault.QueueDelete:        auth.DeleteMessage,
	fault.QueueClear:         auth.ClearMessages,
	fault.QueueCreate:        auth.CreateQueue,
	fault.QueueDrop:          auth.DeleteQueue,
	fault.QueueList:          auth.ListQueues,
	fault.QueueGetMetadata:   auth.GetQueueMetadata,
	fault.QueueSetMetadata:   auth.SetQueueMetadata,
	fault.QueueGetACL:        auth.GetACL,
	fault.QueueSetACL:        auth.SetACL,
	fault.QueueGetProperties: auth.GetServiceProperties,
	fault.QueueSetProperties: auth.SetServiceProperties,
	fault.QueueStats:         auth.GetServiceProperties,

	fault.BlobGet:                  auth.ReadBlob,
	fault.BlobHead:                 auth.ReadBlob,
	fault.BlobGetBlockList:         auth.ReadBlob,
	fault.BlobPut:                  auth.WriteBlob,
	fault.BlobPutBlock:             auth.WriteBlob,
	fault.BlobPutBlockList:         auth.WriteBlob,
	fault.BlobSetMetadata:          auth.WriteBlob,
	fault.BlobSetHeaders:           auth.WriteBlob,
	fault.BlobCopy:                 auth.WriteBlob,
	fault.BlobSnapshot:             auth.CreateBlob,
	fault.BlobAppend:               auth.AppendBlock,
	fault.BlobDelete:               auth.DeleteBlob,
	fault.BlobLease:                auth.LeaseBlob,
	fault.BlobList:                 auth.ListBlobs,
	fault.BlobCreateContainer:      auth.CreateContainer,
	fault.BlobDeleteContainer:      auth.DeleteContainer,
	fault.BlobGetContainer:         auth.GetContainer,
	fault.BlobSetContainerMetadata: auth.SetContainerMetadata,
	fault.BlobLeaseContainer:       auth.LeaseContainer,
	fault.BlobListContainers:       auth.ListContainers,
	fault.BlobGetACL:               auth.GetACL,
	fault.BlobSetACL:               auth.SetACL,
	fault.BlobGetProperties:        auth.GetServiceProperties,
	fault.BlobSetProperties:        auth.SetServiceProperties,
	fault.BlobStats:                auth.GetServiceProperties,
}

// operation says what a request asks for, where package fault does not tell it too.
func operation(r *http.Request, named fault.Op) auth.Op {
	query := r.URL.Query()
	if strings.HasPrefix(string(named), string(fault.Blob)) {
		switch {
		case query.Get("restype") == "account":
			return auth.GetAccountInfo
		case query.Get("comp") == "tags":
			return auth.TagBlob
		case query.Get("comp") == "tier", query.Get("comp") == "seal":
			return auth.WriteBlob
		}
	}
	if op, ok := operations[named]; ok {
		return op
	}
	return auth.SetACL // what no signature allows
}

// permit holds a request to the Queue or Blob service against its credential;
// r has the address below the account.
func (m *routes) permit(g auth.Grant, r *http.Request, side *rest.Call) *auth.Refusal {
	if g.Kind() == auth.SharedKey || g.Kind() == auth.Bearer {
		return nil
	}
	op := operation(r, fault.Op(side.Op))
	breaking := r.Header.Get("X-Ms-Lease-Action") == "break"
	switch {
	case op == auth.LeaseBlob && breaking:
		op = auth.BreakBlobLease
	case op == auth.LeaseContainer && breaking:
		op = auth.BreakContainerLease
	case op == auth.WriteBlob && !m.exists(r):
		op = auth.CreateBlob
	case op == auth.WriteBlob && g.AllowBlob(op, side.Resource, side.Name) != nil &&
		g.AllowBlob(auth.CreateBlob, side.Resource, side.Name) == nil && creates[fault.Op(side.Op)]:
		return auth.BlobOverwrite()
	}
	if side.Name != "" {
		return g.AllowBlob(op, side.Resource, side.Name)
	}
	return g.Allow(op, side.Resource)
}

// creates are the writes that may be the first of a blob.
var creates = map[fault.Op]bool{fault.BlobPut: true, fault.BlobCopy: true, fault.BlobPutBlockList: true, fault.BlobPutBlock: true}

// exists asks the Blob service whether the blob of a write is there, since
// permission to create is less than permission to write.
func (m *routes) exists(r *http.Request) bool {
	if !creates[fault.Op(rest.CallFrom(r.Context()).Op)] {
		return true
	}
	head := r.Clone(rest.WithCall(r.Context(), &rest.Call{})) // the log is not to show it
	head.Method, head.Header, head.Body, head.ContentLength = http.MethodHead, http.Header{}, http.NoBody, 0
	head.URL.RawQuery = ""
	return rest.Carry(m.blobs, head).StatusCode == http.StatusOK
}

// policy looks up a stored access policy.
func (a *Account) policy(s auth.Service, resource, id string) (auth.StoredPolicy, bool) {
	of := map[auth.Service]func(string) []restxml.Policy{
		auth.Table: a.tables.Policies, auth.Queue: a.queues.Policies, auth.Blob: a.blobs.Policies,
	}
	for _, p := range of[s](resource) {
		if p.ID == id {
			return auth.StoredPolicy{Start: p.Start, Expiry: p.Expiry, Permissions: p.Permission}, true
		}
	}
	return auth.StoredPolicy{}, false
}
