// Package query builds, reads, explains and rewrites the filters of the Azure
// Table service. It sends nothing: everything here is known before the request.
//
//	f := query.And(
//		query.PartitionKey.Eq("Sales"),
//		query.RowKey.Prefix("email_a"),
//		query.Prop("Age").Ge(int32(30)),
//	)
//	f.String()        // PartitionKey eq 'Sales' and RowKey ge 'email_a' and RowKey lt 'email_b' and Age ge 30
//	query.Parse(text) // the same tree, from the text that existing code holds
//	query.Explain(f)  // what it will cost, and what to do about it
//
// # What a filter costs
//
// The service has one index, the keys. It uses what a filter says of them by
// and, and nothing else; all the rest is read, tested and thrown away, and it
// is the rows read, not the rows returned, that take the time and count against
// the limits of the partition. A request ends after 1,000 rows, after 5 seconds,
// or at the border of a partition, so that a scan is many requests. In order of
// cost:
//
//	Point           both keys                       one row
//	RowRange        the partition, a row key range  a part of one partition
//	PartitionScan   the partition                   one partition
//	PartitionRange  a partition key range           some partitions, each of them whole
//	TableScan       anything else                   the table
//
// An or of row keys is not several points to the service but a scan of the
// partition. [Explain] says so, and [Plan.Reads] gives the reads that it should
// have been: disjoint, in the order of the keys, and together exactly the rows
// of the filter. [Plan.Check] refuses what costs more than the caller accepts.
//
// See https://learn.microsoft.com/azure/storage/tables/table-storage-design-for-query
// and https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination.
//
// # Values
//
// The type of the Go value decides the type of the literal, and a literal
// matches only values of its own type:
//
//	string                                      String    'O''Brien'
//	int32, int16, int8, uint16, uint8           Int32     30
//	int64, int, uint32, uint, uint64            Int64     30L
//	float64, float32                            Double    30.0, 1.5e-9
//	bool                                        Boolean   true
//	time.Time                                   DateTime  datetime'2026-01-02T03:04:05.0000000Z'
//	[]byte                                      Binary    X'00ff'
//	[16]byte                                    Guid      guid'a455c695-df98-5678-aaaa-81d3367e5a34'
//
// A named type goes by what it is made of: uuid.UUID is a Guid, time.Duration an
// Int64; aztables.EDMGUID is a Guid too. Times are sent in UTC, cut to 100 ns as
// they are stored, and lie in the years 1601 to 9999. An int is an Int64,
// untyped constants included: write int32(30) for an Int32 property, or let
// [Filter.Check] find it.
//
// There is no literal, and so an error, for nil, pointers, NaN, infinity, a
// uint64 beyond an int64, text that is not UTF-8, and every other type. No value
// can end its literal: the text is parsed back to the very same tree.
//
// See https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
// and https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model.
//
// # Missing properties
//
// A row without a property passes no comparison of it, not even ne. It does pass
// the not of one: Not(Prop("X").Eq(v)) and Prop("X").Ne(v) differ in the rows
// that lack X.
//
// # Errors and logs
//
// A mistake in building is kept in the [Filter] and reported by [Filter.Err]. The
// text of errors, warnings and plans names properties but holds no values;
// print a [Plan] or a [*ScanError] with %+v to see them. [Filter.String] is for
// the wire, and holds them all.
package query
