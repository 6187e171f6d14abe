// Package highvolumedelete keeps events in a table for each hour, day, week or
// month, so that old ones go by dropping a table: the high-volume delete pattern.
//
// # Problem
//
// Logins older than 60 days have to go. In one table that is a scan for them and
// then a delete for each row, or for each hundred: as many writes as there were
// logins, forever.
//
// # Layout
//
// A table for each period, by the time of the event, in UTC. What is inside is up to
// the type's keys; the guide's logins have the user and the time:
//
//	table           PartitionKey  RowKey               properties
//	Logins20140731  donh          2014-07-31T18:04:05  SourceIPAddress, SuccessfulLogin
//	Logins20140731  junc          2014-07-31T09:12:44  SourceIPAddress, SuccessfulLogin
//	Logins20140801  donh          2014-08-01T07:30:00  SourceIPAddress, SuccessfulLogin
//
// Names have one width and sort by time: Logins2014073118 by [Hour], Logins20140731
// by [Day], Logins2014W31 by [Week], Logins201407 by [Month]. The time must not be
// the partition key as well: all writes would go to one end of the table, which is
// throttled.
//
// # Order
//
// [Tables.Query] reads a span of time, table after table: the periods oldest first,
// or newest first, and in each table by key. [Tables.Page] does the same by pages,
// with one cursor for the whole span.
//
// # Cost
//
// Requests:
//
//	Insert, Upsert     1; 3 for the first one that finds no table for its period
//	Bulk               1 for each transaction, and 1 for each table not yet known
//	Open, Prepare      1 for each table not yet known
//	Get                1
//	Query, Page        1 for each table, and for each further page of it;
//	                   1 more to list the tables where the span is not one period
//	List               1 for each 1,000 tables
//	DropBefore         1 for each table; 1 for each 1,000 to list them
//	DeleteWhere        1 for each page of 1,000 keys; n/100 for n rows of a partition
//
// # Late writes
//
// The name of a dropped table is blocked for 40 seconds or more, and an event that
// comes late would make the table again, with nothing to drop it until the next
// time. So writes to dropped periods are refused with [ErrDropped]. [Options.Keep]
// is what makes that certain: with it, every process refuses by the clock. A
// process without it knows only what its own [Tables.DropBefore] has dropped, and
// what its own writes have found and then missed. A table that was made again
// nevertheless is dropped by the next DropBefore.
//
// # Failures
//
// Every method may be repeated. A row whose reply was lost is recognised, as by
// [patterns.Table]. A DropBefore that dies leaves tables that the next one drops. A
// reader that meets a table which is gone, or being deleted, reads it as empty, and
// goes on with the next.
//
// # Limits
//
// No transaction and no order by key spans two tables. Names are of 3 to 63 letters
// and digits. A new table is throttled while the service learns its load: choose
// periods so long that tables are rare, and make them ahead by [Tables.Prepare].
// Making, listing and dropping tables takes an account's right; a service SAS has
// none of them.
//
// # When not to use it
//
//   - Rows die one by one, or by another rule than age: [DeleteWhere] deletes what a
//     filter matches from a table of all.
//   - Most reads are of one entity over all time: each is a request to every table.
//   - Large volumes are written and seldom read: blobs are cheaper, package logdata.
//
// Related patterns: logtail, for the newest entries first; the prepend and append
// anti-pattern, for keys that spread writes (keys.Spread).
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#high-volume-delete-pattern
package highvolumedelete
