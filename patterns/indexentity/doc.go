// Package indexentity stores, for every value of a property that many entities share, the
// list of those entities: all employees called Jones. It implements the index entities
// pattern. The lists are views of a [patterns.Store], which keeps them up to date.
//
// # Problem
//
// Only PartitionKey and RowKey are indexed. Finding employees by last name reads the whole
// partition, or the whole table.
//
// # Layout
//
// [Intra] stores one list for each value and partition. It changes in the same
// transaction as the entity:
//
//	PartitionKey  RowKey          Members
//	Sales         lastname_Jones  ["000152","000231"]
//
// [Inter] stores one list for each value in the whole table, in a partition of
// its own or in another table. It is updated through the outbox:
//
//	PartitionKey  RowKey  Members
//	lastname_     Jones   ["Marketing/000010","Sales/000152"]
//
// [InterBlob] stores the same list in a blob, lastname/Jones.json, where it can become longer
// than a row permits.
//
// Members are sorted, without duplicates. Values are escaped by [keys.Escape], and the
// name of the index distinguishes a list from an entity whose row key is "Jones".
//
// # The layout of the guide
//
// The guide prints lists with a separator, and without azp_view and the name of the index:
//
//	PartitionKey   RowKey  Properties
//	Sales          Jones   EmployeeIDs "000152,000231"
//	indexentities  Jones   EmployeeDetails "Marketing/000010,Sales/000152"
//
//	&indexentity.Options[Employee]{Property: "EmployeeIDs", Separator: ",", Bare: true, Plain: true}
//	&indexentity.Options[Employee]{Property: "EmployeeDetails", Separator: ",", Plain: true,
//		Partition: func(_, _ string) string { return "indexentities" }}
//
// The guide does not print the text of a pair of department and id. Here it is the partition
// key, "/", which no key contains, and the row key. In both layouts a program that was
// written by hand can add and remove members. A list without azp_view is recognized by its
// properties: it has no others. Readers return it, and the Store adopts it with all its
// members.
//
// # Use
//
// Make the indexes, pass them to [patterns.NewStore] as views, and change entities through
// the Store only. An index that needs no client can be a variable of a package. NewStore returns the
// error of an index that is invalid. [Index.On] returns the [Reader] of an index:
//
//	Get    the list of a value: the keys of the entities
//	Query  the entities themselves
//	Page   the same, a page at a time
//
// # Cost
//
//	Get      1 request
//	Query    1 + one for each member, up to QueryOptions.Parallel concurrently
//	Page     1 + one for each member in the page
//	a write  the row of the list is read first and then changed. Intra takes one
//	         request more than the entity alone, two if the value changes. Inter
//	         and InterBlob take those of the outbox, fewer of them in the call
//	         with a [patterns.Finisher]; see [patterns.Store.Explain]
//
// # Limits
//
// A string property has at most 64 KiB, so a list uses several, Members, Members02, …, up
// to the 1 MiB of a row: about 57,000 members of six characters. A longer list is refused
// with an error that matches [patterns.ErrTooLarge]. Store it in a blob, or use a
// secondary index that is not unique, which has no such limit. With Intra the
// whole operation fails with that error. With Inter the entity is stored, but it
// is missing from the list: [patterns.StoreOptions.OnPending] receives the error, and the
// outbox message becomes a poison message.
//
// Every change rewrites the list, so concurrent writers of one popular value wait for each
// other. All lists of an Inter index share one partition unless
// [Options.Partition] distributes them. Inter and InterBlob cannot store the list of
// a value that begins with "~azp".
//
// # Consistency
//
// A list that is updated through the outbox can be out of date. [Reader.Query] and
// [Reader.Page] leave out members that were deleted or have another value by now.
//
// # When not to use it
//
// For values that only one entity has, or for long lists of which only a part is read:
// use package secondaryindex.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#index-entities-pattern
package indexentity
