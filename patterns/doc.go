// Package patterns implements the design guide of Azure Table Storage on top of the
// Azure SDK for Go.
//
// Its core is [Table]: the rows of one table as values of a Go type. It takes the
// *aztables.Client that a program already has and leaves credentials, retries, tracing and
// transport to it. What it writes are ordinary entities that any other client can read.
//
//	table, err := patterns.NewTable[Employee](client, nil)
//	item, err := table.Get(ctx, keys.Key{Partition: "Sales", Row: "00010"})
//	item, err = table.Update(ctx, item.Key, func(e *Employee) error { e.Age++; return nil })
//
// # The patterns
//
//	secondaryindex     find entities by other values, in their partition or elsewhere
//	indexentity        lists of the entities that share a value
//	denormalize        properties and counters of entities inside other rows
//	eventual           a queue worker, outbox messages, moves, the poison queue
//	compoundkey        parent and children in one partition, read in one request
//	logtail            the newest entries first
//	highvolumedelete   a table for each period, dropped as a whole
//	dataseries         a ring of values in one row
//	wideentity         more than 252 properties or 1 MiB, over several rows
//	largeentity        values in blobs, the reference in the row
//	logdata            log records in blobs, and a reader of time ranges
//	entitytype         several types and versions in one table
//	reindex            verifies, repairs and adds the views of a Store
//	heat               shows which keys cost: a heat map, and findings in words
//	govern             stays below the targets of partitions and accounts
//	regions            reads that survive the loss of the primary region
//	shards             one table over several accounts, added while programs write
//	access             signed access to the key ranges of a schema
//	otel               spans and metrics in OpenTelemetry; a module of its own
//	tablectl           a command that moves, compares and repairs the tables of a service
//	storagetest        a storage account in the process, for tests
//
// [keys.Spread] is the remedy for a hot partition; examples/hotpartition shows it.
//
// # Types
//
// A property has the type of its Go field, when it is written and when it is read: a
// float64 with a whole value stays an Edm.Double, an int64 an Edm.Int64; a time is sent in
// UTC with a precision of 100 ns; NaN and the infinities are preserved. A json.Number is
// stored as the number that it contains. Unknown
// properties, those for which the Go type has no field, are preserved by [Table.Update]
// and [Table.Replace]; [Item.Unknown] lists them, [Item.Without] drops them, and the members of
// JSON that the Go type of a field lacks.
//
// What a program reads and does not change is written back with the text and the type
// that the row has, also if another program stored it: a time with its offset, a whole float as an
// Edm.Int32, JSON with members that the Go type lacks, also if other members change. A
// property that the row lacks is not added while its field is zero, unless its name is given
// ([Op.Only]), or the row may be another version than the one that was read: a [Table.Merge] with
// azcore.ETagAny adds zeros, and one with an ETag that the program has assigned may. A stored time with an
// offset is read into a time.Time with that offset, and a new time is written there with
// the offset of its own zone. This holds for writes of an Item that was read and for every
// Update, also in the packages of the patterns. A value that its field cannot be read from
// is a [*PropertyError] before any write.
//
// A value has changed if it is encoded as another text than the one that was read. So a program that
// only spells JSON in another way, or changes what MarshalJSON does not write, changes nothing.
//
// An element of an array in JSON keeps the members that its Go type lacks if it is certain which of the
// elements that were read it is. It is if it is equal to one, wherever that was: equal elements are
// in their order if there are as many as before. It is if no other element has changed or moved, and
// of this one at most one member has. And it is if only one member has changed that two elements had in
// common, such as a flag, and so was no id. Any other element may be new, and has only what the program
// has stored: after a change of ids, or of several members of an element, what the type lacks is lost.
//
// A Table of map[string]any reads values as string, bool, int32, int64, float64,
// time.Time, []byte and [16]byte. A value as encoding/json decodes it, that is a float64, a
// json.Number or a text, is written with the type that the row stores, if that can
// represent it. In a new row a float64 is an Edm.Double, and a whole json.Number an
// Edm.Int32 or Edm.Int64. The key X@odata.type names the type of the value X, as in the
// JSON of the service.
//
// # Limits
//
// What the service would refuse is refused before the request, with an error that names
// the property, the part of the key or the operation: 252 properties, 64 KiB per value (a
// string: 32,768 UTF-16 units), 1 MiB per entity, keys of 512 UTF-16 units without / \ # ?
// and control characters, 100 operations and 4 MiB per transaction.
//
// A client that is built with [Accelerate] or [LimitReplies] reads at most 16 MiB of a reply.
// [LimitReplies] states how much memory that takes in each mode. A page of Table has at most
// 1,000 rows.
//
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model
//
// # Queries
//
// [Table.Query] plans a filter before it sends it: see package query. A scan of a whole
// table is refused unless [QueryOptions.Allow] permits it.
//
// # Views
//
// A [Store] is a Table that keeps derived rows up to date: copies under other keys, lists,
// properties and counters in other entities. Each kind is declared once, as a [View]. The
// entity is the primary of these rows. Local rows, which are in its partition, change with it
// in one transaction; remote rows, which are elsewhere, are updated through an outbox that
// survives crashes. [Store.Explain] shows what an operation costs.
//
// # The network
//
// The promises of this module hold under these conditions:
//
//   - A request may be lost, or the reply to it. The SDK then sends the request again.
//   - An attempt that the SDK no longer waits for may still arrive, seconds or minutes later, even
//     after its process has ended.
//   - A process may crash or pause at any point.
//   - A queue message may be delivered twice, late, early, or never.
//   - The clock of a machine may differ from that of the service by any amount. Ages are
//     computed from the Date of replies.
//
// If an attempt had no reply, Table and Store read the row to find out what became of it. A
// write returns nil only if it was applied or, if it depends on no version, the row is as it
// would have left it. It returns [ErrExists], [ErrNotFound], [ErrConflict] or [*DuplicateError]
// only if it was not applied, and none of its attempts can be applied later. Otherwise it returns [ErrOutcomeUnknown], which then also holds for
// every later error of the same call.
//
// What each write means if a reply does not arrive:
//
//	Table.Insert          The row is read. With StampWrites the stamp of this write means
//	                      applied; otherwise the outcome is unknown, as a row that was inserted
//	                      may have been deleted, and another client may have inserted an equal
//	                      one. If another client deletes the row before a repeated or late
//	                      attempt arrives, that attempt inserts it again.
//	Table.Upsert          May be applied twice, or late, over what other clients wrote
//	                      meanwhile. So may Replace, Merge and Delete with ETagAny, and
//	                      Delete with an empty ETag. As they have no condition on the version,
//	                      all but Delete with ETagAny return nil if the row is as they would
//	                      have left it.
//	Table.Replace, Merge  Under an ETag: applied at most once. With StampWrites the outcome
//	                      is unknown only while an attempt may arrive and the row is still
//	                      the same version; without, also if the row has changed, even if its
//	                      content is that to be written: another client may have stored it.
//	Table.Delete          Under an ETag: applied at most once. If the row does not exist
//	                      afterwards, the outcome is unknown.
//	Table.Update          Like Replace. Starts over only if its change was not applied.
//	Table.Do              Like the method for the operation.
//	Batch.Commit          All operations or none, also of a repeated or late attempt, whose
//	                      conditions must all hold. Known if the stamp of one of the operations
//	                      shows it, or if a row is still the version to be changed.
//	Table.Bulk            Each of its transactions like a Batch; the report contains the
//	                      operations whose outcome is unknown.
//	Table.Create, Drop    Return nil if an attempt was applied. A late attempt creates, or
//	                      drops, a table that was dropped, or created, meanwhile.
//	Store.Insert          With rows elsewhere, or with GuardInserts: applied at most once,
//	                      and its outbox row shows whether. Otherwise like Table.Insert.
//	Store.Put, Delete     Read the entity and write under its ETag; repeated until the
//	                      entity is as they would leave it. May overwrite, or delete, what other clients
//	                      wrote meanwhile. A Put that inserts is like Store.Insert.
//	Store.PutItem,        With rows elsewhere: applied at most once, and the outbox row shows
//	DeleteItem            whether. Otherwise like Table.Replace and Delete under an ETag.
//	Store.Update,         With rows elsewhere: applied exactly once, unless the record of
//	UpdateItem            the outcome cannot be read. Otherwise like Table.Update.
//	StoreBatch.Commit     All operations or none. With rows elsewhere: applied at most once,
//	                      and an outbox row shows whether. Otherwise like Batch.Commit; if all
//	                      operations are Put and Delete, repeated until the outcome is known, or
//	                      an entity to be deleted does not exist.
//	Store.Bulk            Each of its transactions like a StoreBatch; the report contains the
//	                      operations whose outcome is unknown.
//	Store.Repair, Sweep,  May be repeated after any error.
//	Handle
//
// No single request to a table can insert a row safely if other clients may delete it
// meanwhile, because the service cannot distinguish a repeated attempt from a new one. If
// that matters, use [Store.Insert] with [StoreOptions.GuardInserts].
//
// # Errors
//
// Errors match the sentinels of this package with errors.Is, and the SDK's
// *azcore.ResponseError with errors.As. So do the error types of this package: [Error] has
// the operation, the status and the service's error code. Use errors.As, not a type
// assertion: returned errors wrap them. Messages contain neither keys nor values; the verb
// %+v prints them.
//
// # Speed
//
// aztables decodes every response into maps, encodes each row again, and leaves it to the
// caller to decode it once more. A client built with [Accelerate] hands responses straight
// to Table.
//
// # Order of attachments
//
// What is attached to the options of a client later is further out. Attach in this order, the
// first two also for queues and blobs; Accelerate may come at any point:
//
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	meter.Attach(&opts.ClientOptions)    // package heat counts what is sent
//	governor.Attach(&opts.ClientOptions) // package govern learns from each reply, by region
//	pair.Attach(&opts.ClientOptions)     // package regions sends a read to either region
//
// Every order works. In another one the meter and the governor see one request for each try of
// the SDK, and not which region answers it.
//
// A meter and a pair are for one account; a governor is for all. Package shards takes the clients
// of the accounts. A read of one partition in either region is
//
//	err := table.ReadWithin(ctx, key.Partition, func(rows *patterns.Table[Order]) error {
//		either, err := regions.NewTable(rows, nil)
//		if err == nil {
//			item, err = either.Get(ctx, key)
//		}
//		return err
//	})
//
// examples/grow has the whole program.
//
// # Cosmos DB for Table
//
// Table and Batch work there as well. Its results have no order: what relies on order
// fails with [ErrUnordered].
package patterns
