// Package logdata stores logs in append blobs and reads them by time. It is the
// recommended alternative to the log data anti-pattern.
//
// # Problem
//
// A typical question is "which errors happened between 15:04 and 15:06?". A table
// answers it badly. If the time is the partition key, all writers write to one
// partition, which becomes hot. If the source is the partition key, a reader has to
// query every partition. In both cases each record costs a request, or a hundredth of
// one in a transaction. This package collects records and appends them to blobs. The
// names and metadata of the blobs contain the times of the records.
//
// # Layout
//
//	name      web/2014/07/31/1800/5qk3x2rtfbm7a-000000.log
//	          service, hour of the records in UTC, name of the writer, number
//	metadata  StartTime   2014-07-31T18:00:02Z   time of the earliest record
//	          EndTime     2014-07-31T18:21:09Z   time of the latest record
//	          LogType     ERROR,INFO             types of the records
//	          LogVersion  json-1                 name of the [Format]
//	          Spans       8190:2:61,7744:60:118  consecutive parts of the blob: length in
//	                                             bytes, first and last second of the hour
//	content   one record per line, see [JSON] and [Delimited]
//
// Each blob has exactly one writer, the one that created it. If a name is taken, the
// writer uses the next number. Numbers start at 000000. Readers accept every name that
// ends in .log.
//
// # Records are stored by their own time
//
// The time of a record decides which hour it belongs to, not the time of the write. A
// late record, or one written after the clock was set back, is stored in a blob of its
// own hour. A read therefore lists only the hours that it asks for.
//
// # Writing
//
// A [Writer] buffers records. A flush appends the buffered records, in blocks of up to
// 4 MiB, one or more for each hour. A flush starts when the buffer reaches a number of
// records, a size or an age, and in [Writer.Flush] and [Writer.Close]. Buffered records
// are lost when the process dies: that is the price of few requests. With
// [WriterOptions.Sync], Write returns only after its record is stored.
//
// If the service does not accept the records, they stay in the buffer and the Writer
// tries again. If the buffer is full, Write waits for room. With [WriterOptions.Drop]
// it drops the record and counts it instead. The error of Write reports whether the
// record was accepted.
//
// A record larger than a block is refused, so that every line is in one block.
//
// # Exactly-once appends
//
// Each append is conditional on the length of the blob. If a reply is lost and the SDK
// repeats the request, the service refuses the repetition, and the Writer reads that
// part of the blob to recognize its own bytes. If no reply arrives at all, the next
// flush first appends the same bytes at the same position. As long as its Writer lives,
// a record is therefore stored exactly once: a late attempt is refused, because the blob is
// longer by then. If the process dies, a record that Write has not acknowledged may be
// stored or not, also minutes later.
//
// The Writer sets the metadata when it creates a blob, for the first block. It updates
// them after later appends at most once a minute, and in Flush and Close. Metadata may
// be out of date: the spans state which part of the blob they cover, and readers read
// everything after that part.
//
// # Reading
//
// [Reader.Query] lists the hours of the range, skips the blobs and the parts of blobs
// that by their metadata contain no wanted record, downloads the rest concurrently, and
// yields the records in the order of their times. A read can be resumed after any
// entry, see [Entry.Cursor]. [Stats] reports what was read.
//
// # Cost
//
// Requests:
//
//	Write              0
//	Write with Sync    1, shared by all writes that wait at the same time
//	a flush            1 for each hour and 4 MiB; 1 more for each new blob; at most
//	                   1 a minute for the metadata of each blob
//	a lost reply       1 repetition and 1 read
//	Query              1 for each hour or whole day, and 1 for each further 5,000 blobs;
//	                   1 for each part of a blob that may contain wanted records
//
// A million records of 150 bytes, flushed by size, take about 150 requests. As
// entities they take at least 10,000, with 100 in each transaction.
//
// # Failures
//
//   - A request fails: [*patterns.Error]. If it was a write that may have been carried out,
//     the error matches [patterns.ErrOutcomeUnknown]. Messages contain the names of blobs.
//   - The container does not exist: [ErrContainerNotFound]. Records stay in the buffer.
//   - The blob was deleted, sealed, leased or written to by another client: the Writer
//     continues in a new blob. If a try of an append got no reply and a lease blocks the
//     next one, the Writer retries that append until the lease has ended.
//   - A blob is deleted during a read: it is skipped and counted in Stats.Gone.
//   - A download breaks off: the Reader requests the rest, and returns [ErrTruncated]
//     if that fails repeatedly.
//   - A line is not in the format: the read yields a [*LineError] and goes on.
//   - Text is not valid UTF-8: each invalid run of bytes is stored as U+FFFD.
//
// # When not to use it
//
// Do not use it to look up single records by key, for small numbers of records, or for
// records that are changed or deleted one by one. Use a table for those, and package
// logtail to read the newest entries first.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#log-data-anti-pattern
package logdata
