// Package patterns puts the design guide of Azure Table Storage to work on the
// Azure SDK for Go.
//
// Its core is [Table]: the rows of one table as values of a Go type. It takes the
// *aztables.Client that a program has and leaves credentials, retries, tracing and
// transport to it; what it writes are ordinary entities that any other client
// reads.
//
//	table, err := patterns.NewTable[Employee](client, nil)
//	item, err := table.Get(ctx, keys.Key{Partition: "Sales", Row: "00010"})
//	item, err = table.Update(ctx, item.Key, func(e *Employee) error { e.Age++; return nil })
//
// # Types
//
// A property has the type of its Go field, both ways: a float64 that happens to be
// whole stays an Edm.Double, an int64 an Edm.Int64, a time is sent in UTC with 100
// ns, NaN and the infinities come back. Properties of a row that the Go type does
// not have survive [Table.Update] and [Table.Replace].
//
// # Limits
//
// What the service would refuse is refused before the request, with an error that
// names the property, the part of the key or the operation: 252 properties, 64 KiB
// a value (a string: 32,768 UTF-16 units), 1 MiB an entity, keys of 512 UTF-16
// units without / \ # ? and control characters, 100 operations and 4 MiB a
// transaction.
//
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model
//
// # Queries
//
// [Table.Query] plans a filter before it sends it: see package query. A scan of a
// whole table is refused unless [QueryOptions.Allow] says otherwise.
//
// # Views
//
// A [Store] is a Table that keeps what follows from its entities: copies under other
// keys, lists, properties and counters in other entities. Each is declared once, as a
// [View]. Rows in the entity's partition change with it in one transaction; rows
// elsewhere follow through an outbox that survives crashes. [Store.Explain] tells what
// an operation costs.
//
// # Outcomes
//
// A reply can get lost after the service did its work; the SDK then tries again and
// meets its own first attempt, as a conflict. Table notices, reads the row, and
// answers what is true: done, not done, or [ErrOutcomeUnknown] where the row does
// not tell. [TableOptions.StampWrites] makes rows tell.
//
// # Errors
//
// Errors match the sentinels of this package with errors.Is, and the SDK's
// *azcore.ResponseError with errors.As. Messages hold no keys and no values; the
// verb %+v prints them.
//
// # Speed
//
// aztables decodes every reply into maps, encodes each row again, and leaves the
// caller to decode it once more. A client built with [Accelerate] hands replies
// straight to Table. Everything works without it, slower.
//
// # The patterns
//
//	secondaryindex     find entities by other values, in their partition or elsewhere
//	indexentity        lists of the entities that share a value
//	denormalize        properties and counters of entities inside other rows
//	eventual           a queue worker, the outbox's wake-ups, moves, the poison queue
//	compoundkey        parent and children in one partition, read in one request
//	logtail            the newest entries first
//	highvolumedelete   a table for each period, dropped as a whole
//	dataseries         a ring of values in one row
//	wideentity         more than 252 properties or 1 MiB, over several rows
//	largeentity        values in blobs, the reference in the row
//	logdata            log records in blobs, and a reader of time ranges
//	entitytype         several types and versions in one table
//	access             signed access to the key ranges of a schema
//	storagetest        a storage account in the process, for tests
//
// keys.Spread is the remedy for a hot partition; examples/hotpartition shows it.
//
// # Cosmos DB for Table
//
// Table and Batch work there as well. Its results have no order: what relies on
// order fails with [ErrUnordered].
package patterns
