// Package access hands out shared access signatures for parts of a table: a
// client gets a URL that lets it work with some entities, in some ways, for some
// time, and needs no account key. The service checks it; the trusted part of a
// system only issues it, and carries none of the work.
//
//	token, err := access.Sign(cred, "https://acct.table.core.windows.net", access.Scope{
//		Table:  "Claims",
//		Range:  access.Partition(user),            // spk = epk = user
//		Allow:  access.Read | access.Upsert,       // rau
//		Expiry: time.Now().Add(time.Hour),
//	})
//	// hand token.URL() to the client, which opens it with
//	// aztables.NewClientWithNoCredential(url, nil)
//
// Signing is local arithmetic: no request. It needs the account key, in the SDK's
// own credential.
//
// # Ranges
//
// A signature reaches the entities between two pairs of keys, in the order of
// the table, and not a rectangle of partitions and rows: a first row key counts
// only in the first partition, a last one only in the last. [Partition],
// [Partitions] and [Rows] make the ranges that mean what they say; [Between] is
// the service's own form. Ranges of keys come from the table's schema:
// keys.Prefix, Layout.Range and the like.
//
// Queries through the signature answer only the rows in its range; writes
// outside are refused with 403.
//
// # What goes wrong elsewhere
//
//   - aztables v1.4.1 signs a range in GetTableSASURL and
//     SASSignatureValues.Sign but leaves it out of the URL, so the service refuses
//     every request. Sign puts it back.
//   - An upsert needs the permissions to add and to update; [Upsert] is both.
//   - A start time of "now" fails on a server whose clock is behind. It is left
//     out unless it is asked for.
//   - The SDK writes times as UTC whatever their zone. Sign converts them first.
//   - Azurite ignores ranges. Test what they refuse against storagetest.
//
// # Life and revocation
//
// A signature cannot be called back, except by changing the account key. Keep it
// short-lived, and let a client hold it until shortly before it expires, so that
// issuing stays rare. What has to be revocable is signed with [Scope.Policy]: the
// permissions and times then stand in a stored access policy of the table (at
// most 5), and deleting that ends every signature that names it. A new or
// changed policy takes up to 30 seconds to work.
//
// See https://learn.microsoft.com/rest/api/storageservices/create-service-sas.
package access
