// Package regions reads tables that survive the loss of their primary region. It is for
// accounts with read access to the secondary region (RA-GRS or RA-GZRS).
//
//	var pair regions.Pair
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	pair.Attach(&opts.ClientOptions)
//	service, err := aztables.NewServiceClient(url, cred, &opts)
//	…
//	pair.Use(service) // for the ages of rows
//	rows, err := patterns.NewTable[Employee](service.NewClient("Employees"), nil)
//	employees, err := regions.NewTable(rows, nil)
//	item, err := employees.Get(ctx, key) // item.Region, item.MaxAge
//
// # Problem
//
// The service copies an account to a second region, minutes late, and permits to read there.
// The SDK for Go never does: if the primary region fails, every read fails. What the secondary
// returns is old, and nothing in a reply shows how old. A program that forgets this takes an
// outdated row for the current one, or a missing row for a deleted one.
//
// # How it works
//
// A [Pair] is a part of the transport of the clients. Reads that permit it, those of a [Table]
// and those with a context of [Permit], such as those of a [patterns.Store] and its indexes, are
// answered by the region that can. What counts is the whole reply, with its body:
//
//   - If the primary fails, by an error of the network, a body that ends early, a status of 500 or
//     above, 408 or 429, the read is sent to the secondary, without waiting for the retries of the
//     SDK. If that fails too, the SDK receives the failure of the primary, with its Retry-After,
//     and tries again.
//   - If the primary takes longer than 96 % of its last 256 replies, the read is also sent to
//     the secondary, and the first answer wins. Each read permits a twentieth of such a hedge;
//     ten can be saved up. Point reads and pages have delays and hedges of their own.
//   - After three failures in succession, or without any reply for a second, or four times the
//     delay of a hedge if that is longer, the primary is considered down. A page that takes longer is
//     waited for while 64 KiB of it arrive in that time. Reads then use the secondary only. One
//     read at a time also probes the primary, at first a second later, then at longer intervals,
//     at most 36 seconds. When a probe is answered, one of 16 reads returns to the primary, and
//     twice as many after each second.
//
// Refusals because of load (503, 429 and 408) are no sign of an outage: only the read that was
// refused uses the secondary.
//
// All other requests use the primary only: writes, reads that do not permit the secondary, and
// so all reads of [patterns.Table], Store and the other packages, which decide about writes.
// [Strict] makes the reads of a Table such reads, too.
//
// # What a reader must expect
//
// Each [Item] has a [Source]: its region, and how old it may be. The age follows from the Last
// Sync Time, which is requested from the secondary at most every 15 seconds while reads use
// it, and from the Date of the reply. The local clock has no part in it.
//
// [Within] limits the age that a reader accepts.
//
// A conditional write under the ETag of an outdated version fails with [patterns.ErrConflict],
// because both regions have the same ETags. A row or a table that the secondary does not have is
// an [AbsentError], not [patterns.ErrNotFound]. Until the primary is considered down, a 404 of
// the secondary does not count: a hedge waits for the primary, and after a failure of the
// primary the SDK tries again. If both regions fail, the error is that of the primary.
//
// A page comes from one region, and so does the next one, because continuation tokens are not
// valid in the other. If that region fails or is slow, the other one is asked for the rows after
// the key of the last row. A result may thus begin with new rows and end with old ones; each
// item reports which it is. Only the exact keys of one page are read independently, and then the
// page reports the older source.
//
// A scan has many continuation tokens at the same time. It changes its region as a whole, and only
// if the region fails. Its hedges go to the same region, and so do not help against a slow
// partition.
//
// If the request for the Last Sync Time is refused or has no reply within a second, the last
// known one is used, and ages are larger than necessary. Without any, ages are [UnknownAge], as
// they are while the service fills a new secondary.
// In 15 seconds one read, or all if none is known, waits for that request.
//
// # Credentials
//
// A request is sent to the secondary as it was signed for the primary. That is valid for
// shared keys, whose signature covers the path at the primary, for SAS, and for tokens. For
// tokens, whose audience is the same for all accounts, the role must be assigned for the account.
// If the secondary refuses a token while the primary is down, the SDK renews it.
//
// # Order of policies
//
// A Pair wraps the transport, so it follows all policies: credentials, retries and those of
// [patterns.Accelerate], whose speed it does not change. Each try of the SDK becomes one or two requests. A
// transport that was set before Attach sees each of these; one that is set later sees one
// request to the primary. So attach heat.Meter and govern.Governor before the Pair, to count
// and to limit what is sent. Requests that a governor holds are no sign of an outage. Every
// order works; the clients of queues and blobs need no Pair.
//
// # Cost
//
// Requests that do not permit the secondary are sent as they are. Another read takes a timer and a
// copy of the body, and a goroutine only if it is slow. With a network that costs nothing, it takes
// 1.3 to 1.4 times the processor time of a plain read of a row with an accelerated client, 1.2 times
// with another one, and 1.05 to 1.25 times for a page of 100 rows (BenchmarkPermittedRead; up to 1.6 times
// on a machine with much other load). In
// the test of package regions, whose replies take 8 to
// 12 ms and one of 100 of them 100 times as long, they take 4.2 % more requests, and the
// 99.9th percentile falls from 1.18 s to 24 ms, and that of pages from 1.16 s to 23 ms. A scan
// takes half the time. A hedge cannot be faster than the delay and the
// secondary: twice the median at the least, and more if the secondary is far away.
//
// The secondary is billed like the primary, and its traffic between regions in addition.
//
// # When not to use it
//
// If an outdated row does harm, use Strict or a [patterns.Table]. If the account has no read
// access to a secondary, every failure costs one more request. Writes do not survive an outage:
// for these, use several accounts. After a failover of the account the former secondary is the
// primary, and has no secondary until it is configured again.
//
// See https://learn.microsoft.com/azure/storage/common/geo-redundant-design and
// https://learn.microsoft.com/azure/storage/common/last-sync-time-get.
package regions
