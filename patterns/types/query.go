package types

import "github.com/azpatterns/azpatterns/query"

// QueryOptions are the options of patterns.Table.Query and patterns.Table.Page. nil and the zero value
// mean the defaults.
type QueryOptions struct {
	// Select names the properties to read. Keys, ETag and Timestamp are always read, and
	// nothing else if Select is empty and not nil. nil means the whole row.
	//
	// A selection saves bytes, not work of the service. The items are patterns.Item.Projected:
	// they can be merged, but must not replace a row. A name that T does not have is a
	// [*PropertyError], unless T has no fields for properties, such as patterns.Row; more than 252 names are patterns.ErrTooLarge.
	Select []string

	// Limit is the largest number of rows to return. Zero means all; for Page, as many
	// as PageSize.
	Limit int

	// PageSize is the number of rows to request at a time, 1 to 1000. Zero means 1000,
	// or Limit if that is less.
	PageSize int

	// Allow is the most expensive query class permitted. Zero means
	// [query.PartitionRange]: every class except a scan of the whole table. A query of a
	// more expensive class fails with a [*query.ScanError], which matches
	// [query.ErrScan] and contains the plan.
	Allow query.Class

	// Parallel is the largest number of concurrent requests, used if the plan has more
	// than one read. Zero means 8.
	Parallel int

	// Ordered fails with patterns.ErrUnordered on a service that returns results in no order
	// (Cosmos DB for Table).
	Ordered bool
}
