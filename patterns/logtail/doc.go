// Package logtail reads the entries of a stream newest first. It is the log tail pattern.
//
// # Problem
//
// A typical query is "the ten latest expense claims of employee 000123". The Table service
// returns rows in ascending order of their keys and can stop after the first ten, but it
// cannot return the last ten. So the newest entry needs the lowest key.
//
// # Layout
//
//	PartitionKey  RowKey
//	000123        2516350751999999999_9f3ac01d2e4b5a67_fffffffffffe
//
// The partition key is the name of the stream. The row key consists of three parts of fixed
// width:
//
//   - The inverted time: 3155378975999999999 (DateTime.MaxValue.Ticks of .NET) minus the
//     ticks of the time (units of 100 ns since year 1), in 19 digits. The time above is
//     2026-01-01T00:00:00Z. See [keys.InvertedTicks].
//   - The ID of the [Log] that wrote the entry, 64 random bits. The guide's keys have no
//     such part, so there two entries of the same 100 ns collide.
//   - The number of the entry within its Log, inverted, so that of two entries of the same
//     time the later one comes first.
//
// Readers use only the 19 digits. Rows of other writers in the guide's form, or with another
// suffix, are entries too. A partition may contain other rows if their keys do not start
// with a digit from 0 to 3.
//
// [Options.Buckets] spreads a stream that is too busy for one partition over N partitions,
// such as "00_000123" to "07_000123". The hash of an entry's row key selects its bucket.
// Reads merge the buckets into one order.
//
// # Order
//
// Entries are returned newest first, by their time. Entries that one Log appends one after
// the other keep their order even if the clock does not advance or is set back: until the
// clock has caught up, they get the time of the Log's latest entry. The order of entries of
// different Logs depends on their clocks.
//
// An entry is visible when its Append has returned. During an Append, entries with later
// times may already be visible. To poll with Since without missing entries, subtract the
// duration of an Append and the difference between the clocks from the time of the latest
// entry seen, read from there, and ignore entries whose Key is already known.
//
// # Cost
//
// Requests:
//
//	                     one partition          N buckets
//	Append               1                      1
//	AppendAll, to 100    1                      1
//	Tail(n), Page of n   1 per 1,000 entries    N, rarely 1 or 2 more, for n up to 1,000
//	Range, Since         1 per 1,000 entries    1 per 1,000 entries of each bucket, at least N
//
// A short page of the service costs one more request. From a single partition, Tail and Page
// read exactly the rows that they return. From a bucket they read its likely share, which is
// too small if many entries of one AppendAll are wanted. Range and Since read whole pages.
//
// # Limits
//
// Times must be in the years 1 to 9999 and are cut to 100 ns. The name of a stream is a
// partition key: any text without / \ # ? and control characters, up to 512 UTF-16 units,
// including 3 or more for the number of the bucket. [keys.Escape] makes any text a valid
// name. A partition accepts up to 2,000 entries a second. All new entries are written to the
// start of the partition, which the service cannot split. Streams with more entries need
// buckets.
//
// # Failures
//
// Append chooses the key of an entry once, before the first request. If a reply is lost and
// the SDK repeats the request, the service reports that the row exists, and Append
// recognizes the row as its own. So the entry is stored once, whatever was lost. If no
// attempt gets a reply, Append returns [patterns.ErrOutcomeUnknown], and [Log.Retry]
// completes it under the same key. Another call of Append would choose another key. A late
// attempt stores the entry minutes later; if the entry was deleted by then, it appears again.
//
// Cosmos DB for Table does not return rows in order. Reads from it fail with
// [patterns.ErrUnordered].
//
// # When not to use it
//
//   - Mostly old entries are read, or entries are read oldest first: use keys.Ticks as the
//     row key.
//   - Large volumes are written and rarely read: store them in blobs with package logdata.
//   - Old entries are deleted in large numbers: package highvolumedelete uses a table for
//     each period and deletes tables instead of rows.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#log-tail-pattern
package logtail
