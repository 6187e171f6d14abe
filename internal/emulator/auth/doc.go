// Package auth decides whether a request to the in-process Table, Queue or
// Blob service is signed correctly, and what the signature permits.
//
// A service asks twice. First, who is calling, before the request is routed or
// its path rewritten:
//
//	grant, refusal := verifier.Verify(r, auth.Table)
//	if refusal != nil {
//		// answer refusal.Status, refusal.Code, refusal.Message and, if it is
//		// not empty, WWW-Authenticate: refusal.Challenge
//	}
//
// Then, when the operation and what it touches are known, whether that caller
// may do it:
//
//	refusal = grant.AllowRow(auth.UpsertEntity, table, pk, rk) // one entity; each operation of a batch
//	refusal = grant.Allow(auth.QueryEntities, table)           // a query; drop the rows that grant.Range() does not contain
//	refusal = grant.Allow(auth.CreateTable, table)
//	refusal = grant.Allow(auth.PeekMessages, queue)
//	refusal = grant.AllowBlob(auth.ReadBlob, container, blob)
//
// # What is verified
//
//   - Shared Key and Shared Key Lite, in the form of the Table service and in
//     the form of the Queue and Blob services, with x-ms-date or Date at most
//     15 minutes off.
//   - Account SAS: services, resource types, permissions, times, address,
//     protocol.
//   - Service SAS for a table with key ranges, a queue, a container, a blob or a
//     blob snapshot, with a stored access policy.
//   - Bearer tokens: only their form is looked at, unless [Verifier.Bearer]
//     says more. They need https, as in the service.
//
// The account may be addressed by host (account.table.core.windows.net/T) or by
// path (127.0.0.1:10002/account/T). In the second form the account stands twice
// in what Shared Key signs, because the path is signed as it is sent.
//
// Not supported, and refused: user delegation SAS, directory SAS (both need
// what the in-process account does not have), versions before 2015-04-05, and
// anonymous access.
//
// # Rules
//
// The rules are those of the documentation, not those of an emulator: an upsert
// needs the permissions a and u, a key range is enforced on reads and writes, a
// service SAS never creates, lists or deletes tables, and no SAS touches access
// policies. The code for a key outside the range of a SAS is not documented;
// this package answers AuthorizationFailure.
//
// A request without an address, which is what an in-process transport gives,
// counts as coming from 127.0.0.1; a request counts as https if it came over
// TLS or its URL says so.
//
// The package is pure: no I/O, no goroutines, and no time but [Verifier.Now].
//
// Sources:
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key,
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas,
// https://learn.microsoft.com/rest/api/storageservices/create-account-sas,
// https://learn.microsoft.com/rest/api/storageservices/sas-error-codes.
package auth
