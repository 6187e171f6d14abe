// Package wideentity keeps values of thousands of properties, or of megabytes, as one
// entity in several rows: the wide entities pattern.
//
// # Problem
//
// "A count of messages for each day of the year." A row of the Table service has at
// most 252 properties of its own, and 1 MiB; one property has 64 KiB. A value beyond
// that takes several rows, which change together or not at all, and of which a reader
// must never see some old and some new ones.
//
// # Layout
//
//	PartitionKey  RowKey     Properties
//	Sales         000123_00  azp_layout=hash:3 azp_parts=01:…;02:…;03:… azp_version=…
//	Sales         000123_01  MessageCountDay001 … azp_part
//	Sales         000123_02  MessageCountDay002 … azp_part
//	Sales         000123_03  MessageCountDay005 … azp_part
//
// The row key is the id, escaped by [keys.Escape], "_" and two digits. "_" does not
// occur in an escaped id, so ids that begin alike are never mixed up.
//
// A property's part follows from its name alone: the bucket of [keys.Spread], plus
// one, of [Options.Parts]. Of 16 parts "Name" is in 01, "Photo" in 02, "Day001" in 09.
// Fields added to a struct later, and their order, move nothing; a field with another
// name is another property. [Options.Place] gives a rule of the caller's own, such as
// the guide's, which has the days in order.
//
// Strings over 32,768 UTF-16 units and binary values over 65,536 bytes are split, into
// pieces of at most 32,768 units and of 65,535 bytes. The first has the property's name, the
// next one is azp_1_Photo, then azp_2_Photo, each one part further, from the last part
// back to the first.
//
// Row 00 is the head. It names the parts that there are and the version of each, the
// rule of placement, the properties in pieces, and the versions of the last eight
// writes. Each part repeats its own version. One property of a row is spent on that:
// 251 are left.
//
// # Consistency
//
// Every write changes the head under its ETag, in one transaction with the rows that
// change. [Table.Get] reads everything in one query; if the service answers it in
// several pages, the versions tell whether a writer came in between, and Get reads
// again. So does [Table.Read] for the rows that it reads side by side.
//
// A whole write of more than the 4 MiB of one transaction is staged. Its rows are
// put beside the ones that they replace, as 000123_01_<version>, behind a marker
// 000123_~azp_<version>; one transaction changes the head to point to them and takes
// away the marker; then the former rows are deleted. Readers see the entity before
// or after that one transaction. What a process that dies leaves behind nobody reads,
// and [Table.Sweep] deletes. A merge is never staged.
//
// # Cost
//
// Requests:
//
//	Insert, Replace, Merge   1
//	Put, Set, Update         2, 2 more for each lost race
//	Get                      1
//	Read                     1 for properties in one row, k+1 in k rows
//	Delete                   2
//	any write over 4 MiB     1 for each 4 MiB and 2 more, in place of 1
//
// The service counts each row of a transaction against its scale targets, and bills
// a transaction as one. Merge and Set send the rows of the properties that they name,
// Update those that have changed, and the head each.
//
// # Limits
//
// At most 98 parts, of 251 properties and 1 MiB each. A part that overflows is
// [patterns.ErrTooLarge], which names the property, before any request: use more parts.
// Part of a row's 1 MiB are names and version. Pieces of a large value that a merge
// makes smaller stay behind empty, until the entity is next replaced whole. The id is a
// row key: up to 493 UTF-16 units, escaped. Names that begin with azp_ are
// refused.
//
// # Failures
//
// When a reply is lost, the head tells whether the write was carried out: it lists
// the last eight. Where more came in between, or the entity is gone, the error is
// [patterns.ErrOutcomeUnknown]. Rows that other code changed or deleted are [ErrTorn];
// [Table.Put] mends the entity.
//
// # When not to use it
//
//   - Everything fits in one row: use [patterns.Table], at half the cost.
//   - The properties are numbers of a series that are raised by many: package
//     dataseries.
//   - One large value, or many megabytes: a blob is cheaper, package largeentity.
//   - The parts are asked for by themselves and have names of their own: package
//     compoundkey.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#wide-entities-pattern
package wideentity
