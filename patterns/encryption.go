package patterns

import "github.com/azpatterns/azpatterns/patterns/types"

// EncryptionKeys are the keys of encrypted properties. They are safe for concurrent use.
type EncryptionKeys = types.EncryptionKeys

// Encryption encrypts the fields of T with the option encrypted, as in
//
//	Email string `table:"Email,encrypted"`
//
// The field has any type that a property can have, with the options json, omitempty, omitzero and the property types,
// but not blob, bag or the name of a key. It is stored as an Edm.Binary, 32 to 60 bytes longer than its content,
// 31 plus the length of the key's id: AES-256-GCM, with the table, the partition key, the row key, the name of the property and the
// id of the key as additional data. So its content has at most 65,505 bytes less the length of the id, in UTF-8 for a text; more is refused with
// [ErrTooLarge] before any request. A value that is copied to another row, property or table, or changed, or not
// encrypted, fails with a [*PropertyError] that matches [ErrSealed]; one whose key the program does not have
// matches [ErrNoKey]. The errors name the property and contain no value.
//
// Hidden is the content of the property. A reader of the table sees keys, names, which rows have the
// property, the length of its content, and, in two versions of one row, whether it has changed: the same
// content in the same place under the same key is stored as the same bytes, so that repeated writes change nothing.
// A writer of the table can put back an earlier version of a property in its own row.
//
// Filters that name an encrypted property are refused before any request, and so are layouts of package keys with such
// a field. A key function that reads one is not recognized: a key made of a value reveals it. For an index use
// [keys.Blind]. Values that views merge into rows ([MergeSpec]) are stored as they are; [NewStore] cannot see
// where they come from. Copies of the views of a [Store] are encrypted for their own rows; those in other tables are
// bound to the logical name of the store's table.
//
// A new key is added to the keys of all programs first, and made the current one then. From then on each write of a
// row encrypts the properties that it writes with the new key; [Table.Merge] of an item that was read writes them all. [Table.Reencrypt]
// and [Store.Reencrypt] bring the other rows to the new key, and show when an old one is no longer needed.
//
// Wide and large entities take the keys in the options of their packages: a value of a wide entity is bound to the entity, whichever of its
// rows has it, and the content of blobs is not encrypted. All else refuses a type with encrypted fields with an error
// that matches [ErrNoKey]: package entitytype, [Decode], [EncodeJSON] and [DecodeJSON] among others. Programs that do not know the keys read
// and write the rows as a Table of another type with a field for other properties, or as [Row]; the
// encrypted properties are kept byte for byte.
type Encryption = types.Encryption
