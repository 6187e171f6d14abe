package op

// Access describes the shared access signatures (SAS) that permit an operation.
//
// Permissions are letters. One of them is enough, unless they are joined by "+": then all
// are needed. If Permissions is "", no SAS permits the operation.
type Access struct {
	ResourceType byte   // of an account SAS: 's', 'c' or 'o'; 0 is any
	Account      string // permissions in an account SAS
	Service      string // permissions in a service SAS
	Container    bool   // a SAS for a single blob is not enough
}

// entry is the entry of an operation in the table.
type entry struct {
	Access
	create string // permissions that are enough while the blob does not exist; "" for an operation that creates no blob
	end    string // permissions that are enough to break a lease; "" for an operation that is not about leases
}

func object(permissions string) entry {
	return entry{Access: Access{ResourceType: 'o', Account: permissions, Service: permissions}}
}

func account(resourceType byte, permissions string) entry {
	return entry{Access: Access{ResourceType: resourceType, Account: permissions}}
}

func (e entry) orCreate(permissions string) entry { e.create = permissions; return e }
func (e entry) orEnd(permissions string) entry    { e.end = permissions; return e }

// never is the entry of an operation that no SAS permits. The operations within a batch of
// rows are permitted one by one.
var never entry

// everyLetter are all permissions of SAS for blobs.
const everyLetter = "racwdxyltfmeopi"

// table contains every operation.
//
// https://learn.microsoft.com/rest/api/storageservices/create-account-sas#account-sas-permissions-by-operation
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas#specify-permissions
var table = map[Op]entry{
	TableGet:           object("r"),
	TableQuery:         object("r"),
	TableInsert:        object("a"),
	TableReplace:       object("u"),
	TableMerge:         object("u"),
	TableUpsertReplace: object("a+u"),
	TableUpsertMerge:   object("a+u"),
	TableDelete:        object("d"),
	TableBatch:         never,
	TableCreate:        account('c', "cw"),
	TableDrop:          account('c', "d"),
	TableList:          account('c', "l"),
	TableGetACL:        account('c', ""),
	TableSetACL:        account('c', ""),
	TableGetProperties: account('s', "r"),
	TableSetProperties: account('s', "w"),
	TableStats:         account('s', "r"),
	TableOther:         never,

	QueuePut:           object("a"),
	QueueGet:           object("p"),
	QueuePeek:          object("r"),
	QueueUpdate:        object("u"),
	QueueDelete:        object("p"),
	QueueClear:         {Access: Access{ResourceType: 'o', Account: "d", Service: "p"}},
	QueueCreate:        account('c', "cw"),
	QueueDrop:          account('c', "d"),
	QueueList:          account('s', "l"),
	QueueGetMetadata:   {Access: Access{ResourceType: 'c', Account: "r", Service: "r"}},
	QueueSetMetadata:   account('c', "w"),
	QueueGetACL:        account('c', ""),
	QueueSetACL:        account('c', ""),
	QueueGetProperties: account('s', "r"),
	QueueSetProperties: account('s', "w"),
	QueueStats:         account('s', "r"),
	QueueOther:         never,

	BlobGet:                  object("r"),
	BlobHead:                 object("r"),
	BlobPut:                  object("w").orCreate("cw"),
	BlobPutBlock:             object("w").orCreate("cw"),
	BlobPutBlockList:         object("w").orCreate("cw"),
	BlobGetBlockList:         object("r"),
	BlobAppend:               object("aw"),
	BlobSeal:                 object("w"),
	BlobDelete:               object("d"),
	BlobSetMetadata:          object("w"),
	BlobSetHeaders:           object("w"),
	BlobGetTags:              object("t"),
	BlobSetTags:              object("t"),
	BlobSetTier:              object("w"),
	BlobLease:                object("w").orEnd("wd"),
	BlobCopy:                 object("w").orCreate("cw"),
	BlobAbortCopy:            object("w"),
	BlobSnapshot:             object("cw"),
	BlobList:                 {Access: Access{ResourceType: 'c', Account: "l", Service: "l", Container: true}},
	BlobCreateContainer:      account('c', "cw"),
	BlobDeleteContainer:      account('c', "d"),
	BlobGetContainer:         account('c', "r"),
	BlobSetContainerMetadata: account('c', "w"),
	BlobLeaseContainer:       account('c', "w").orEnd("wd"),
	BlobGetACL:               account('c', ""),
	BlobSetACL:               account('c', ""),
	BlobListContainers:       account('s', "l"),
	BlobBatch:                {Access: Access{Account: everyLetter, Service: everyLetter, Container: true}}, // its operations are permitted one by one
	BlobGetAccountInfo:       {Access: Access{Account: "rwdlacup", Service: "racwdl"}},
	BlobGetProperties:        account('s', "r"),
	BlobSetProperties:        account('s', "w"),
	BlobStats:                account('s', "r"),
	BlobOther:                never,

	Unknown: never,
}

// Access describes the SAS that permit the operation.
func (o Op) Access() Access { return table[o].Access }

// AccessToCreate describes the SAS that permit the operation if it creates the blob. It
// returns false for an operation that creates no blob.
func (o Op) AccessToCreate() (Access, bool) { return table[o].with(table[o].create) }

// AccessToBreakLease describes the SAS that permit the operation if it breaks a lease. It
// returns false for an operation that is not about leases.
func (o Op) AccessToBreakLease() (Access, bool) { return table[o].with(table[o].end) }

func (e entry) with(permissions string) (Access, bool) {
	a := e.Access
	if a.Account != "" {
		a.Account = permissions
	}
	if a.Service != "" {
		a.Service = permissions
	}
	return a, permissions != ""
}
