// Package reindex verifies, repairs and adds the views of a [patterns.Store] while programs
// write to it.
//
// # Problem
//
// A derived row can be missing, wrong or left over: a program wrote the table without the
// Store, a restore from a backup mixed two points in time, or rows existed before the view
// was added. [patterns.Store.Repair] corrects the rows of one entity, if its key is known. It
// takes two or more requests for each entity, and does not find a row that no entity implies.
//
// # Functions
//
// [Verify] reports every row that differs from what the entities imply, in both directions.
// [Repair] also corrects it. [Backfill] stores the rows of a view for entities that a program
// without the view has written, or removes those of a view that is in
// [patterns.StoreOptions.Retired] and in Views, and records the state of the view. All three may run at any time, in
// several processes, while writers and workers are running.
//
// # A table that other programs have written
//
// [Survey] reads a table that no program has declared, and reports the forms of its keys, its
// properties with their types, and the layouts of the design guide that it recognises: copies
// "email_…" and lists of entities in the same or another partition, children 000123_2012, a series
// MessageCountHour01 …, entities in the rows 000123_01 and 000123_02, and types that a property
// contains. [SurveyReport.WriteGo] writes a Go package for them:
//
//	report, err := reindex.Survey(ctx, client, nil)
//	err = report.WriteGo(os.Stdout, "staff")
//
// Run Verify with the Store of that package before it changes rows: its findings are rows that
// differ from what was recognised. Indexes of azpatterns ignore rows whose values have a "_", because
// they escape it; Survey recognises no such index, and none whose rows differ in the prefixes of their
// keys. It assumes that rows with the same form of keys and most properties in common are of one
// type, and that of two rows which have each other's key the one with an id is the entity. Both the
// report and the package contain names of properties and types, prefixes of keys, and constant keys.
//
// # Adding, changing and removing a view
//
// Programs of two versions change entities while a new version is deployed. To add a view
// to a table that has rows, follow these steps. In each, programs of two consecutive versions
// can run at the same time, and neither fails because of the other. Wait until all programs
// run the new version before the next step.
//
//  1. Deploy a version that has the view in [patterns.StoreOptions.Views] and in
//     [patterns.StoreOptions.Building]. It does not add rows of the view.
//  2. Deploy a version in which the view is no longer building. It adds the rows of each
//     entity that it changes.
//  3. Wait until no request of an older version can still be on its way, at most half of
//     [patterns.StoreOptions.Expiry]. Then run [Backfill]. Until then unique rows are unique only
//     among the entities that list the view. If the unique row of an entity belongs to another
//     one, the report has a [*patterns.DuplicateError] for it: correct one of the two and run
//     Backfill again.
//     If there may be many, follow the steps for a unique index below.
//  4. When the state of the view is [patterns.ViewReady], see [patterns.Store.ViewStates], let
//     programs read the view.
//
// To add a unique index to a table in which entities share values:
//
//  1. Add an index of the same values that is NonUnique, by the steps above. Readers use it, and
//     find all entities of a value, until the last step.
//  2. Add the unique index by the steps above, with the first one as Options.Duplicates of package
//     secondaryindex. Of the entities that share a value, Backfill stores the row of one. The others
//     are findings of kind [Duplicate], each with the Owner of the row: [Options.Found] receives
//     them all. The state of the view stays [patterns.ViewBuilding]. From now on no entity can take
//     a value that another one has, also if none of those that share it has the row. Entities that
//     share a value can be changed otherwise.
//  3. Change or delete entities until each value has one left, and run Backfill again. It stores
//     the row of the one that is left, and lists what is not resolved yet. If nothing is, the state is
//     [patterns.ViewReady].
//  4. Let readers use the unique index. Deploy a version without Options.Duplicates, which is not
//     part of the definition of the view, and remove the first index by the steps below.
//
// To remove a view that is ready:
//
//  1. Stop reading the view.
//  2. Deploy a version that has the view in Views and in Building. It keeps the rows of
//     entities that have some. Skip this step if no two entities can compete for a row: if
//     the view has no unique rows and sets no properties of other rows.
//  3. Deploy a version that has the view in Views and in [patterns.StoreOptions.Retired]. It
//     removes the rows of each entity that it changes.
//  4. Wait as above, and run Backfill, which now removes the rows of all entities. Rows of
//     counters stay, without the part of any entity.
//  5. If the view has unique rows in other partitions, call [patterns.Store.Sweep]. It releases
//     rows that processes had reserved when they were killed. If it is a lookup view, wait for
//     [patterns.StoreOptions.Expiry] and call Sweep. It removes rows that no entity names, such as
//     one that arrived late. Those that it would have removed stay otherwise, without effect.
//  6. Wait until the outbox queue is empty. Then deploy a version without the view.
//
// If the code of the view no longer exists, name the view only in Retired. Then its rows
// stay, also of entities that are deleted, until they are removed by hand.
//
// Rows of an old definition are not rows of a new one. To change a view, add the new definition
// as another view, under a new name and with other row keys, let programs read that one, and
// remove the old view. Backfill refuses a view if the table has the state of another definition,
// with a [*patterns.ViewMismatchError] and before it changes anything.
//
// # How it works
//
// A run scans every table of the store's views once. It adds a hash of each row that an
// entity implies to a small table in memory, with the keys, and subtracts that of each row that
// is stored. What agrees cancels out, so what remains are the differences: see
// https://arxiv.org/abs/1101.2245 on invertible Bloom lookup tables.
//
// A scan is no snapshot, so rows that are written meanwhile differ too. Each difference is
// confirmed by reads: of the entity, of the outbox rows of its partition if the row is remote, of
// the row, and of the entity again, unless one request returned both. It is a [Finding] only if the entity
// did not change between its reads, the row differs, and no operation that was applied is
// still to write the row. So a correct table has no findings, however much is written.
// Programs without a Store have no outbox rows: set [Options.Grace] while they write.
//
// # What is the same
//
// A stored row is correct if it is the same as what its primary implies. Verify, Repair, the
// adoption of rows that another program has stored ([patterns.Adopt]), and every operation of a
// Store ask the same function:
//
//   - Values are compared as T decodes them. A value that T cannot decode is compared as it is.
//   - A missing property is the same as the zero value, unless its field is a pointer, which distinguishes
//     them.
//   - A whole number is the same as an Int32, an Int64 and a Double.
//   - In a field for a time, an instant is the same in every zone and spelling, as text or as
//     a DateTime.
//   - JSON text in a field with the option json is compared by content. In objects, a missing
//     member is the same as one that is null, zero or empty, unless the Go type distinguishes them: a map
//     has a member that is zero, as a pointer does. Names of members are compared as they are spelled:
//     {"id":1} is not the same as {"ID":1}, although encoding/json decodes both into one field.
//   - Of a copy with [patterns.CopySpec.Only], properties that neither T nor Only names are not
//     compared. A full copy has them all, as its primary has.
//
// If such a row is written because another property has changed, the properties that are the same
// keep their types and texts. [Options.Strict] compares exactly.
//
// A copy that another program has stored does not state its primary, as those of a Store do by the
// properties azp_pk, azp_rk and azp_view. Verify takes it for the copy of a primary that implies a row at
// that key with the same content, and Repair leaves it as it is. Backfill, and a change of the primary, add
// the properties. With [Options.Strict] such a row is [Missing]. Nothing shows that it is left
// over, if no primary implies it, unless [patterns.Shape.Owner] recognizes it.
//
// # Cost
//
//   - The scan takes one request for each page of up to 1000 rows, and at most 5 in a hundred
//     to divide the tables among concurrent requests. The service may return shorter pages.
//     A table is read once for each client that the store has of it, so let the views of one
//     table share a client.
//   - The rows of one partition are confirmed together, and repaired together, up to 33 at a time. Rows
//     in the partition of their entities take one transaction, and are confirmed by one request
//     for each page of the partition between the first and the last of them and of their entities. Only if
//     a row and its entity are on different pages, and both were changed during the scan or in the minute
//     before it, these are read again, so then at most two requests for each page. If the pages have few of
//     them, or they are changed meanwhile, a request confirms seven.
//   - Remote rows take 7 requests for the partition of their entities, and 3 for each row: a
//     read, a write, and a read of the entity. Of the 7, 3 read the entities, the outbox rows,
//     and the entities again, and 4 are the message, the transaction, and the deletes of the
//     outbox rows and the message. Fewer would not be safe: no transaction contains the entity
//     and the row, so the entity may change between any two requests, and the process may end.
//     Only the message and the outbox row lead to a correction then.
//   - A row without an entity takes up to 4 more. A row that a view merges properties into
//     counts as two. A difference that was only of the moment takes up to 3. [Report.Requests]
//     of a dry run is what a repair takes.
//   - Backfill takes one transaction for up to 49 entities if the view is in their
//     partitions and makes copies. A remote copy takes 2 requests, 3 if it is unique, and a
//     member of a list 3. The states of the view take 4.
//
// Of 10,000 entities with three views (a copy in their partition, one in another table, and a
// list of a hundred members) a run finds and repairs 100 planted errors, one in a partition on
// average, with 32 requests for the scan, 237 to confirm them, and 361 to repair them. Of the 237, 33
// are for the 33 copies in the partitions of their entities. 120 missing, wrong and left-over copies in two
// partitions of 4,200 rows, all of which precede their entities, take 10 requests to confirm.
//
// Correct copies that do not state their primaries take no further pass if the view is an index of package
// secondaryindex: the first pass compares those of primaries that do not list the view without their
// primaries too. If other rows differ, and there are more such copies than Differences, one more pass
// finds the primaries of these rows.
//
// Properties of other programs in slim copies take no further pass either if the view is an index of package
// secondaryindex. Of another view, each such copy counts as two differences, which are confirmed.
//
// Memory does not depend on the size of the tables: see [Options.Differences]. If more rows
// differ, the run needs further passes. In the worst case a run with d differences reads the
// tables 4 × d / Differences times. So run Backfill, not Repair, after a view was added, and
// choose a larger number for a table with many writes.
//
// # Several machines
//
// [Runs] divide a run into jobs that workers on any number of machines do, for example those of
// package eventual. The queue can be any that delivers each message at least once:
//
//	runs, err := reindex.NewRuns(store, state, &reindex.RunsOptions{Enqueue: func(ctx context.Context, j reindex.Job) error {
//		return eventual.Enqueue(ctx, queue, "people.reindex", j, nil)
//	}})
//	eventual.Handle(w, "people.reindex", func(ctx context.Context, j eventual.Job[reindex.Job]) error {
//		return runs.Do(ctx, j.Message)
//	})
//
//	err = runs.Create(ctx)                  // the table for the state
//	err = runs.Repair(ctx, "2026-01", nil)  // returns when the first jobs are enqueued
//	status, err := runs.Status(ctx, "2026-01")
//	fmt.Println(status)                     // 2026-01: scanning, 12 of 64 jobs done; …
//
// A job scans a segment of a table and adds its sketch to the state of the run, unless another
// worker has done the same job. The job that is the last of its stage enqueues jobs that confirm,
// and repair, the rows of up to 32 groups each. Findings are inserted before they are repaired, and
// never changed. So each finding is stored once, however often its job is done, and the result does
// not depend on which worker dies when. A worker that dies loses its segment only: another one
// begins it again. If messages are lost or
// poisoned, [Runs.Resume] enqueues what is not done. Let workers process the outbox of the
// store meanwhile: operations of workers that died are [Report.Undecided] until then.
//
// # What is not verified
//
// Lists in blobs, and lists of a [patterns.List] without the method Members, are named in
// [Report.Unverified]. Of counters in other partitions the part of each entity is verified,
// but not the sum; counters in the entities' own partition are not verified at all, because
// nothing shows which entities they count. Rows of views that the store does not have are
// ignored.
//
// # When not to use it
//
// To check single rows that a reader has found stale, use the readers of package
// secondaryindex. After a crash, workers and [patterns.Store.Sweep] complete what was
// interrupted, at a lower cost.
package reindex
