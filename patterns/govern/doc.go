// Package govern keeps the clients of a program below the limits of its storage accounts. A
// [Governor] is attached to the options of all clients of tables, queues and blobs. It learns
// how much each partition and each account accepts, and sends no more:
//
//	governor, err := govern.New(nil)
//	…
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	governor.Attach(&opts.ClientOptions)
//	service, err := aztables.NewServiceClient(url, cred, &opts)
//
// # Problem
//
// A partition of a table accepts about 2,000 entities per second, a queue as many messages, and
// an account 20,000 of all. Beyond that the service refuses requests with 503, and the SDK
// sends each of them again up to three times, after pauses that start at 0.8 seconds. So a
// program that writes too fast sends requests in vain, and a long scan delays users who wait
// for a single row.
//
// # How it works
//
// Each partition that was used of late and each account has a limit in entities per second. A
// transaction of 100 entities counts for 100. A page counts for as many rows as earlier pages
// of the partition had, or of the account, and at most those that it asks for, until its reply is
// read. Queues and blobs are partitions; a query of several partitions
// has one limit for its table.
//
//   - A new limit begins low, with 500 per second for a partition and 5,000 for an account, and
//     doubles each tenth of a second in which requests wait for it, up to what the service
//     documents. Then it grows by a quarter. So bulk writes, scans and deletes start slowly. The
//     first 100 entities do not wait. With [Options.Targets] limits begin at the target, and never
//     exceed it.
//   - After 503, 429 or 500 OperationTimedOut it becomes 95 % of what was accepted, at least half
//     of what it was. Requests wait for Retry-After, at most 5 minutes, or 25 milliseconds, or as
//     long as the limit needs for the refused request. Then one is sent; if it is accepted the
//     others follow. Replies that take four times as long as before also reduce the limit, before
//     the service refuses anything.
//   - The limit is then held at about 97 % of what was accepted until 120 requests were accepted
//     for each that was refused, for at most 30 seconds: so less than one request of a hundred is
//     refused in the long run, however large they are. After that it grows while requests wait
//     for it, in a shape like that of CUBIC (RFC 9438): slowly near what was accepted, then by 5 %
//     each tenth of a second.
//   - Refusals while a limit is held do not depend on the rate. If there are at least 3 of 1,000
//     requests, and fewer than a twentieth, the rate is what it was before them, and that share is ignored twice
//     over. If more are refused then, they did depend on it, and the next trial needs twice as many.
//   - A limit that was not reached for 30 seconds is forgotten.
//   - Requests with a context of [Background] wait until no others do, except for a twentieth of
//     the limit, so that a long job ends even if the foreground always waits. They use what is
//     left: a request in the foreground waits for at most one of them. A limit of which they use more than
//     the foreground grows 30 seconds after a refusal.
//   - At most one of ten requests to an account is a retry, see [Options.RetryShare]. When the budget is used
//     up, a failed request is not tried again: its error matches [ErrRetryBudget] and the reply.
//   - A request that would wait beyond its deadline, for a limit that was learned from a refusal,
//     fails immediately with a [*WaitError], and is not sent. A canceled request returns its place.
//
// # Cost
//
// A governor makes no request, has no goroutine, and occupies at most 2 MiB for any number of
// partitions: it has limits for the 4,096 that were used last, those that were refused
// longer than others. BenchmarkOverhead measures what it adds to a request that does not wait:
// the difference of the processor time of the fastest of several runs with and without a
// governor, on a virtual machine with a Xeon and other load.
//
//	message sent, blob read            155 ns
//	entity read by its key             195 ns
//	entity inserted                    230 ns
//	page of a query with a filter      310 ns
//	transaction of 100 entities        5.0 µs, 50 ns for each
//
// It allocates nothing, except for one of 64 pages and for a filter that differs from recent ones
// in more than quoted constants. In virtual time, with the documented targets and a round trip of
// 5 milliseconds (figures_test.go and window_test.go):
//
//	a partition, 64 workers             98 % of the target, 0.4 % refused
//	an account, 400 workers             96 % of the target, 0.5 % refused
//	transactions of 100 entities        98 % to 99 %, 0.7 % refused
//	with single rows                    97 % to 99 %, 0.6 % to 0.9 % refused
//	both, the first 20 seconds          95 % to 99 %, 0.6 % to 1.7 % refused
//	two governors, one partition        99 % together, 0.4 % refused, 48 % to 51 % each after 30 s
//	two with transactions               99 % together, 0.7 % refused, 50 % each after 30 s
//	a known target, 64 or 512 workers   98 %, none refused, p99 below that of a token bucket at 95 %
//	200 transactions of a new bulk      2 to 6 refused, 96 without a governor
//	0.5 to 3 % refused at random        96 % to 100 % of the calls without a governor
//	background transactions             p99 of reads 15 to 36 ms
//	another partition                   loses less than 0.1 %
//	background, foreground waits        has 3 % to 5 % of the target
//	foreground after background load    has 99 % of its demand in the first second
//	a target that doubles               is used after 2 to 4 seconds
//	the same with transactions          after 8 seconds on average, sometimes 22
//
// On fresh loads of one partition, with 4 to 256 workers or as many as its target of 500 to 8,000 entities/s needs, round
// trips of 1 to 40 milliseconds, and half of them with transactions of 2 to 100 entities, on 27 November 2026:
//
//	a known target                      at least 97.9 %, at most 0.04 % refused; p99 at most 1.002 times that of a token bucket at 95 % (72 loads)
//	background, known target            p99 of reads at most 0.8 transactions longer (72 loads)
//	background, no known target         at most 0.01 transactions longer (72 loads)
//	two governors                       40 % to 60 % each after 30 s in 73 of 163, 6 % at the least; 90 % to 100 % together;
//	                                    median 0.6 % refused, 5.1 % at most: such refusals can look random
//	0.5 to 3 % refused                  at least 95 % in 51 of 52 with rows or transactions, 94.97 % in the other
//
//	AZPATTERNS_LOADS=20 AZPATTERNS_SEED=n go test -v -timeout 20m -run Fresh ./patterns/govern
//
// These tests print them, and check them with some tolerance:
//
//	go test -v -run 'Target|Transactions|Costs|Background|Governors|Bulk|Depend' ./patterns/govern
//
// The module internal/bench/alternatives compares a governor with a token bucket, with the retries
// of the SDK alone, and with the adaptive limiter of failsafe-go, which limits concurrency by
// latency:
//
//	go -C internal/bench/alternatives test -v -run Alternatives
//
// With 512 workers on one partition, in the first 20 seconds; those after 10 seconds differ
// little. Requests wait instead of being refused, so the median latency is higher, and the longest
// are shorter:
//
//	                       of the target   refused   failed   median   slowest hundredth
//	governor                        98 %     0.4 %        0   246 ms               0.5 s
//	governor, known target          98 %       0 %        0   261 ms               0.3 s
//	token bucket at 95 %            95 %       0 %        0   269 ms               0.3 s
//	failsafe-go                    100 %    12.5 %      309    14 ms               3.6 s
//	retries alone                  100 %    11.8 %      546     5 ms               2.8 s
//
// # Order of policies
//
// The governor is part of the transport: it handles each try, after all policies, so that
// credentials and the policies of package patterns are not affected. Attach it before or after
// patterns.Accelerate. What is attached later is further out: attach a heat.Meter first, so that
// it measures the latency of the service, without the time for which a request waits here, and
// a regions.Pair afterwards, so that the governor knows from which region a refusal came.
//
// # When not to use it
//
// A program that stays below the targets needs none. A governor knows only the requests of its
// process: several processes share a partition by what each of them is refused. It replaces no better key: see package heat for hot partitions, and the
// design guide for how to divide them.
//
// See https://learn.microsoft.com/azure/storage/tables/scalability-targets.
package govern
