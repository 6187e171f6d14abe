// Package wideentity stores values of thousands of properties, or of megabytes, as one
// entity in several rows: the wide entities pattern.
//
// # Problem
//
// "A count of messages for each day of the year." A row of the Table service has at most
// 252 properties of its own and 1 MiB; one property has 64 KiB. A larger value needs
// several rows. They must change together or not at all, and a reader must never see some
// old and some new ones.
//
// # Layout
//
//	PartitionKey  RowKey     Properties
//	Sales         000123_00  azp_layout=hash:3 azp_parts=01:…;02:…;03:… azp_version=…
//	Sales         000123_01  MessageCountDay001 … azp_part
//	Sales         000123_02  MessageCountDay002 … azp_part
//	Sales         000123_03  MessageCountDay005 … azp_part
//
// The row key is the id, escaped by [keys.Escape], "_" and two digits. "_" does not occur
// in an escaped id, so the rows of ids with a common prefix are never confused.
//
// The part of a property follows from its name alone: it is the bucket of [keys.Spread]
// for [Options.Parts] buckets, plus one. Of 16 parts, "Name" is in 01, "Photo" in 02 and
// "Day001" in 09. Fields that are added to a struct, or reordered, move nothing; a renamed
// field is another property. [Options.PartOf] replaces this rule, for example by the
// guide's, which stores the days in order.
//
// Strings over 32,768 UTF-16 units and binary values over 65,536 bytes are split into
// pieces of at most 32,768 units or 65,535 bytes. The first piece has the property's name,
// the following ones are azp_1_Photo, azp_2_Photo and so on. Each is stored one part
// further; part 01 follows the last part.
//
// Row 00 is the head. It contains the number and version of each part, the rule that
// assigns properties to parts, the properties in pieces, and the versions of the last
// eight writes. Each part repeats its own version in one property: 251 are left.
//
// # Consistency
//
// Every write changes the head under its ETag, in one transaction with the rows that
// change. [Table.Get] reads everything in one query. If the service returns several pages,
// the versions show whether a writer changed the entity between them, and Get reads again.
// [Table.GetOnly] does the same for the rows that it reads concurrently.
//
// A write of the whole entity that exceeds the 4 MiB of one transaction is staged. Its
// rows are inserted next to those that they replace, as 000123_01_<version>, together with
// a marker 000123_~azp_<version>. One transaction then makes the head point to them and
// deletes the marker; after it the former rows are deleted. Readers see the entity before
// or after that one transaction. If the process crashes, its rows are invisible to
// readers, and [Table.Sweep] deletes them. A merge is never staged.
//
// # Rows of the guide
//
// With [Options.Plain] the rows are those that the guide prints, and that programs without
// this package read and write:
//
//	PartitionKey  RowKey     Properties
//	Sales         000123_00  azp_layout=plain:own:2 azp_version=…
//	Sales         000123_01  MessageCountDay001 … MessageCountDay252
//	Sales         000123_02  MessageCountDay253 … MessageCountDay365
//
// PartOf is the rule of these programs, here (day-1)/252+1. Rows that they have stored are
// an entity without row 00; the first write adds row 00, in the same transaction, and
// changes only the rows that it would change anyway.
//
// The ETags of the rows take the place of the versions. Every write, also one to any version, changes
// each row under its ETag, so it never overwrites what another program has changed since
// the row was read: Update, Put and a Merge into any version start over, the others fail with
// [patterns.ErrConflict]. Reads of several pages or rows prove by the ETags that the rows
// belong together. The ETag of the entity is a hash of those of its rows. If the response
// to a write is lost, the ETags of the rows are unknown: the item that the write returns
// has to be read again before it is replaced or merged.
//
// The rows show that the entity exists: if another program has deleted all of them, it does
// not, whether or not row 00 is left. An entity without properties has an empty row 01. A
// value is at most 64 KiB and a write at most 4 MiB, because other programs do not read
// pieces and staged rows: otherwise the error is [patterns.ErrTooLarge]. Insert takes two
// requests, because rows may exist without row 00. GetOnly takes one more if the row that it
// reads lacks a property.
//
// Entities of both kinds are read by tables of both kinds, and take the table's kind when
// they are written as a whole.
//
// # Cost
//
// Requests:
//
//	Insert, Replace, Merge   1; Insert of plain rows 2
//	Put, Update, and Merge
//	  into any version       2, and 2 for each retry after a conflict
//	Get                      1
//	GetOnly                  1 for properties in one row, k+1 for properties in k rows
//	Delete                   2
//	any write over 4 MiB     1 for each 4 MiB and 2 more, instead of 1
//
// The service counts each row of a transaction against its scale targets, and bills a
// transaction as one operation. Merge sends the rows of the properties that it
// names and the head; Update sends the rows that have changed and the head.
//
// # Limits
//
// At most 98 parts, of 251 properties, or 252 in plain rows, and 1 MiB each. If a part exceeds them, the error is
// [patterns.ErrTooLarge], names the property and is returned before any request: use more
// parts. The names of the properties and the version count towards the 1 MiB. If a merge
// makes a large value smaller, its surplus pieces stay, empty, until the whole entity is
// replaced. The id is part of a row key: at most 493 UTF-16 units, escaped. Names that
// begin with azp_ are refused.
//
// # Failures
//
// If a response is lost, the head shows whether the write was applied: it lists the last
// eight. If there were more writes in between, or the entity was deleted, the error is
// [patterns.ErrOutcomeUnknown]. Every write of an existing entity is conditional on the ETag
// of its head, so a late attempt of it is refused. A late attempt of the insert of a new one,
// by Insert or Put, inserts the entity again if it was deleted meanwhile. Put, and Merge and
// Delete of any version, read the head and may be applied over what other clients wrote
// meanwhile. If another program has changed or deleted single rows, the error is [ErrTorn];
// [Table.Put] repairs the entity.
//
// Parts are inserted, so that rows of other programs are never overwritten: if one has the
// key that a new part needs, the error is [ErrForeignRow] and nothing is written. Staged
// rows have keys of their own, next to such a row.
//
// # When not to use it
//
//   - Everything fits in one row: use [patterns.Table], at half the cost.
//   - The properties are numbers of a series that many writers increment: use package
//     dataseries.
//   - One large value, or many megabytes: a blob costs less, see package largeentity.
//   - The parts are read separately and have names of their own: use package compoundkey.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#wide-entities-pattern
package wideentity
