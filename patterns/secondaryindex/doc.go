// Package secondaryindex finds entities by other values than their key: the secondary
// index patterns, within a partition and between partitions.
//
// # Problem
//
// "The employee with this e-mail address; all whose address begins with a." The Table
// service has one index, PartitionKey and RowKey. A filter on anything else reads the
// whole partition. So the entity is stored once more for each value it is looked up
// by, under a key made of that value; and from then on every change has to find all
// of its copies.
//
// # Layout
//
// [Intra] puts the copy into the primary's partition, with the index's name in front
// of the row key; both rows change in one transaction:
//
//	PartitionKey  RowKey                    Properties
//	Sales         empid_000223              FirstName, LastName, Age, EmailAddress
//	Sales         email_jonesj@contoso.com  the same, azp_pk, azp_rk, azp_view
//
// [Inter] puts it into a partition of its own, with the name in front of the
// partition key; in the same table, or in another one, also of another account:
//
//	PartitionKey  RowKey              Properties
//	Sales         000223              FirstName, LastName, Age, EmailAddress
//	email_Sales   jonesj@contoso.com  the same, azp_pk, azp_rk, azp_view
//
// azp_pk and azp_rk are the primary's key, azp_view is the index's name. The value is
// written as [keys.Escape] does, so any text will do and addresses stay readable. In
// an index that is not unique ([Options.NonUnique]) two spaces and the primary's row
// key follow, so that copies never collide:
//
//	PartitionKey  RowKey
//	Sales         last_Jones  empid_000152
//	Sales         last_Jones  empid_000223
//
// Where [Options.Partition] chooses the partition, that is the primary's partition
// key, escaped, "_", and its row key.
//
// An index is sparse where its function says false. A slim one copies just the
// properties named in [Options.Only]; the guide prefers full copies, which answer a
// query in one request.
//
// Names of indexes hold no "_". So no name with "_" behind it begins another one, and a
// query for one index never meets another's rows.
//
// # Use
//
// Make the indexes, hand them to [patterns.NewStore] as views, and change entities
// through the Store only. [Index.On] reads them.
//
// # Order
//
// Entries come in the order of their values, as [keys.Compare] has it for the escaped
// texts: capitals before small letters, unless [Options.Fold] is set; a value before
// all that begin with it; those of one value by the primary's key. Bounds of
// [Reader.Range] and [Reader.Prefix] are exact: a prefix "ann." has no "ann/".
//
// # Cost
//
// Requests:
//
//	                              Intra            Inter
//	Insert                        1                5, not unique 4, and 2 to the queue
//	Update of the value           2                9, not unique 7, and 2
//	Delete                        2                7, not unique 6, and 2
//	Get                           1                1
//	Get and Hydrate, GetFresh     2                2
//	Range, Prefix, Lookup         1 for 1,000      1 for 1,000
//
// [patterns.Store.Explain] tells them for each operation.
//
// However many copies of Intra there are, they are part of one request. Each counts
// against the partition's 2,000 entities a second all the same.
//
// # Consistency
//
// Within a partition the copies are right at every moment, and a value that is taken
// is refused by the transaction itself: [*patterns.DuplicateError] names the index, and
// nothing was written.
//
// Between partitions the copies follow: at once in the normal case, and after a crash
// when a worker comes by. Until then a reader may find no copy of a new entity, a
// copy of one that is gone, an old one, or two. [Reader.GetFresh], [Reader.Check] and
// [Reader.Fresh] ask the primary, which is always right. Values are unique
// nevertheless: the Store reserves the row before it writes the primary. What a crash
// left reserved is refused to others for [patterns.StoreOptions.Grace], and free then.
//
// # Limits
//
// A key has at most 512 UTF-16 units, the name, the value and, in an index that is not
// unique, the primary's key together. A transaction takes 100 operations and 4 MiB: an
// entity of nearly 1 MiB has room for two full copies in its partition. A value in an
// index made by [Inter] cannot begin with "~azp". On Cosmos DB for Table, which keeps no
// order, Range and Prefix fail with [patterns.ErrUnordered].
//
// # Failures
//
// A row at a copy's key that is not the index's own is never overwritten nor deleted:
// [*patterns.DuplicateError] again. Rows that other programs wrote into the range of an
// index are passed over by reading. Writing past the Store leaves copies behind: the
// reads that check see it, and with [FreshOptions.Repair] mend it. An index that is
// added to a table with rows is filled by [patterns.Store.Repair] of each.
//
// # When not to use it
//
//   - Many entities share a value, and whoever asks wants all of them with their
//     keys only: an index entity, package indexentity, holds them in one row.
//   - A few of an entity's values are wanted inside another one: package denormalize.
//   - Readers cannot do with copies that follow, and a single partition cannot take the
//     traffic: there is no index for that.
//
// The patterns:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#intra-partition-secondary-index-pattern
// and
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#inter-partition-secondary-index-pattern
package secondaryindex
