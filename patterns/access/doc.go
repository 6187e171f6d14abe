// Package access issues shared access signatures (SAS) for parts of a table. A client
// receives a URL that lets it work with some entities, in some ways, for a limited time,
// and does not need the account key. The service enforces the limits; the trusted part
// of a system issues the signature and is not involved in the requests.
//
//	token, err := access.Sign(cred, "https://acct.table.core.windows.net", access.Scope{
//		Table:  "Claims",
//		Range:  access.Partition(user),            // spk = epk = user
//		Allow:  access.Read | access.Upsert,       // rau
//		Expiry: time.Now().Add(time.Hour),
//	})
//	// Send token.URL() to the client, which opens the table with
//	// aztables.NewClientWithNoCredential(url, nil).
//
// Signing is local computation and makes no request. It needs the account key, in the
// SDK's credential type.
//
// # Ranges
//
// A signature covers the entities between two pairs of keys, in the order of the table.
// This is not a rectangle of partitions and rows: the first row key applies only in the
// first partition, and the last row key only in the last partition. [Partition],
// [Partitions] and [Rows] build the ranges that avoid this surprise; [Between] is the
// service's own form. The key ranges come from the table's key schema: keys.Prefix,
// Layout.Range and similar functions.
//
// A query made with the signature returns only the rows in its range. A write outside
// the range fails with status 403.
//
// # What Sign handles
//
//   - aztables v1.4.1 includes the range in the string that GetTableSASURL and
//     SASSignatureValues.Sign sign, but omits it from the URL, so the service refuses
//     every request. Sign adds it to the URL.
//   - An upsert needs the permissions to add and to update; [Upsert] contains both.
//   - A start time of "now" fails on a server whose clock is behind. Sign omits the
//     start time unless [Scope.Start] is set.
//   - The SDK formats every time as if it were in UTC. Sign converts times to UTC first.
//
// Azurite ignores ranges. To test that a range is enforced, use package storagetest.
//
// # Lifetime and revocation
//
// A signature cannot be revoked, except by changing the account key. Use short
// lifetimes, and let a client keep its signature until shortly before the expiry, so
// that signatures are issued rarely. For a signature that can be revoked, set
// [Scope.Policy]: the permissions and times are then stored in an access policy of the
// table (at most 5 per table), and deleting the policy revokes every signature that
// names it. A new or changed policy takes effect within 30 seconds.
//
// See https://learn.microsoft.com/rest/api/storageservices/create-service-sas.
package access
