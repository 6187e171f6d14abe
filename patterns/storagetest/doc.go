// Package storagetest provides an Azure storage account inside the process, for tests and
// demonstrations. Its Table, Queue and Blob services follow the documentation, including
// limits and error codes, and inject the faults of production on demand.
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
// An account exists only in memory, without a process, port, file or goroutine. Every test
// can have its own, and hundreds of accounts can be used concurrently.
//
// # Clients
//
// [Account.Tables], [Account.Queue] and [Account.Container] return clients of the Azure
// SDK that sign with [AccountKey]. Code that creates its own clients uses
// [Account.ConnectionString], or one of the addresses [TablesURL], [QueuesURL] and
// [BlobsURL], and sets ClientOptions.Transport to [Account.Transport]. For other processes
// and languages, [Account.Serve] serves the same account on loopback ports, as Azurite does.
//
// # Time
//
// The transport runs the service in the goroutine of the sender, and the service uses
// package time. So everything works inside testing/synctest: the 40 seconds for which the
// name of a deleted table is blocked, the visibility of messages, leases, and the backoff
// of the SDK take no time. With [Options].ClockSkew, the clock of the account is ahead of that
// of the process, or behind it.
//
// # Faults
//
// A [Rule] selects requests:
//
//	On(pattern)         operations by name: "Table.Insert", "Table.*", "*"
//	.Nth(n)             the n-th of them
//	.Times(k)           k of them, from the first or from the n-th; Forever
//	.Resource(name)     of one table, queue or container
//	.Where(f)           for which f returns true
//	.Probability(p)     each with probability p, by Options.Seed
//
// and describes what happens to them:
//
//	.LoseRequest()      never carried out; the sender receives a [LostError]
//	.LoseReply()        carried out; the sender receives the same error
//	.LateRequest(a, b)  the sender receives the same error; carried out after a delay from a to b
//	.Status(503, code)  refused with an error of the service
//	.Twice()            carried out twice
//	.CutReply(n)        carried out; the reply ends after n bytes
//	.Delay(d)           carried out after d
//	.DelayReply(d)      the reply is delivered d after it was carried out
//	.ShortPage(n)       a query or list returns at most n results, with a token
//	.EmptyPage()        a query or list first returns no result, with a token
//	.CutPage(n)         a query stops after it examined n rows, as after 5 s
//	.BoundaryPage()     a query stops at the end of a partition
//	.NoMessages()       a Get of messages returns none
//	.Redeliver()        the messages of a Get are delivered twice
//
// Rules count every request that they match, including retries by the SDK. A rule that can
// never act, such as one for an operation "Tabel.Insert", fails the test, see
// [Account.Fault]. Rules that matched no request are logged at the end of the test, see
// [New].
//
// The operations are, in the Table service, Get (a point read), Query (one
// page), Insert, Replace, Merge, UpsertReplace, UpsertMerge, Delete, Batch,
// CreateTable, DeleteTable, ListTables, GetACL, SetACL, GetProperties,
// SetProperties, Stats; in the Queue service, Put, Get, Peek, Update, Delete,
// Clear, CreateQueue, DeleteQueue, ListQueues, GetMetadata, SetMetadata, GetACL,
// SetACL, GetProperties, SetProperties, Stats; in the Blob service, Get, Head,
// Put, PutBlock, PutBlockList, GetBlockList, Append, Seal, Delete, SetMetadata, SetHeaders,
// GetTags, SetTags, SetTier, Lease, Copy, AbortCopy, Snapshot, List, CreateContainer,
// DeleteContainer, GetContainer, SetContainerMetadata, LeaseContainer, GetACL, SetACL,
// ListContainers, Batch, GetAccountInfo, GetProperties, SetProperties, Stats. A request that is
// not one of these operations is Table.Other, Queue.Other, Blob.Other or Unknown.
//
// # Throttling and regions
//
// [Account.Throttle] refuses requests beyond the documented targets, or smaller ones, with 503
// ServerBusy. [Account.Replicate] adds a read-only secondary that lags behind, and
// [Account.Down] simulates the outage of a region:
//
//	acct.Throttle(&storagetest.Targets{Partition: 100}) // entities per second
//	acct.Replicate(time.Minute)
//	acct.Down(storagetest.Primary) // SecondaryTablesURL still answers
//
// # Production
//
// With [Options].Production an account does all that the service may do without a fault: it ends pages after few rows and at the
// end of a partition, refuses requests beyond its targets, has a secondary that is behind and a clock that differs, and takes its time
// to change a stored access policy and to delete a table. The environment variable [ProductionVariable] does so for every account,
// for the tests of a program that have to pass with it too:
//
//	AZPATTERNS_PRODUCTION=1 go test ./...
//
// Tests that assert the number of requests or the size of a page may fail then, and tests that compare a time of the account with the
// clock of the process. In virtual time requests take no time, so that a program may exceed the targets however long it waits
// after a refusal: [Account.Throttle] with negative targets ends the refusals. A test about an account without all of this uses
//
//	t.Setenv(storagetest.ProductionVariable, "")
//
// # Crashes
//
// [CrashPoints] runs a scenario repeatedly. It simulates that the process is killed just
// before or just after each of its storage calls, or while its request is in flight and
// arrives later, and each time checks that the code recovers. [CrashPointsWith] can also kill
// the process that recovers.
//
// # Cost
//
// [Account.Log] contains every request with its operation, the rows that it addressed,
// returned, examined and wrote, its bytes, status and error code. The service bills requests
// and limits the rows that it examines: a test that asserts both detects a change that makes
// the code more expensive.
//
//	acct.ResetLog()
//	people.ByAge(ctx, 30, 40)
//	if log := acct.Log(); log.Count("Table.*") != 1 || log.Scanned() > 10 {
//		t.Errorf("too expensive:\n%v", log)
//	}
//
// # Speed
//
// A point read takes about 10 µs of processor time, not counting the SDK: about 90,000 reads
// per second on one core. Measure it with
//
//	go test -run '^$' -bench PointRead -cpu 1 ./patterns/storagetest
//
// Memory is used for the data, about 200 bytes for a row of 13 properties and 400 bytes of JSON
// (go test -run '^$' -bench Memory -benchtime 1000000x), and for the log, which
// Options.LogLimit limits. Rows of a table with the same properties share their names: a row
// whose properties no other row has takes about as much as its JSON.
//
// # Stricter than the service
//
// What the documentation does not specify is refused. Known cases in the Table service:
//
//   - an Int64 written as a JSON number: 400 InvalidInput;
//   - a DateTime with more than seven digits of a second, or a base64 text without
//     padding: 400 InvalidValueType;
//   - an operator of a $filter in capitals, such as Eq: 400 InvalidInput;
//   - a lone surrogate or invalid UTF-8 in a body: 400 InvalidInput;
//   - $top=0: 400 InvalidInput;
//   - operations of one batch on several tables, and a query in a batch (the only read
//     permitted is a single point read): 400 InvalidInput;
//   - an insert at People() instead of People, except in a batch: 405 MethodNotAllowed;
//   - every request to the rows of a table that was deleted less than 40 seconds
//     ago: 409 TableBeingDeleted;
//   - the size of an entity is computed by the formula that was published in
//     2011, without a margin.
//
// # Undecided
//
// What neither a recording of the service, nor its documentation, nor the source
// of a reader of its protocol decides is accepted with a warning: in the entry of
// the log and, for an account of [New], at the end of the test. With
// [Options].Strict it is refused:
//
//   - a whole number beyond Int32 without a type, which is stored as a Double that
//     may lose digits;
//   - $format=json in a read of rows, which does not override Accept;
//   - a filter with more than the documented 15 comparisons, and True or False in a filter;
//   - an If-Match of the Table service that begins with w/ in lower case;
//   - an ETag without quotes in a condition of the Blob service: one recording has 400
//     OutOfRangeInput, another shows that it was compared;
//   - a wrong Content-MD5 together with a right x-ms-blob-content-md5.
//
// A warning only, also with Options.Strict, is that one page of a query examined more than
// 10,000 rows: the service ends a page after five seconds.
//
// # Less strict than the service
//
//   - Without Account.Throttle there are no throughput limits. Timeouts come only from rules,
//     short pages also from Options.PageRows, PageScan and PageBoundary.
//   - The secondary makes all changes in the order of the primary, each exactly after the lag.
//     In the service some partitions may be newer than others and than the Last Sync Time.
//   - One query request sees one state of the whole table; the service promises
//     this within a partition.
//   - Without Options.Production, a stored access policy takes effect immediately, not after up to 30 seconds.
//   - With Options.ClockSkew, credentials are verified by the clock of the process, not of
//     the account.
//   - Any well-formed bearer token is accepted and permits everything, unless it is from
//     Account.Credential, which has roles; that of the source of
//     a copy has to be a JSON Web Token. As in the service it requires https, so it is not
//     accepted at the addresses of Serve.
//   - The Table service ignores x-ms-version and always uses the JSON of version 2015-12-11.
//     It does not require Content-Length.
//   - Service properties are stored and returned, and have no other effect; there are no
//     CORS requests and no analytics logs.
//   - A property with a type annotation may be written as text, whatever its type, as the
//     JavaScript SDK does: "X@odata.type":"Edm.Double","X":"3".
//
// If a credential is refused, the reply contains the reason: in AuthenticationErrorDetail,
// or, in the Table service, which has no such element, in a line of the message. The
// message of a reply of 400 has a line that begins with "storagetest:" and names the property,
// header or parameter and the rule that it broke.
//
// # What stays out
//
// These features of the Blob service are refused with 501 NotImplemented, which azblob returns
// as an error of the service with that code:
//
//   - page blobs, their ranges and incremental copies;
//   - versions, soft delete, and restoring or renaming a container;
//   - the search for blobs by tags, and conditions on tags;
//   - the Archive tier;
//   - keys for user delegation. A SAS that is signed by such a key is refused with 403
//     AuthenticationFailed;
//   - keys of the customer, encryption scopes, immutability policies, legal holds, expiry,
//     queries of the content, and structured bodies.
//
// A copy from another account is refused with 400 CopyAcrossAccountsNotSupported.
package storagetest
