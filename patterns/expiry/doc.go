// Package expiry is entities that end by themselves: sessions, tokens, carts, caches.
//
// # Problem
//
// The service has no time to live. A program that deletes old rows has to find them by a scan, shows them
// until then, and may delete a row that was renewed meanwhile.
//
// # Layout
//
// [At] declares when an entity expires, as a view of a [patterns.Store]. The Store keeps one small row for each such entity, in a
// partition of the bucket of time in which it expires, and the entity names it:
//
//	PartitionKey                  RowKey                          Properties
//	app                           7f3a                            User, Expires, azp_lookups
//	expiry_0639313308000000000_1  rcJAtqrxhVOS-nBspq_h MHOURE…    azp_pk, azp_rk, azp_view
//
// The first number is the end of the bucket in ticks of 100 ns, the last one spreads a bucket over [Options.Spread] partitions. A row is
// stored before the entity, so a crash can leave a row that no entity names, and never an entity without a row. To
// postpone an entity changes nothing else: its row stays in the earlier bucket until a sweep meets it there, and moves it. A
// shorter time, or an insert, stores a row.
//
// # Use
//
//	var byTime = expiry.At("expiry", nil, func(s *Session) time.Time { return s.Expires }, nil)
//	…
//	store, err := patterns.NewStore(table, &patterns.StoreOptions[Session]{Views: []patterns.View[Session]{byTime}})
//	…
//	report, err := byTime.On(store).Sweep(ctx, &patterns.SweepOptions{RequestsPerSecond: 100})
//
// Call [Sweeper.Sweep] every few minutes: from a worker, with HandleSweep of package eventual; or, where nothing stays loaded, from a
// timer, with a Deadline, and with the Cursor of the last report; or by hand, from a command with ToSweep of package tablectl. Several may run concurrently.
//
// # What has expired
//
// An entity has expired when its time has passed by the clock of the service, as the header Date of the latest reply to the
// Store's client shows it: never too early, and late by up to a second and the delay of that reply. The clock of the program does not
// matter. From then on, whether it is deleted or not:
//
//   - Get, Query, Page, Scan, updates and the operations of a StoreBatch do not find it. With [patterns.QueryOptions.Select]
//     whole rows are read, because the time may depend on any property.
//   - Insert and Put replace it, under its ETag, with all its rows. Its unique values are free: the change of another
//     entity that wants one deletes it first, which takes the requests of a delete in addition. A Store that [patterns.Store.Within] restricts to
//     another partition must not delete it, so to that one the value is taken until the sweep.
//   - Readers of secondaryindex leave out its copies. The copies of an index with [secondaryindex.Options.Only] must have the
//     properties that the time is made of; otherwise they are returned until the sweep.
//   - The row of an entity of largeentity is deleted like any other, and its blobs by the Sweep of that package, whose documentation has the steps.
//   - Lists of indexentity, merged properties and counters of denormalize follow the sweep.
//
// A change of a version that was read before the time had passed, such as [patterns.Store.PutItem], may still be applied after
// it, and the entity exists again if its new time is later. Two Stores with different functions disagree; change
// the function as you would change any view.
//
// # Cost
//
// Requests:
//
//	Insert                                       1 more
//	to postpone an entity                        0 more
//	to shorten the time                          1 more
//	Delete                                       0 more; the row is left to the sweep
//	Sweep, an entity alone in its partition      2.02: read, delete, and a share of the page and of the deletes of rows
//	Sweep, 50 entities of a partition            0.2 for each
//	Sweep, an entity that was postponed          1.03
//
// Entities that all live equally long and are never postponed cost less in a table for each period, which package
// highvolumedelete drops as a whole: nothing more for an insert, and one request for a period instead of up to 2 for an
// entity. In return its reads span several tables, and no entity ends at its own time. [patterns.Store.Explain] of an insert states it too.
//
// # Switching it on and off
//
// An entity without a row is absent when its time has passed, and never deleted. Package reindex adds the view to a table that has
// entities, in the usual steps: building, Backfill, ready. It removes it in the same way; rows of a retired view that
// no entity names are removed by a last Sweep. Verify does not check these rows: the row of an entity may be in the bucket of any earlier
// time, so it would have to read all of these buckets for each entity whose row is not in the bucket of its time. An entity that a program replaces without the Store loses its row, and one whose time such a program shortens is
// deleted too late: [patterns.Store.Repair], or Backfill under another name, stores a new one.
//
// # Failures
//
// A sweep reads the entity and deletes it under that version, so it removes none that was renewed or replaced meanwhile. It leaves rows that
// were stored less than [patterns.StoreOptions].Expiry ago, because their transaction may still arrive. So an entity that lives shorter
// than that is absent in time and deleted when its row is an hour old. Rows of crashed and deleted entities are removed by the same sweep.
//
// # When not to use it
//
//   - Whole periods end together: see package highvolumedelete.
//   - The end need not be exact, and a scan once a night is affordable: [patterns.Table.DeleteWhere].
//
// Related patterns: high-volume delete; lookup rows, in package secondaryindex, whose mechanism this is.
package expiry
