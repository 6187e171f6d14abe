// Package secondaryindex finds entities by values other than their key. It implements the
// intra-partition and the inter-partition secondary index patterns.
//
// # Problem
//
// "The employee with this e-mail address", "all employees whose address begins with a".
// The Table service has one index, on PartitionKey and RowKey. A filter on any other
// property reads the whole partition. So a copy of the entity, its primary, is stored for
// each value that it is looked up by, under a key made of that value. From then on every
// change of the primary must also change its copies.
//
// # Layout
//
// [Intra] stores the copy in the primary's partition, under a row key that begins with
// the index's name. Both rows change in one transaction:
//
//	PartitionKey  RowKey                    Properties
//	Sales         empid_000223              FirstName, LastName, Age, EmailAddress
//	Sales         email_jonesj@contoso.com  the same, azp_pk, azp_rk, azp_view
//
// [Inter] stores it in a partition of its own, whose key begins with the index's name. The
// partition is in the same table or in another one, which may be in another account:
//
//	PartitionKey  RowKey              Properties
//	Sales         000223              FirstName, LastName, Age, EmailAddress
//	email_Sales   jonesj@contoso.com  the same, azp_pk, azp_rk, azp_view
//
// azp_pk and azp_rk are the primary's key, azp_view is the index's name. The value is
// escaped by [keys.Escape], so any text can be indexed and addresses stay readable. In an
// index that is not unique ([Options.NonUnique]) two spaces and the primary's row key
// follow, so that copies never collide:
//
//	PartitionKey  RowKey
//	Sales         last_Jones  empid_000152
//	Sales         last_Jones  empid_000223
//
// With [Options.Partition], the primary's partition key, escaped, and "_" precede the primary's row key.
//
// # The layout of the guide
//
// The guide prints copies without azp_ properties, which contain the employee's id instead
// of the e-mail address. [Options.Owner] selects that layout, [Options.Copy] the content:
//
//	PartitionKey  RowKey                    Properties
//	Sales         empid_000223              FirstName, LastName, Age, EmailAddress
//	Sales         email_jonesj@contoso.com  FirstName, LastName, Age, EmployeeId
//
//	&secondaryindex.Options[Employee]{
//		Copy: func(e *Employee) Employee {
//			c := *e
//			c.EmployeeID, c.EmailAddress = strings.TrimPrefix(e.RowKey, "empid_"), ""
//			return c
//		},
//		Owner: func(c *Employee, at keys.Key) (keys.Key, bool) {
//			return keys.Key{Partition: at.Partition, Row: "empid_" + c.EmployeeID}, c.EmployeeID != ""
//		},
//	}
//
// EmployeeID and EmailAddress have the option omitempty. If the partition keys of primaries
// begin with "empid_", as the guide has it for the copies of Inter, [Options.Partition]
// replaces that by "email_". Readers find rows that programs written by hand have stored,
// and those programs can read and replace the rows of a Store. The guide does not keep
// values unique over partitions: a value in an index made by Inter can be reserved only if
// all programs that assign values are Stores.
//
// Without Owner, rows that have no azp_view are adopted when the Store changes their entity,
// if they are equal to the copy that the entity implies. [Options.Adopt] selects what becomes
// of others. Until then readers skip them. While a program that was written by hand merges
// changes into entities instead of replacing them, an index made by Inter needs Owner: the
// worker cannot recognize a row without azp_view whose entity has changed since.
//
// An index is sparse if its function returns false for some entities. A slim index copies
// only the properties named in [Options.Only]. The guide prefers full copies, which answer
// a query in one request.
//
// [Lookup] stores rows in partitions of their own that contain nothing but the key of an entity. An entity can
// have several values. The rows are inserted before the entity, and deleted after it has lost the value. Each ends in
// the id of the operation that has added the value, and the entity names its rows in azp_lookups:
//
//	PartitionKey  RowKey                             Properties
//	2026-11       trip                               Title, Tags, azp_lookups
//	tag_2026-11   alps  trip 6UIQVE7N67VVPAXCNFS…    azp_pk, azp_rk, azp_view
//
// # Which index
//
//	                          Intra         Lookup            Inter             package indexentity
//	the entities are in       one partition any partition     any partition     any partition
//	a value may be            unique        shared            unique, shared    shared
//	values of an entity       one           several           one               one
//	Insert                    1             1 + 1 for a value 4 + 2 to a queue  5 + 2 to a queue
//	reading 100 entities      1             101               1                 1, keys only
//	found immediately         yes           yes               no                no
//	a result is current       yes           yes               after a check     after a check
//	to be operated            nothing       nothing           queue and worker  queue and worker
//
// After a crash a Lookup has at most one superfluous row for each value of the operation, which no
// reader returns. [patterns.Store.Sweep] removes it.
//
// Names of indexes contain no "_". So no name followed by "_" is a prefix of another, and
// a query of one index never returns rows of another.
//
// # Use
//
// Declare the indexes, pass them to [patterns.NewStore] as views, and change entities through
// the Store only. An index that needs no client can be a variable of a package. NewStore returns the
// error of an index that is invalid. [Index.On] returns the [Reader] of an index:
//
//	Get       the entry of a value
//	Query     the entries of a value, a prefix or a range of values
//	Page      the same, a page at a time; Pages can be continued after an error
//	GetFresh  the entity itself
//	Check, CheckAll  compare entries with their entities
//
// # Order
//
// Entries are ordered by value, in the order of [keys.Compare] of the escaped text: upper
// case before lower case, unless [Options.Fold] is set, and a value before all longer
// values that begin with it. Entries of one value are ordered by the primary's key. The
// bounds of [Range] and [Prefix] are exact: "ann/" does not have the prefix "ann.".
//
// # Cost
//
// Requests:
//
//	                              Intra            Inter                   Lookup
//	Insert                        1                4, and 2 to the queue   1, and 1 for each row
//	Update of the value           2                8, not unique 7, and 2  4
//	Update of other properties    2                6, and 2                2
//	Delete                        2                6, and 2                2, and 1 for each row
//	Get                           1                1
//	GetFresh                      2                2
//	Query                         1 for 1,000      1 for 1,000             1 for 1,000, and 1 for each entity
//	Page                          1                1                       1, and 1 for each entity
//
// Lookup rows of an entity that are in one partition are inserted, or deleted, in one request. Inserts precede the transaction, and deletes
// follow it, each as one round trip: an insert takes two, a change of the value four. With Inter, an insert takes five round trips,
// not unique six, and every other operation seven. With a [patterns.Finisher] an insert takes three, every other operation four, and the last two requests
// to the table, or one of an insert of a unique value, are made for up to 14 and 100 operations together.
//
// Get of a row whose copy has not been written yet takes two.
//
// [patterns.Store.Explain] returns them for each operation.
//
// All copies of Intra are part of one request, regardless of their number. But each counts
// towards the 2,000 entities per second of the partition.
//
// # Consistency
//
// Copies in the primary's partition are always correct. A value that another primary has
// is refused by the transaction itself: [*patterns.DuplicateError] names the index, and
// nothing was written.
//
// Copies in other partitions are eventually consistent: normally updated immediately after
// the primary, after a crash by the worker. Until then a query may find no copy of a new
// entity, and a reader a copy of a deleted entity, an old copy, or two copies. [Reader.Get] finds a new entity. [Reader.GetFresh],
// [Reader.Check] and [Reader.CheckAll] read the primary, which is always correct. Values
// are unique nevertheless: the Store reserves the row before it writes the primary. A row
// that a crash left reserved is refused to other primaries for
// [patterns.StoreOptions.Grace], and can then be used.
//
// A value that several entities have already, when a unique index is added, is refused to all
// others with [Options.Duplicates]; package reindex has the steps.
//
// A [LookupReader] reads entities, so what it returns is current, and each entity that exists with the value
// is found, immediately after its insert. The rules are in the README of internal/outbox. Three things can
// hide an entity: a program that replaces its row without a Store and drops azp_lookups; one that merges another value into it; and a
// restored copy of the table without the table of the rows. [patterns.Store.Repair], for whole tables
// package reindex, adds what is missing. An insert without a reply is repeated, up to
// [patterns.StoreOptions.Tries] times, with new rows each time.
//
// # Limits
//
// A key has at most 512 UTF-16 units, including the name, the value and, in an index that
// is not unique, the primary's key. A transaction has at most 100 operations and 4 MiB: an
// entity of nearly 1 MiB has room for two full copies in its partition. A value in an
// index made by [Inter] or [Lookup] cannot begin with "~azp": the operation is refused with
// [patterns.ErrBadView]. On Cosmos DB for Table, which returns
// rows in no order, queries for a prefix or a range fail with [patterns.ErrUnordered].
//
// # Failures
//
// A row at a copy's key that does not belong to the index is not overwritten or deleted,
// unless [Options.Adopt] permits that; the operation fails with [*patterns.DuplicateError].
// Rows of other programs within the range of an index are skipped when reading. Writing
// without the Store leaves stale copies: the methods that check find them and, with
// [CheckOptions.Repair], repair them. Package reindex finds missing copies too, and fills an
// index that is added to a table with rows.
//
// # When not to use it
//
//   - Many entities share a value, and callers need only their keys, all of them: an index
//     entity, package indexentity, contains them in one row.
//   - A few properties of an entity are needed inside another one: package denormalize.
//   - Readers do not tolerate eventual consistency, and one partition cannot serve the
//     traffic: no index can do both.
//
// The patterns:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#intra-partition-secondary-index-pattern
// and
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#inter-partition-secondary-index-pattern
package secondaryindex
