// Package shards is one logical table over several storage accounts, to which accounts are added
// while programs read and write.
//
//	s, err := shards.New([]shards.Account{{Name: "a", Tables: a}, {Name: "b", Tables: b}}, "orders", nil)
//	err = s.Create(ctx)
//	orders, err := shards.NewTable[Order](s, nil)
//	item, err := orders.Get(ctx, keys.Key{Partition: "customer 17", Row: "00042"})
//	…
//	err = s.Add(ctx, shards.Account{Name: "c", Tables: c}, nil)
//
// # Problem
//
// A storage account has limits of its own: about 20,000 entities a second, whatever the number of
// partitions. The design guide spreads load over partitions, which helps up to that limit only.
//
// https://learn.microsoft.com/azure/storage/tables/scalability-targets
//
// # Layout
//
// Each partition is stored as a whole in one account, in a table of the same name, with the same
// rows as without this package. Its owner is the account with the largest weighted rendezvous
// hash of its partition key. A further account takes its share of the weights from all others, and
// nothing else moves. A pin is an exception: see [Shards.Pin].
//
// The directory is one row in a table of its own in the first account. It contains the accounts,
// their weights, the pins, and how far a move has come. The other accounts have a copy, which is
// used if the first cannot be read. Rows that an account does not own are invisible: the methods of
// [Table] and [Store] leave them out.
//
// # Cost
//
//   - A read or write of one partition takes the same requests as in one account. Once in half a
//     lease, 15 seconds by default, a process that is in use reads the directory: one request.
//   - A query of given partitions asks the accounts that own them. Any other asks all accounts
//     concurrently.
//   - There is no transaction over several partitions, as in one account. To write many rows, call
//     [Table.WriteWithin] with a [patterns.Table.Bulk] for each partition: see the example.
//   - While the first account cannot be reached, partitions of the others are read and written
//     with the last directory: one request more in half a lease. A query that concerns the first
//     account fails. If the directory cannot be read because partitions move just then, reads and
//     writes fail at the end of the lease, until the move has ended.
//   - [Shards.Add] reads all keys of the table five times, and copies what moves.
//
// Do not use it before one account is too small: [github.com/azpatterns/azpatterns/keys.Spread]
// is the remedy for one hot partition, which cannot be divided between accounts.
//
// # While partitions move
//
// Add moves partitions in the order of their keys, in steps of about [MoveOptions].Rows rows.
// No acknowledged write is lost, and no row is returned twice or invisible. Programs notice this:
//
//   - Partitions of a step are copied while they can be written, and then cannot be written until
//     what has changed meanwhile was copied too, and their keys have been read twice. Writes wait,
//     or fail with [ErrMoving]: for 1.2 seconds in a step of the default size, and for 3.4 seconds in a
//     partition of 30,000 rows, with requests of 20 ms.
//   - A read of partitions of a step takes one more request, for the directory. While the keys
//     are read twice, these partitions cannot be read: reads wait, or fail with [ErrMoving].
//   - A write waits for at most 20 seconds, and a read for 10 and four times as long as the step
//     took, at most 20. Then the process that moves the partitions has probably ended: the waiting one
//     undoes the step, and continues in the old account. A run that is still active fails with
//     [ErrBusy]. So a partition whose keys take longer than five seconds to read, of some 200,000
//     rows, cannot be moved while programs write in it.
//   - A write that was under way when its partition began to move, and took longer than a second,
//     has the result [patterns.ErrOutcomeUnknown].
//   - The ETag and Timestamp of a row change when it moves. A write under the old ETag is a
//     conflict.
//   - The stamps of [patterns.TableOptions].StampWrites begin anew.
//   - Queries begin again in all accounts after the last row, three times in a step.
//
// Partition and row keys with a quote can be moved only if the clients are built with
// [patterns.Accelerate]: otherwise Add fails with [patterns.ErrNeedsAccelerate].
//
// # Stores, queues and blobs
//
// A [Store] may have views in the partition of the entity, which move with it, and lookup rows of package secondaryindex in a table that is
// named: they contain a key only, and stay where they are. [Store.Lookups] is for their readers and for the sweep. Other views elsewhere
// are refused. Messages and blobs do not move: see [Shards.Account].
//
//	byTag := secondaryindex.Lookup("tag", tags, tagsOf, nil)
//	store, err := shards.NewStore(orders, &patterns.StoreOptions[Order]{Views: []patterns.View[Order]{byTag}})
//	…
//	for item, err := range byTag.On(store.Lookups()).Query(ctx, "", secondaryindex.Equal("late"), nil) {
//	…
//	report, err := store.Lookups().Sweep(ctx, nil)
//
// A change whose partition has been copied in the meantime may be lost although the service has answered that it was applied: the copy is the
// version before it, and names the former lookup row. So a Store removes former rows after the directory has shown that the change
// counts. If the outcome is unknown, they are left to the sweep. Of readers and the sweep, too, a read of an entity counts only if its account owned the
// partition during the read.
//
// # Regions and governors
//
// Build the clients as the documentation of package patterns describes. Moves are background
// work for a governor. To read a partition while the primary region of its account is down, use
// [Table.ReadWithin] with a regions.Table. The secondary may lack rows of partitions that moved there
// less than its age ago, however old they are. The directory, moves, Query, Page and Scan use the
// primary only, also with the context of a regions.Permit.
//
// # Why nothing is lost
//
// The network is that of package patterns: requests may be lost, arrive twice, or arrive minutes
// after their sender has given up; processes may pause at any point; clocks may differ by any
// amount, but must run at the same speed, within an eighth.
//
// Every read and write of a partition relies on a version of the directory, whose lease began
// before the request that read it. A result counts only if it arrived within the lease, or if the
// directory, read again, shows that the owner has not changed. Otherwise a read starts over, and
// the outcome of a write is unknown. So after a new version was published, and the longest lease of
// the earlier versions has ended, every write that is acknowledged was made by the rules of the new
// version. For the partitions of a step, three versions follow each other:
//
//  1. They cannot be written. They can be read at the old account, but a result counts only if the
//     directory, read after it, is not closed yet. After the wait no further write at the old
//     account is acknowledged. What still arrives there is of unknown outcome, and may be kept or
//     lost. The run copies what has changed since it copied the partitions, before this version,
//     and remembers the ETag of each row.
//  2. The directory is closed: they cannot be read. The run reads the keys and ETags at the old
//     account again, twice.
//  3. They can be read and written at the new account. After the wait the run deletes the rows at
//     the old account, each under its ETag.
//
// Version 3 is published only if both times every row in the old account has the ETag that was
// copied, and there is no other. An ETag never occurs twice. So no copied row has changed from the
// copy to the second of these reads. A row that is missing in the copy may have been there at an
// instant between the two, but was then inserted after the first read had passed it, while no
// reader could see it; that write is lost as a whole. So the copy is the partition of this instant,
// at which it was closed. One read would not suffice: a row that a reader has seen could be deleted
// before the read passes it, by a transaction that also changes a row which the read has passed.
//
// Every result that counts was read at the old account before that instant, or at the new account
// after it. A write that arrives late is therefore in the copy, or no reader ever sees it. If a row
// has changed, the run goes back to version 1 and copies again. A transaction is never copied in
// half for the same reason.
//
// A run may die in a step. A reader or writer that has waited too long goes back to before version 1,
// under the ETag of the directory. Then version 3 cannot be published from what was read before, and
// nothing has to be waited for: only the old account was written, and still is.
//
// What a late write changes in the copy of a partition, before version 3, has its effect with that
// version. The copy is changed only under the ETags that the run knows, so such a write is never
// overwritten in part: the run copies the partition anew.
//
// Requests of a run may be late as well, or its process may continue after another has taken
// over. Every transaction of a copy therefore requires the ETag of a marker row in the new
// partition, and changes it. It can be applied once, in its order, and not after the marker was
// changed by another run, or deleted at the end. A run that is taken over cannot place a marker
// later, because its successor waits for the end of its lease. Rows to delete are looked up under
// the lease, and an ETag never occurs twice, so a late delete finds nothing to delete.
//
// All this is one row under optimistic concurrency: a run that was taken over cannot publish, and
// the next run continues where the row shows, doing the unfinished step again.
//
// A run writes its move into all copies of the directory before it publishes it, and the new
// directory after the end, each under the ETag of its own mark. So a copy without a move is the
// directory at the time when it is read, and its lease ends before the first partition cannot be
// written.
//
// A late write that arrives at an old account after the move remains there as an invisible row. The
// next move deletes it.
package shards
