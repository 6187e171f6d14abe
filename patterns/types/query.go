package types

import "github.com/azpatterns/azpatterns/query"

// QueryOptions are the options of every read of several rows: Query, Page, Pages, Scan and Segments
// of all packages. A read for which an option can have no meaning refuses it with
// patterns.ErrBadOption before any request, and documents that. nil and the zero value mean the defaults.
type QueryOptions struct {
	// Select names the properties to read. Keys, ETag and Timestamp are always read, and
	// nothing else if Select is empty and not nil. nil means the whole row.
	//
	// A selection saves bytes, not work of the service. The items are patterns.Item.Projected:
	// they can be merged, but must not replace a row. A name that T does not have is a
	// [*PropertyError], unless T has no fields for properties, such as patterns.Row; more than 252 names are patterns.ErrTooLarge.
	Select []string

	// Limit is the largest number of rows to return. Zero means all; for Page, as many
	// as PageSize. Scan and Segments refuse another value.
	Limit int

	// PageSize is the number of rows to request at a time, 1 to 1000. Zero means 1000,
	// or Limit if that is less.
	PageSize int

	// Allow is the most expensive query class permitted. Zero means
	// [query.PartitionRange]: every class except a scan of the whole table. For Scan and Segments
	// it means [query.TableScan]. A query of a more expensive class fails with a
	// [*query.ScanError], which matches [query.ErrScan] and contains the plan.
	Allow query.Class

	// Parallel is the largest number of concurrent requests, used if the plan has more
	// than one read, and by Scan. Zero means 8.
	//
	// The service returns about 2,000 rows a second from one partition, however many clients read
	// it. So for Scan a larger number helps up to the number of partitions that the service keeps
	// on different servers.
	//
	// https://learn.microsoft.com/azure/storage/tables/scalability-targets
	Parallel int

	// Ordered fails with patterns.ErrUnordered if the results have no order: on Cosmos DB for
	// Table, and for Scan and Segments of one table.
	Ordered bool
}
