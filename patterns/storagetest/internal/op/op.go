// Package op lists the storage operations: the name of each operation in fault rules and
// logs, and the permissions that a shared access signature needs for it. Requests are also
// routed by operation.
package op

import (
	"path"
	"strings"
)

// Service is one of the three services of an account, or "" if the service is unknown.
type Service string

// The services. The name of an operation begins with the name of its service.
const (
	Table Service = "Table"
	Queue Service = "Queue"
	Blob  Service = "Blob"
)

// Path returns the name of the service in a canonicalized resource and in the host of an
// account: "table", "queue" or "blob".
func (s Service) Path() string { return strings.ToLower(string(s)) }

// Op is the name of an operation: the service, a dot, and the action.
type Op string

// The operations of the Table service. Replace, Merge and Delete are
// conditional (If-Match); the two upserts are not.
const (
	TableGet           Op = "Table.Get"   // point read
	TableQuery         Op = "Table.Query" // one page
	TableInsert        Op = "Table.Insert"
	TableReplace       Op = "Table.Replace"
	TableMerge         Op = "Table.Merge"
	TableUpsertReplace Op = "Table.UpsertReplace"
	TableUpsertMerge   Op = "Table.UpsertMerge"
	TableDelete        Op = "Table.Delete"
	TableBatch         Op = "Table.Batch" // entity group transaction
	TableCreate        Op = "Table.CreateTable"
	TableDrop          Op = "Table.DeleteTable"
	TableList          Op = "Table.ListTables"
	TableGetACL        Op = "Table.GetACL"
	TableSetACL        Op = "Table.SetACL"
	TableGetProperties Op = "Table.GetProperties" // of the service
	TableSetProperties Op = "Table.SetProperties"
	TableStats         Op = "Table.Stats"
	TableOther         Op = "Table.Other"
)

// The operations of the Queue service. Put, Get, Peek, Update, Delete and
// Clear concern messages.
const (
	QueuePut           Op = "Queue.Put"
	QueueGet           Op = "Queue.Get"
	QueuePeek          Op = "Queue.Peek"
	QueueUpdate        Op = "Queue.Update"
	QueueDelete        Op = "Queue.Delete"
	QueueClear         Op = "Queue.Clear"
	QueueCreate        Op = "Queue.CreateQueue"
	QueueDrop          Op = "Queue.DeleteQueue"
	QueueList          Op = "Queue.ListQueues"
	QueueGetMetadata   Op = "Queue.GetMetadata"
	QueueSetMetadata   Op = "Queue.SetMetadata"
	QueueGetACL        Op = "Queue.GetACL"
	QueueSetACL        Op = "Queue.SetACL"
	QueueGetProperties Op = "Queue.GetProperties" // of the service
	QueueSetProperties Op = "Queue.SetProperties"
	QueueStats         Op = "Queue.Stats"
	QueueOther         Op = "Queue.Other"
)

// The operations of the Blob service.
const (
	BlobGet                  Op = "Blob.Get"
	BlobHead                 Op = "Blob.Head" // properties and metadata
	BlobPut                  Op = "Blob.Put"  // a whole blob, also an empty append blob
	BlobPutBlock             Op = "Blob.PutBlock"
	BlobPutBlockList         Op = "Blob.PutBlockList"
	BlobGetBlockList         Op = "Blob.GetBlockList"
	BlobAppend               Op = "Blob.Append"
	BlobSeal                 Op = "Blob.Seal"
	BlobDelete               Op = "Blob.Delete"
	BlobSetMetadata          Op = "Blob.SetMetadata"
	BlobSetHeaders           Op = "Blob.SetHeaders"
	BlobGetTags              Op = "Blob.GetTags"
	BlobSetTags              Op = "Blob.SetTags"
	BlobSetTier              Op = "Blob.SetTier"
	BlobLease                Op = "Blob.Lease"
	BlobCopy                 Op = "Blob.Copy"
	BlobAbortCopy            Op = "Blob.AbortCopy"
	BlobSnapshot             Op = "Blob.Snapshot"
	BlobList                 Op = "Blob.List"
	BlobCreateContainer      Op = "Blob.CreateContainer"
	BlobDeleteContainer      Op = "Blob.DeleteContainer"
	BlobGetContainer         Op = "Blob.GetContainer"
	BlobSetContainerMetadata Op = "Blob.SetContainerMetadata"
	BlobLeaseContainer       Op = "Blob.LeaseContainer"
	BlobGetACL               Op = "Blob.GetACL"
	BlobSetACL               Op = "Blob.SetACL"
	BlobListContainers       Op = "Blob.ListContainers"
	BlobBatch                Op = "Blob.Batch" // of deletes, or of changes of the tier
	BlobGetAccountInfo       Op = "Blob.GetAccountInfo"
	BlobGetProperties        Op = "Blob.GetProperties" // of the service
	BlobSetProperties        Op = "Blob.SetProperties"
	BlobStats                Op = "Blob.Stats"
	BlobOther                Op = "Blob.Other"
)

// Unknown is the operation of a request that is not for a storage service. No service
// carries out Unknown and the Other operations.
const Unknown Op = "Unknown"

// Other returns the operation of a request to s that s does not carry out.
func Other(s Service) Op {
	if s == "" {
		return Unknown
	}
	return Op(s + ".Other")
}

// Matches reports whether pattern matches the operation. The pattern is a name or a
// pattern of path.Match: "Table.Batch", "Table.*", "*".
func (o Op) Matches(pattern string) bool {
	if pattern == "*" || pattern == string(o) {
		return true
	}
	ok, err := path.Match(pattern, string(o))
	return ok && err == nil
}

// ReadOnly reports whether the operation changes nothing, whatever its request contains. A
// Queue.Get hides messages, so it is not one.
func (o Op) ReadOnly() bool {
	switch o {
	case TableGet, TableQuery, TableList, TableGetACL, TableGetProperties, TableStats,
		QueuePeek, QueueList, QueueGetMetadata, QueueGetACL, QueueGetProperties, QueueStats,
		BlobGet, BlobHead, BlobGetBlockList, BlobGetTags, BlobList, BlobGetContainer, BlobGetACL,
		BlobListContainers, BlobGetAccountInfo, BlobGetProperties, BlobStats:
		return true
	}
	return false
}

// Named reports whether pattern matches any operation.
func Named(pattern string) bool {
	for o := range table {
		if o.Matches(pattern) {
			return true
		}
	}
	return false
}
