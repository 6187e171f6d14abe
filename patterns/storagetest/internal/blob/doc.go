// Package blob is an in-process Blob service that follows the documented service,
// including its limits and error codes
// (https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api).
//
// The caller verifies the credential of a request, and the function that is passed to New
// verifies those of the requests that it contains. The time is that of the request, so
// testing/synctest controls leases, the 30 seconds for which the name of a deleted
// container is blocked and the week for which uncommitted blocks are kept. The service
// starts no goroutine. Content is not copied: a read sends the stored bytes, and a block
// that is committed or copied is shared between blobs.
//
// Supported: containers with metadata, policies, public access and leases; block
// blobs (in one piece, by blocks, from a URL of the same account), append blobs
// (with sealing), ranged and conditional reads, properties, metadata, tags, the
// tiers Hot, Cool and Cold, leases, snapshots, copy within the account, flat and
// hierarchical listing, batches, service properties, account information.
//
// Not supported, and refused with 501 NotImplemented, a code that the real service does
// not have:
// page blobs, versions and undelete, customer-provided keys and
// encryption scopes, tag conditions and search, the Archive tier, immutability
// and legal holds, query, expiry, user delegation keys.
//
// Choices that the documentation leaves open:
//   - The wrong lease id on a leased blob is 412, as in the list of error codes, not
//     409 as in a table of Lease Blob.
//   - Overwriting a blob cannot change its type: 409 InvalidBlobType.
//   - If-None-Match: * on a read is 400 UnsatisfiableCondition; on a write that
//     could create it is 409 BlobAlreadyExists; on other writes 412.
//   - Names are listed in the order of their UTF-8 bytes.
//   - A request without x-ms-version is handled as the latest version, and any
//     later version is accepted.
//   - A copy is complete when the reply is sent.
//   - x-ms-copy-source-tag-option: COPY together with x-ms-tags is 400 InvalidHeaderValue.
//   - x-ms-delete-snapshots on a snapshot is 400 InvalidHeaderValue.
package blob
