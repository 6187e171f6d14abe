// Package logtail reads the entries of a stream newest first: the log tail pattern.
//
// # Problem
//
// "The ten latest expense claims of employee 000123." The Table service answers in
// ascending order of keys and can stop after the first ten, but not begin at the
// last ten. So the newest entry has to have the lowest key.
//
// # Layout
//
//	PartitionKey  RowKey
//	000123        2516350751999999999_9f3ac01d2e4b5a67_fffffffffffe
//
// The partition is the stream. The row key is three parts of fixed width:
//
//   - The time, inverted: 3155378975999999999, .NET's DateTime.MaxValue.Ticks, less
//     the ticks of the time, 100 ns each since year 1, in 19 digits. The one above is
//     2026-01-01T00:00:00Z. See [keys.InvertedTicks].
//   - The Log that wrote the entry, 64 random bits. The guide has nothing like it, and
//     two entries of the same 100 ns collide there.
//   - The Log's count of entries, inverted: the later of two entries of the same time
//     comes first.
//
// Readers only look at the 19 digits. Rows that other code wrote, in the guide's
// form or with another ending, are entries too. Rows of other kinds may share the
// partition if their keys do not begin with a digit from 0 to 3.
//
// A stream that is too busy for one partition is spread over N of them by
// [Options.Buckets]: "00_000123" to "07_000123". The bucket of an entry is a hash
// of its row key, and reading merges the buckets into one order.
//
// # Order
//
// Everything comes newest first, by the time of the entry. Entries that one Log
// appends one after the other never change places, even when the clock stands still
// or is set back; until it is ahead again, they have the time of the latest entry
// before. Between writers the order is that of their clocks.
//
// An entry is there when its Append has returned. While one is under way, entries
// with later times may be read already: who polls with Since, to see each entry
// once, should ask from some time before the latest entry seen, longer than an
// Append takes and clocks differ, and drop those whose Key is known.
//
// # Cost
//
// Requests:
//
//	                     one partition     N buckets
//	Append               1                 1
//	AppendAll, to 100    1                 1
//	Tail(n), Page of n   1 for each 1,000  N, seldom one or two more, up to n = 1,000
//	Range, Since         1 for each 1,000  1 for each 1,000 of each bucket, at least N
//
// A short page of the service costs one more. Tail and Page read no more rows of a
// single partition than they give, and of a bucket only its likely share, which many
// entries of one AppendAll exceed; Range and Since read whole pages.
//
// # Limits
//
// Times are of the years 1 to 9999, cut to 100 ns. A stream's name is a partition
// key: any text without / \ # ? and control characters, up to 512 UTF-16 units, of
// which the number of a bucket takes 3 or more; [keys.Escape] makes any text one. A
// partition takes up to 2,000 entries a second. All new entries go to the front of
// the partition, which the service cannot divide: that is what buckets are for.
//
// # Failures
//
// The key of an entry is chosen once, before the first request. When a reply is
// lost and the SDK repeats the request, the service refuses it as existing, and
// Append recognises the row as its own. So an entry comes once, whatever was lost.
// When every attempt ends without an answer, Append fails with
// [patterns.ErrOutcomeUnknown], and [Log.Retry] finishes it under the same key.
// Calling Append again would choose another.
//
// Cosmos DB for Table gives no order: reading from it fails with
// [patterns.ErrUnordered].
//
// # When not to use it
//
//   - Mostly old entries are read, or in order of age: use keys.Ticks as the row key.
//   - Large volumes are written and seldom read: keep them in blobs, package logdata.
//   - Old entries are dropped in masses: a table per period, package
//     highvolumedelete, drops a table instead of rows.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#log-tail-pattern
package logtail
