// Package query builds, parses, explains and rewrites filters of the Azure Table
// service. It does no I/O.
//
//	f := query.And(
//		query.PartitionKey.Eq("Sales"),
//		query.RowKey.Prefix("email_a"),
//		query.Prop("Age").Ge(int32(30)),
//	)
//	f.String()        // PartitionKey eq 'Sales' and RowKey ge 'email_a' and RowKey lt 'email_b' and Age ge 30
//	query.Parse(text) // parses an OData filter of existing code
//	query.Explain(f)  // the cost of the filter, and warnings with remedies
//
// # Cost of a filter
//
// The service has one index: PartitionKey, then RowKey. It uses this index only for
// conditions on the keys that are joined by and. It reads every row in that key range
// and tests the rest of the filter on each. The rows read, not the rows returned,
// determine the time, and count against the limits of the partition. A response ends
// after 1,000 rows, after 5 seconds, or at the boundary of a partition, so a scan takes
// many requests. The classes, in order of cost:
//
//	Class           selected by                     reads
//	Point           both keys                       one row
//	RowRange        the partition, a row key range  a part of one partition
//	PartitionScan   the partition                   one partition
//	PartitionRange  a partition key range           all rows of some partitions
//	TableScan       anything else                   the table
//
// The service runs an or of row keys as a scan of the partition, not as several point
// reads. [Explain] warns of it, and [Plan.Reads] returns an equivalent list of reads:
// they are disjoint, in key order, and together return exactly the rows of the filter.
// [Plan.Check] returns an error for a filter that costs more than the caller accepts.
//
// See https://learn.microsoft.com/azure/storage/tables/table-storage-design-for-query
// and https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination.
//
// # Values
//
// The type of the Go value determines the type of the literal, and a literal matches
// only values of the same type:
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
// A named type is treated like its underlying type: uuid.UUID is a Guid, and
// time.Duration is an Int64. aztables.EDMGUID is a Guid. Times are converted to UTC and
// truncated to 100 ns, as they are stored; they must be in the years 1601 to 9999. An
// int is an Int64, including untyped constants: write int32(30) for an Int32 property.
// [Filter.Check] reports wrong types.
//
// The following values have no literal and are an error: nil, pointers, NaN, infinity,
// a uint64 that overflows int64, text that is not valid UTF-8, and all other types.
// Values are quoted, so no value can change the structure of the filter: [Parse]
// returns the same tree for the text.
//
// See https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
// and https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model.
//
// # Missing properties
//
// A row without a property matches no comparison of that property, not even ne. It
// matches the negation: Not(Prop("X").Eq(v)) returns rows without X, and
// Prop("X").Ne(v) does not.
//
// # Errors and logs
//
// If a filter cannot be built, the [Filter] keeps the error, and [Filter.Err] returns
// it. Errors, warnings and plans contain names of properties, but not values; format a
// [Plan] or a [*ScanError] with %+v to see the values. [Filter.String] returns the text
// to send, with all values.
package query
