package fault

// Op is the name of an operation: the service, a dot, and what is done. It is
// derived from the method, the address and the headers of a request.
type Op string

// The operations of the Table service. Replace, Merge and Delete are the
// conditional ones (If-Match), the two Upserts those without a condition.
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
	BlobDelete               Op = "Blob.Delete"
	BlobSetMetadata          Op = "Blob.SetMetadata"
	BlobSetHeaders           Op = "Blob.SetHeaders"
	BlobLease                Op = "Blob.Lease"
	BlobCopy                 Op = "Blob.Copy"
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
	BlobGetProperties        Op = "Blob.GetProperties" // of the service
	BlobSetProperties        Op = "Blob.SetProperties"
	BlobStats                Op = "Blob.Stats"
)

// What no list above has.
const (
	TableOther Op = "Table.Other"
	QueueOther Op = "Queue.Other"
	BlobOther  Op = "Blob.Other"
	Unknown    Op = "Unknown" // no storage service
)

// ops are all of them.
var ops = [...]Op{
	TableGet, TableQuery, TableInsert, TableReplace, TableMerge, TableUpsertReplace, TableUpsertMerge,
	TableDelete, TableBatch, TableCreate, TableDrop, TableList, TableGetACL, TableSetACL,
	TableGetProperties, TableSetProperties, TableStats, QueuePut, QueueGet, QueuePeek, QueueUpdate,
	QueueDelete, QueueClear, QueueCreate, QueueDrop, QueueList, QueueGetMetadata, QueueSetMetadata,
	QueueGetACL, QueueSetACL, QueueGetProperties, QueueSetProperties, QueueStats, BlobGet, BlobHead,
	BlobPut, BlobPutBlock, BlobPutBlockList, BlobGetBlockList, BlobAppend, BlobDelete,
	BlobSetMetadata, BlobSetHeaders, BlobLease, BlobCopy, BlobSnapshot, BlobList, BlobCreateContainer,
	BlobDeleteContainer, BlobGetContainer, BlobSetContainerMetadata, BlobLeaseContainer, BlobGetACL,
	BlobSetACL, BlobListContainers, BlobGetProperties, BlobSetProperties, BlobStats, TableOther,
	QueueOther, BlobOther, Unknown,
}
