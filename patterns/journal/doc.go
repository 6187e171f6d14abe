// Package journal records the changes of entities: who needs to know what an order was last week, who has to undo a mistake, or who
// has to show an auditor each step of a payment. A [Feed] delivers them, in order and at least once, to consumers outside the table: a search
// index, a cache, a notification, a table of another account.
//
// # Problem
//
// A row of the service is only what it is now. A program that writes its own log row in addition to the entity has to keep both in one
// transaction, and has to order the rows: by a clock, which may be wrong, or by a counter, which begins again if the entity is deleted and
// created again.
//
// # Layout
//
// [Of] is a view of a [patterns.Store]. Each change adds a row to the entity's partition, in the same transaction, and the entity stores
// the version of its last change:
//
//	PartitionKey  RowKey                                     Properties
//	shop          1017                                       State, Total, …, azp_journal = 0000000001-0000000002
//	shop          ~azp_feed                                  azp_epoch = 1
//	shop          ~azp_feed_0000000001_!
//	shop          ~azp_hist_<hash>_9999999998-9999999997     azp_kind = updated, azp_after0, …
//	shop          ~azp_hist_<hash>_9999999998-9999999998     azp_kind = inserted, azp_after0, …
//
// A version is an epoch of the partition, and a number within it; keys have it inverted, so the newest change comes first. Each transaction
// also merges into the marker of the epoch (If-Match: *), which fails if a sweep has closed it. Neither clocks nor the order in
// which requests arrive matter: the history of an entity has exactly its changes, in the order of their commits, also if it is deleted and
// created again, and a late or repeated request changes nothing.
//
// # Use
//
//	var changes = journal.Of("changes", &journal.Options[Order]{Keep: 90 * 24 * time.Hour})
//	…
//	store, err := patterns.NewStore(table, &patterns.StoreOptions[Order]{Views: []patterns.View[Order]{changes}})
//	…
//	for change, err := range changes.On(store).History(ctx, key, nil) {
//
// [Changes.AsOf] returns the state at a time, [Changes.Restore] stores an earlier version, [Changes.Sweep] deletes old changes: call
// it every day, from a worker with HandleSweep of package eventual, or from a command with JournalOf of package tablectl, which also prints the history. Changes that are
// made without the Store are not recorded: the next recorded change follows the last one. To a table with entities, and to programs that
// run, add a journal like any view, as package reindex describes, without Backfill: the history of an entity begins with its next
// change. Properties that the type has no field for are recorded too, but not returned.
//
// # Feeds
//
//	search, err := journal.NewFeed(queue, "search", nil)
//	var changes = journal.Of("changes", &journal.Options[Order]{Feeds: []*journal.Feed{search}, FeedKeep: 7 * 24 * time.Hour})
//	…
//	worker, err := eventual.NewWorker(queue, &eventual.Options{Poison: poison})
//	changes.On(store).HandleView(worker, search, func(ctx context.Context, key keys.Key, order *Order, version journal.Version) error { … })
//	err = worker.Run(ctx)
//
// [Changes.HandleView] delivers what an entity is now, for a view outside tables, such as the one of a search service that the design guide
// names. [Changes.Handle] delivers each change. It replaces a Target of one's own, which a view cannot have. With feeds each change adds
// another row, and each feed a message and a position:
//
//	PartitionKey  RowKey                                     Properties
//	shop          ~azp_feed_0000000001_<hash>_0000000002     those of the row of the history
//	shop          ~azp_feed_0000000001_~                     azp_epoch = 2: epoch 1 was closed, and 2 is the next one
//	shop          ~azp_read_search                           azp_epoch = 2, azp_position, azp_snapshot
//	shop          ~azp_lease_search                          the lease of the worker that delivers the partition
//
// A consumer with a position must not miss a change that is committed behind it, and writers of different entities must not wait for each
// other. So a feed reads only closed epochs, which do not change. Before a program commits its first change in an epoch of a partition, it puts a
// message for each feed. The worker that receives it closes the epoch, delivers all changes up to its end, stores the position, and only then
// deletes the message: a change can be committed in no epoch whose message is gone. No clock is compared. If the epoch is still open when its
// message should have been handled, because workers are late, or the message is on the poison queue, the program puts another one with its
// next change, at intervals that double up to 64 times Delay. [Changes.Sweep] puts messages again that were lost with their queue, and deletes
// old changes: call it every day, or at least more often than FeedKeep.
//
// Partitions without changes cost no request, apart from a sweep. If the queue cannot be reached, changes fail before they are committed. [Changes.Lag] shows
// how far a feed is behind, [Changes.Start] begins a feed of a table that has entities, and one that was absent for longer than [Options.FeedKeep].
// A partition that is deleted by other means than the Store takes the positions with it: its versions begin anew, so a view outside has to be
// started with an empty state. A shards.Store has no feeds.
//
// # Cost
//
// Requests:
//
//	a change                                                   0 more; 2 more rows in its transaction, 1 for each further entity
//	the first insert of a program into a partition             1 more; none if it has changed an entity there
//	the first change after a sweep has closed the epoch        2 more
//	insert of entities that were deleted in the same epoch     1 more for each of them, and 1
//	a query of a whole partition                               2 in place of 1: the rows before and after those of the library
//	History                                                    1 for each 1,000 changes
//	AsOf                                                       1, or more if the history is long
//	Restore                                                    2, and those of the change
//	a change, with feeds                                       1 more row; the first of a program in an epoch 1 for each feed, and 1;
//	                                                           2 more if the epoch was closed before its Delay was over
//	delivery of the changes of an epoch to a feed              8 for up to 999, 9 for up to 1,999, or 1 for each 4 MiB; the queue's are those of eventual
//	another program's message of the same epoch                1, and 2 each time another worker is delivering the partition
//	Sweep                                                      1 for each 1,000 changes; for each partition with some to delete 1 to 3, and 1 for 100
//	Sweep, with feeds                                          for each partition of the table 1, and 1 or 2 for each feed; for each old epoch 4, and 1 for 100 changes
//
// Store.Explain has the rows of a change, and not the messages. Of the 8, 1 closes the epoch, 1 reads it, 3 read and store the position, and 3 are those of the lease. Each delivery closes an epoch, which costs each
// program that writes to the partition the first row of the table above once more; [FeedOptions.Delay] decides how often that is.
//
// A row of the journal is billed like any other: with [After] each change stores the entity twice, with feeds three times. A transaction has room for 49 new
// entities in place of 100, with feeds 32, and without [patterns.Accelerate] no key in it can have a quote. Scans of the whole table, and those of package
// reindex, read the rows of the journal too.
//
// # Limits
//
// A row of the journal has the entity as JSON, which may have about 1 MiB: Binary properties take a third more than in the entity, other text
// than ASCII up to half more. A change of an entity that is larger, or with [BeforeAndAfter] half as large, fails with [patterns.ErrTooLarge]
// before any request; a delete does not fail, and is recorded without the entity. An entity has two properties of the library, so at
// most 250 others.
//
// Times are those at which the service has stored the rows. If rows are copied, by hand, by a backup, or by package shards when a partition
// moves, they have the time of the copy: [Changes.AsOf] and the age for a sweep begin again, and versions stay right. So keep a journal
// out of tables that move if times matter.
//
// A [patterns.Store.Put] whose reply was lost, and whose process is then paused until a sweep has deleted its change, may be recorded twice. The
// rows of a journal that is removed, or gets another name, stay until a Store that has it sweeps them; History shows them.
//
// # When not to use it
//
// If all changes of a table are to be read in the order of their times, use package logtail. If only the state at the end of each day is of
// interest, package dataseries is smaller.
//
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-guide#log-tail-pattern
package journal
