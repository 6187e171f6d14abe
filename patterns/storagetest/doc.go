// Package storagetest is an Azure storage account inside the process, for tests
// and demonstrations: Table, Queue and Blob services that follow the
// documented service, limits and error codes included, and do on demand what
// goes wrong in production.
//
//	func TestOrders(t *testing.T) {
//		acct := storagetest.New(t)
//		orders := acct.Tables().NewClient("orders") // an ordinary *aztables.Client
//		…
//		acct.Fault(storagetest.On("Table.Insert").Nth(2).LoseReply())
//		…
//		if n := acct.Log().Count("Table.*"); n != 3 { … }
//	}
//
// An account is memory and nothing else: no process, no port, no file, no
// goroutine. A test can have one of its own, and hundreds of them run side by
// side.
//
// # Clients
//
// [Account.Tables], [Account.Queue] and [Account.Container] return the clients
// of the Azure SDK, signing with [AccountKey]. Code that builds its own clients
// takes [Account.ConnectionString] or the addresses [TablesURL], [QueuesURL],
// [BlobsURL], and [Account.Transport] as ClientOptions.Transport. Other
// processes and languages use [Account.Serve], which puts the same account on
// loopback ports in the manner of Azurite.
//
// # Time
//
// The transport runs the service in the goroutine of the sender, and the
// service asks package time. So everything works inside testing/synctest: the
// 40 seconds for which the name of a deleted table is blocked, the visibility
// of messages, leases, and the backoff of the SDK pass at once.
//
// # Faults
//
// A [Rule] says which requests meet with what. Which requests:
//
//	On(pattern)         operations by name: "Table.Insert", "Table.*", "*"
//	.Nth(n)             the n-th of them
//	.Times(k)           k of them, from the first or from the n-th; Forever
//	.Resource(name)     of one table, queue or container
//	.Where(f)           for which f is true
//	.Probability(p)     each with probability p, by Options.Seed
//
// And what happens to them:
//
//	.LoseRequest()      never carried out; the sender gets a [LostError]
//	.LoseReply()        carried out; the sender gets the same error
//	.Status(503, code)  refused with an error of the service
//	.Twice()            carried out twice
//	.CutReply(n)        carried out; the answer breaks off after n bytes
//	.Delay(d)           carried out after d
//	.DelayReply(d)      answered d after it was carried out
//	.ShortPage(n)       a query or list answers at most n results, with a token
//	.EmptyPage()        a query or list answers no result and a token first
//	.CutPage(n)         a query stops after it looked at n rows, as after 5 s
//	.BoundaryPage()     a query stops where a partition ends
//	.Late()             a Get of messages answers none
//	.Redeliver()        the messages of a Get are delivered twice
//
// Rules count every request that they match, retries of the SDK included. A rule
// that can never act, such as one for an operation "Tabel.Insert", panics: a test
// that counts on it would pass for nothing. One that could have acted and met no
// request is told of at the end of the test; see [New].
//
// The operations are, in the Table service, Get (a point read), Query (one
// page), Insert, Replace, Merge, UpsertReplace, UpsertMerge, Delete, Batch,
// CreateTable, DeleteTable, ListTables, GetACL, SetACL, GetProperties,
// SetProperties, Stats; in the Queue service, Put, Get, Peek, Update, Delete,
// Clear, CreateQueue, DeleteQueue, ListQueues, GetMetadata, SetMetadata, GetACL,
// SetACL, GetProperties, SetProperties, Stats; in the Blob service, Get, Head,
// Put, PutBlock, PutBlockList, GetBlockList, Append, Delete, SetMetadata,
// SetHeaders, Lease, Copy, Snapshot, List, CreateContainer, DeleteContainer, GetContainer,
// SetContainerMetadata, LeaseContainer, GetACL, SetACL, ListContainers,
// GetProperties, SetProperties, Stats.
//
// # Crashes
//
// [CrashPoints] runs a scenario again and again, with the process killed just
// before and just after each of its storage calls, and checks each time that
// the code recovers; [CrashPointsWith] lets that die, too.
//
// # Cost
//
// [Account.Log] has every request with its operation, the rows it addressed,
// returned, looked at and wrote, its bytes, status and error code. The service
// bills requests and is limited in rows looked at: a test that asserts both
// keeps a change from making the code dearer.
//
//	acct.ResetLog()
//	people.ByAge(ctx, 30, 40)
//	if log := acct.Log(); log.Count("Table.*") != 1 || log.Scanned() > 10 {
//		t.Errorf("too dear:\n%v", log)
//	}
//
// # Speed
//
// A point read takes about 10 µs of processor time without what the SDK adds,
// which is some 90,000 a second on a core of its own. Measure it with
//
//	go test -run '^$' -bench PointRead -cpu 1 ./patterns/storagetest
//
// The memory in use is that of the data, about 1 KiB for a row of 13 properties
// (BenchmarkMemory), and of the log, of which Options.LogLimit is the bound.
//
// # Where it is stricter than the service
//
// Where the documentation says less than a server has to decide, this one
// refuses. Known cases in the Table service:
//
//   - an Int64 written as a JSON number, and a whole number beyond Int32
//     without a type: 400 InvalidInput;
//   - a DateTime without Z, or with more than seven digits of a second, or a
//     base64 text without padding: 400 InvalidValueType;
//   - a lone surrogate or invalid UTF-8 in a body: 400 InvalidInput;
//   - $top=0: 400 InvalidInput;
//   - operations of one batch on several tables, and a query in a batch, whose one
//     read has to be a point read: 400 InvalidInput;
//   - an insert at People() in place of People: 405 MethodNotAllowed;
//   - every request to a table that was deleted less than 40 seconds ago,
//     another delete included: 409 TableBeingDeleted;
//   - the size of an entity is computed by the formula that was published in
//     2011, without a margin.
//
// # Where it is laxer
//
//   - It is never slow: there are no throughput limits. ServerBusy, timeouts and
//     short pages come from rules only, and Options.PageRows and its
//     neighbours.
//   - One query request sees one state of the whole table; the service promises
//     this within a partition.
//   - A stored access policy works at once, not after up to 30 seconds.
//   - Any bearer token of the right form is accepted, and may do everything: over
//     https, as in the service, so not at the addresses of Serve.
//   - x-ms-version is not looked at by the Table service: it speaks JSON as
//     from 2015-12-11 on. Nor does it insist on Content-Length.
//   - Service properties are kept and given back, and have no effect; there are
//     no CORS requests, no analytics logs and no secondary endpoint.
//   - A typed property may be written as text whatever its type, as the
//     JavaScript SDK does: "X@odata.type":"Edm.Double","X":"3".
//
// A credential that is refused is told why: in AuthenticationErrorDetail, and by
// the Table service, which has no such thing, in a line of the message.
//
// Page blobs, snapshots, versions and what else the Blob service does not have
// answer 501 NotImplemented.
package storagetest
