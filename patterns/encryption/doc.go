// Package encryption has the key rings of encrypted properties: fields that the program encrypts before it
// sends a row, so that the service, its backups, and everyone who can read the table but has no key, see no content.
//
// # Problem
//
// The service encrypts what it stores, but decrypts it for everyone with access to the table. The Azure SDK has
// no encryption in the client for tables. A value that a program encrypts by itself can be copied to another row and
// decrypted there, and no query finds it.
//
// # Layout
//
//	type Person struct {
//		PartitionKey, RowKey string
//		Email string `table:",encrypted"`
//	}
//
//	PartitionKey  RowKey  Email (Edm.Binary)
//	Sales         000123  version, key id, nonce, ciphertext, tag
//
// [patterns.Encryption] has the details: what a value is bound to, what a reader of the table still sees, how
// a key is replaced. A [Ring] has the keys in memory, for tests and small programs. An [Envelope] has them in a table, each wrapped by a
// key that never leaves a key vault: the example of [NewEnvelope] shows the interface.
//
// # Index
//
// A secondary index by an encrypted property takes its key from [keys.Blind]: equal values have equal
// texts, which reveal nothing else to those who do not have the secret. A new secret makes another index, which is added as package
// reindex describes: its Backfill stores the rows of entities that exist. Until then readers query both indexes, each with the text of its
// own secret, and use what either finds:
//
//	for index, text := range map[*secondaryindex.Index[Person]]string{byEmail: oldText, byEmail2: newText} {
//		for entry, err := range index.On(people).Query(ctx, "Sales", secondaryindex.Equal(text), nil) {
//			…
//		}
//	}
//
// # Cost
//
// No requests for a [Ring], and one for each [Envelope.Load]. A property is 31 bytes and the length of its key's id longer, and takes 9 allocations more in a write and in a read.
//
// # When not to use it
//
// If filters, ranges or sorting need the value, if the program only wants the data encrypted on disk, which
// the service does anyway, or if the key would be stored where the table's credential is. Types of
// package entitytype with encrypted fields are refused, and so are encrypted fields that may be stored in blobs.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-encrypt-data
package encryption
