// Package logdata keeps logs in blobs and reads them by time: the remedy for the log
// data anti-pattern.
//
// # Problem
//
// "The errors between 15:04 and 15:06." In a table, with the time as the PartitionKey
// all writers meet in one partition, which is hot; with the source as the
// PartitionKey every partition has to be read; and every record is a request, or a
// hundredth of one. So records are collected and appended to blobs, whose names and
// metadata say which times they have.
//
// # Layout
//
//	name      web/2014/07/31/1800/5qk3x2rtfbm7a-000000.log
//	          service, hour of the records in UTC, writer, number
//	metadata  StartTime   2014-07-31T18:00:02Z   of the earliest record
//	          EndTime     2014-07-31T18:21:09Z   of the latest
//	          LogType     ERROR,INFO             their types
//	          LogVersion  json-1                 the [Format]
//	          Spans       8190:2:61,7744:60:118  stretches of the blob: bytes,
//	                                             first and last second of the hour
//	content   a record a line, see [JSON] and [Delimited]
//
// These are append blobs. A blob has one writer, which created it: where a name is
// taken, the next number is used. Numbers begin with 000000; readers take any name
// that ends in .log.
//
// # The hour is that of the record
//
// A record is filed by its own time and not by that of its arrival, whatever the
// order: one that comes late, or after the clock was set back, goes to a blob of its
// hour. So a search looks at the hours that it asks for and no others. The logs of
// Storage Analytics are filed by the time at which the request ended;
// [AnalyticsReader] looks at one hour more.
//
// # Writing
//
// A [Writer] has a buffer. A flush takes what is there and appends it, a block of up
// to 4 MiB for each hour. It begins by count, size and age, by [Writer.Flush] and
// [Writer.Close]. What is in the buffer is lost when the process dies: that is the
// price of few requests. Options.Sync pays for each record instead: Write then
// returns when its record is stored.
//
// When the service does not take the records, they wait in the buffer and are tried
// again. When that is full, Write waits for room, or with Options.Drop drops the
// record and counts it. The error of a Write tells whether its record was taken.
//
// A record that is larger than a block is refused and not split, so that a line is
// always whole.
//
// # Exactness
//
// An append has the condition that the blob ends where it ended after the append
// before. When a reply is lost and the request is repeated, the service refuses the
// repetition, and the Writer reads the place to see its own bytes. When no answer
// comes at all, the same bytes are tried at the same place by the next flush, before
// any others. So a record is stored once as long as its Writer lives. When the
// process dies, a record that Write has not acknowledged may be there or not.
//
// Metadata are set when the blob is created, with the first block, and after later
// appends at most once a minute, by Flush and by Close. They are a hint: the spans
// say up to which byte they know, and readers look into all that was appended since.
//
// # Reading
//
// [Reader.Read] lists the hours of the range, leaves out blobs and stretches of blobs
// whose metadata say that they have nothing to give, reads the others by ranges,
// several at once, and gives the records in the order of time. A [Query] can be
// continued behind an entry. [Stats] tell what was touched.
//
// # Cost
//
// Requests:
//
//	Write              0
//	Write, with Sync   1, shared by those that wait at the same time
//	a flush            1 for each hour and 4 MiB; one more where a blob is begun,
//	                   and at most one a minute for the metadata of a blob
//	a lost reply       1 repetition and 1 read
//	Read               1 for each hour, or whole day, and for each 5,000 blobs more;
//	                   1 for each stretch with records of the range
//
// A million records of 150 bytes, flushed by size, are about 150 requests; a million
// entities are at least 10,000, a hundred at a time.
//
// # Failures
//
//   - No container: [ErrContainerNotFound]. Records stay in the buffer.
//   - The blob was deleted, sealed, leased or written to by others: the Writer leaves
//     it and begins another.
//   - A blob is deleted while it is read: it is left out, and counted in Stats.Gone.
//   - An answer breaks off: the rest is asked for; after several times [ErrTruncated].
//   - A line is not of the format: [*LineError], or skipped by Options.BadLine.
//   - Text that is not UTF-8: the bad bytes become U+FFFD.
//
// # When not to use it
//
// For single records by key, or few records: use a table, package logtail for the
// latest first. For records that are changed or deleted one by one.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#log-data-anti-pattern
package logdata
