// Package blob is an in-process Blob service: an http.Handler that follows the
// documented service, its limits and error codes included
// (https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api).
//
// It knows nothing of authentication, accounts or injected faults: a mount takes
// the account off the path (/container/blob/name) and checks who is asking. Time
// comes from time.Now, so testing/synctest moves leases, the 30 seconds of a
// container that is being deleted and the week of uncommitted blocks. It starts
// no goroutine. Content is kept once: a read writes the stored bytes, a block
// that is committed or copied is shared.
//
// Supported: containers with metadata, policies, public access and leases; block
// blobs (in one piece, by blocks, from a URL of the same account), append blobs
// (with sealing), ranged and conditional reads, properties, metadata, tags, the
// tiers Hot, Cool and Cold, leases, copy within the account, flat and
// hierarchical listing, service properties, account information.
//
// Refused with 501 NotImplemented, a code that the real service does not have:
// page blobs, snapshots, versions and undelete, customer-provided keys and
// encryption scopes, tag conditions and search, the Archive tier, immutability
// and legal holds, query, expiry, batch, user delegation keys.
//
// Where the texts leave a choice:
//   - The wrong lease id on a leased blob is 412, as the list of error codes has
//     it, not the 409 of a table in Lease Blob.
//   - A blob is never turned into another type by writing over it: 409
//     InvalidBlobType.
//   - If-None-Match: * on a read is 400 UnsatisfiableCondition; on a write that
//     could create it is 409 BlobAlreadyExists; on other writes 412.
//   - Names are listed in the order of their UTF-8 bytes.
//   - A request without x-ms-version is served as the latest version, and any
//     later version is taken.
//   - A copy is complete when it is answered.
package blob
