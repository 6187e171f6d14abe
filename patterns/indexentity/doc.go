// Package indexentity keeps, for every value of a property that many entities share,
// the list of those entities: all employees called Jones. The lists are views of a
// [patterns.Store], which keeps them right.
//
// # Problem
//
// Only partition key and row key are indexed. Finding employees by last name reads
// the whole partition, or the whole table.
//
// # Layout
//
// [SamePartition] keeps a list for each value and partition, changed in the same
// transaction as the entity:
//
//	PartitionKey  RowKey          Members
//	Sales         lastname_Jones  ["000152","000231"]
//
// [OtherPartition] keeps one for each value of the whole table, in a partition of its
// own, or in another table; it follows through the outbox:
//
//	PartitionKey  RowKey  Members
//	lastname_     Jones   ["Marketing/000010","Sales/000152"]
//
// [InBlob] keeps the same list in a blob, lastname/Jones.json, where it can grow
// beyond what a row holds.
//
// Members are sorted and stand once. Values are escaped ([keys.Escape]), and the
// name of the index keeps a list from meeting an entity whose id is "Jones".
//
// # Cost
//
//	Members    1 request
//	Entities   1 + one for each member, up to Options.Parallel at once
//	a write    the list's row is read first and then changed: with SamePartition one
//	           request more than the entity alone, two where the value changes; with
//	           OtherPartition and InBlob those of the outbox; see [patterns.Store.Explain]
//
// # Limits
//
// A string property holds 64 KiB, so a list goes over several, Members, Members02, …,
// up to the 1 MiB of a row: about 57,000 members of six characters. A longer one is
// refused with an error that matches [patterns.ErrTooLarge]; keep it in a blob, or use
// a secondary index that is not unique, which has no such limit. With SamePartition the
// whole operation fails with that error. With OtherPartition the entity is stored and
// only the list lacks it: [patterns.StoreOptions.OnPending] has the error, and the
// wake-up ends as a poison message.
//
// Every change rewrites the list: writers of one popular value take turns. All lists of
// an OtherPartition index share one partition unless [Options.Partition] spreads them.
// Its lists, and those in blobs, cannot be of a value that begins with "~azp".
//
// # When it fails
//
// A list that follows through the outbox can lag: Entities leaves out members that are
// gone and those that have another value by now.
//
// # When not to use it
//
// For values that one entity has, use package secondaryindex; also where lists are
// long and read in part.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#index-entities-pattern
package indexentity
