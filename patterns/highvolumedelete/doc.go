// Package highvolumedelete stores events in one table for each hour, day, week or month, so
// that old events are deleted by dropping a table. It is the high-volume delete pattern.
//
// # Problem
//
// Logins older than 60 days must be deleted. With a single table this takes a scan to find
// them, and a delete for each row or a transaction for each 100 rows: in the long run, as
// many deletes as inserts.
//
// # Layout
//
// There is a table for each period, by the time of the event in UTC. The keys inside a table
// are those of the Go type. In the guide they are the user and the time:
//
//	table           PartitionKey  RowKey               properties
//	Logins20140731  donh          2014-07-31T18:04:05  SourceIPAddress, SuccessfulLogin
//	Logins20140731  junc          2014-07-31T09:12:44  SourceIPAddress, SuccessfulLogin
//	Logins20140801  donh          2014-08-01T07:30:00  SourceIPAddress, SuccessfulLogin
//
// Table names have a fixed width and sort by time: Logins2014073118 for [Hour],
// Logins20140731 for [Day], Logins2014W31 for [Week], Logins201407 for [Month]. Do not use
// the time as partition key as well: all writes would go to the end of the table, which the
// service would throttle.
//
// # Order
//
// [Tables.Query] reads a range of time, one table after the other: oldest period first or
// newest period first, and within each table by key. [Tables.Page] reads the same in pages,
// with one cursor for the whole range.
//
// # Cost
//
// Requests:
//
//	Insert, Upsert     1; 3 for the first write to a period without a table; with Keep
//	                   1 more for the first write of a Tables
//	Bulk               1 for each transaction and for each table not known to exist
//	Open, Prepare      1 for each table not known to exist
//	Get                1
//	Query, Page        1 for each table and for each further page of it;
//	                   1 more to list the tables if the range is not a single period
//	List               1 for each 1,000 tables
//	DropBefore         1 for each table; 1 for each 1,000 to list them
//
// # Late writes
//
// The service blocks the name of a dropped table for 40 seconds or more. After that, a late
// event would create the table again, and it would remain until the next DropBefore.
// Therefore writes to dropped periods return [ErrDropped]. [Options.Keep] makes this
// reliable: with it, every process refuses late events by the clock of the service. Without
// it, a process knows only the periods that its own [Tables.DropBefore] has dropped, and the
// tables that its own writes have first found and later missed. If a dropped table is
// created again in spite of this, the next DropBefore drops it.
//
// # Failures
//
// Every method can be repeated. A write whose reply was lost is recognized as by
// [patterns.Table], and may be applied late as there; to a dropped table it is refused. With
// StampWrites in [Options.Table] a row shows whether an Insert stored it. Without, an Insert whose
// reply was lost ends with [patterns.ErrOutcomeUnknown] if there is such a row, even with equal
// content, because another client may have stored it; Bulk reports the operations of its
// transaction with that error. A write also ends with it if an attempt had no reply and then
// the table does not exist and cannot be created. If DropBefore is interrupted, the next call drops the remaining tables. A late attempt of a
// drop deletes a table that was created again meanwhile, which writes with Keep never do.
// Reads treat a table that does not exist or is being deleted as empty.
//
// # Limits
//
// Neither a transaction nor the order by key spans two tables. Table names have 3 to 63
// letters and digits. The service throttles a new table until it has learned its load:
// choose long periods, so that new tables are rare, and create them ahead with
// [Tables.Prepare]. Creating, listing and dropping tables needs the rights of an account; a
// service SAS does not have them.
//
// # When not to use it
//
//   - Rows are deleted one by one, or not by age: [patterns.Table.DeleteWhere]
//     deletes the rows of one table
//     that match a filter.
//   - Most reads are of one entity over all time: each is a request to every table.
//   - Large volumes are written and rarely read: blobs are cheaper, see package logdata.
//
// Related patterns: logtail, for the newest entries first; the prepend and append
// anti-pattern, for keys that spread writes (keys.Spread).
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#high-volume-delete-pattern
package highvolumedelete
