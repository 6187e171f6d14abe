// Package auth verifies the signature of a request to the in-process Table, Queue or
// Blob service, and decides what the signature permits.
//
// A request is checked twice. The first check verifies its signature:
//
//	grant, refusal := verifier.Verify(r) // r is a parsed request
//
// The second check decides whether the signature permits the operation and its resources:
//
//	refusal = grant.AllowRow(op.TableUpsertMerge, table, pk, rk) // one entity; each operation of a batch
//	refusal = grant.Allow(op.TableQuery, table)                  // omit the rows that grant.Range() does not contain
//	refusal = grant.Allow(op.TableCreate, table)
//	refusal = grant.Allow(op.QueuePeek, queue)
//	refusal = grant.AllowBlob(r, exists)
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
//   - Bearer tokens: only their form, and [Verifier.Bearer] if it is set. They need
//     https, as in the service.
//
// The account is named by the host (account.table.core.windows.net/T) or by the path
// (127.0.0.1:10002/account/T). In the second form Shared Key signs it twice, because
// the path is signed as it is sent.
//
// Not supported, and refused: user delegation SAS and directory SAS (they need
// features that the in-process account does not have), versions before 2015-04-05, and
// anonymous access.
//
// # Rules
//
// The package follows the documentation and not an emulator: an upsert needs the permissions
// a and u, a key range is enforced on reads and writes, a service SAS never permits
// creating, listing or deleting tables, and no SAS permits reading or setting access
// policies. The code for a key outside the range of a SAS is not documented; this package
// returns AuthorizationFailure.
//
// A request without a remote address, as from an in-process transport, counts as
// coming from 127.0.0.1. A request counts as https if it came over TLS or if its URL
// has that scheme.
//
// The package does no I/O, starts no goroutines, and reads the time only from [Verifier.Now] or
// the request.
//
// Sources:
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key,
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas,
// https://learn.microsoft.com/rest/api/storageservices/create-account-sas,
// https://learn.microsoft.com/rest/api/storageservices/sas-error-codes.
package auth
