// Package heat shows which keys cost. A [Meter] is attached to the options of the clients of
// a program, counts what their requests do to which keys, and draws a heat map: time by key.
//
//	meter, err := heat.NewMeter(nil)
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	meter.Attach(&opts.ClientOptions) // before a governor and a pair of regions
//	service, err := aztables.NewServiceClient(url, cred, &opts)
//	…
//	http.Handle("/debug/heat", meter.Handler())
//
// It works for package patterns and for programs on aztables, azqueue and azblob alike.
//
// # Problem
//
// The design guide warns of hot partitions, of keys that grow with time and of scans, but the
// Table service shows none of them: it answers 503 when a partition is beyond its target. The
// client sends every key, so it can count them.
//
// # What is counted
//
// Entities read and written, transactions, bytes, latency, tries that the SDK repeats, and
// throttled ones, by key range and in steps of one minute for 6 hours, of ten minutes for 4
// days and of an hour for 28 days. The entities of a transaction and of a page count one by one.
// The meter also counts the most loaded partitions and rows, and what findings need.
//
// The number of entities and the partition of a transaction are exact. Of more than 8 rows, only
// every second, fourth, eighth or sixteenth is counted by its key, with the load of the rows up
// to the next one. The row of the first operation can thus have up to a quarter of the load of its
// partition; a hot row is one that has half.
//
// There are 128 key ranges for all tables, queues and containers. A range with much load is
// divided where its load is, and ranges with little are joined; load of earlier days counts
// less. What was counted before a range was divided is divided in proportion. Ranges are in the
// order of the bytes of keys, which differs from that of the service for characters above U+FFFF.
//
// A request counts in the minute in which it was sent. The brightness of a range is the average of its
// keys, so that a range is no brighter because it has more of them; bars along both axes show
// sums. The number of keys of a range is an estimate, within a factor of two. Peaks, counters and
// connections are those of the last 12 to 24 hours.
//
// Rows that a query returns are not decoded: they count at the start of the key range that the
// query reads, or in turn in each of the ranges. A string that ends with { counts as one more.
// Rows that the service reads but does not return are not known to the client, although they
// count against its targets.
//
// # Findings
//
// [Meter.Findings] lists what costs more than it must, each with figures, the reason, and the
// package or call that fixes it: see [Kind]. [Check] finds the same in a design, before there
// is traffic: from the access patterns of a layout or a Store it also computes what each costs.
//
// # Cost
//
// A meter occupies at most 8 MiB and starts no goroutine. It makes no request and changes none.
// BenchmarkOverhead measures the time that it adds to a request when all key ranges are in use:
// the difference of the fastest of many short rounds with and without a meter, on a virtual
// machine with a Xeon and other load.
//
//	message sent, blob read            135 ns
//	entity read by its key             185 ns
//	entity inserted                    230 ns
//	page of a query with a filter      245 ns
//	transaction of 100 entities        4.2 µs, 42 ns for each
//
// Of the time of a query, 75 ns are for its address with two keys. A transaction costs more than
// other requests because its entities are counted exactly: to copy its 43 kB out of the reader
// takes 280 ns, and to search them for one byte 500 ns.
//
// A meter allocates nothing, with three exceptions: for one of 64 requests and one of 8 of the first 64, whose connection is
// observed; for one of 64 pages; and for a filter that differs from recent ones in more than
// quoted constants, which is parsed. A filter with another number is one of these, and so is each
// that no row can match. Once a minute a request divides ranges while others wait; they also wait
// while a snapshot is taken.
//
// # Keys are user data
//
// The page and the findings contain labels instead of keys, see [Options.Label]; keys that are times
// are labelled as times. Nothing is logged. A [Snapshot] contains keys, because snapshots of several processes could not be
// merged without: protect it like the table.
//
// # When not to use it
//
// To count what is billed, use the metrics of the account: they include other programs and
// other services. To trace single requests, use the tracing of the SDK.
//
// See https://learn.microsoft.com/azure/storage/tables/scalability-targets and, for the
// picture, https://cloud.google.com/bigtable/docs/keyvis-overview.
package heat
