// Package largeentity keeps entities whose large fields stand in blobs: the large
// entities pattern.
//
// # Problem
//
// "An employee with a photo." A property of the Table service holds 64 KiB and a row
// 1 MiB. A larger value goes to a blob, and the row says which. These are two
// services, which change one after the other: a process that dies in between must
// leave neither a row whose blob is missing nor a blob that is paid for, for ever; and
// a reader in between must not get the old row with the new photo.
//
//	type Employee struct {
//		Department string `table:"PartitionKey"`
//		Email      string `table:"RowKey"`
//		Name       string
//		Photo      []byte             `table:",blob"`
//		CV         map[string]string  `table:",blob"` // any type that JSON takes
//		Interview  largeentity.Stream `table:",blob"` // larger than memory
//	}
//	staff, err := largeentity.New[Employee](tableClient, containerClient, nil)
//
// # Layout
//
//	PartitionKey  RowKey              Properties
//	Sales         jonesj@contoso.com  Name CV azp_blobs={"version":1,"blobs":{"Photo":…}}
//
//	blob employees/0b4f6d1e-…         the bytes of Photo
//
// A tagged field of at most [Options.Threshold] bytes is a property like others. A
// larger one is left out of the row, and azp_blobs refers to it:
//
//	{"version":1,"blobs":{"Photo":{
//		"container":"photos",
//		"name":"employees/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77",
//		"length":102400,
//		"sha256":"9f86d081884c7d65…",
//		"encoding":"gzip"}}}
//
// version is that of this form. container and name stay right when the account is
// reached by another address, and need no signature, as a URL would. length and sha256
// are those of the value; encoding says how it is stored, and is left out for a value
// that is stored as it is. The name is [Options.Prefix], the table's name in lower
// case, "/" and a random UUID: no other blob ever has it, and its content never
// changes. So the blob's ETag is not needed to say which content is meant.
//
// Rows written by others are read as well: where a row has both the property and a
// reference, the property counts.
//
// # Order of writing
//
//	1  with Options.Outbox: put a wake-up that names the entity, its new blobs and those
//	   that it is to drop, to be shown one and a half grace times later
//	2  create the new blobs, If-None-Match: *
//	3  write the row with the references, If-Match: the ETag that was read
//	4  by then: Handle deletes those of the blobs named that the row does not refer to, if
//	   it has stood unchanged for the grace time; if not, or without an outbox, they are
//	   marked, by Handle or Sweep, and a grace time later deleted
//
// After a crash behind step 2 the new blob is an orphan, behind step 3 the old one; 4
// removes both. There is never a reference to nothing. Content that has not changed is
// not written again.
//
// An old blob is never deleted by the writer: only so has every reader the grace time to
// read, in peace, what belongs to the row that it has, however old the blob is. What a
// writer uploaded in vain it deletes itself where the service has refused the row; where
// the outcome is unknown it does not. [Table.Sweep] finds what a lost queue leaves.
//
// A writer that is slow does not meet the sweep: unless it is ready to write the row
// within half of [Options.Grace] after it began to upload, it fails with [ErrTooSlow],
// and its request to write the row ends by then. The other half is for requests on
// their way.
//
// # Reading
//
// A row refers to blobs that never change, so that what [Table.Get] gives is one version
// whatever happens meanwhile. Length and SHA-256 are checked: what is not what was
// written is [ErrCorrupt]. A connection that breaks is taken up where it broke. If a blob
// is gone, which takes a reader slower than the grace time, the row is read again.
//
// # Cost
//
// Requests:
//
//	Insert, Replace      1, and 1 for each new blob
//	UpdateMeta           1 more
//	Update               1 more, and 1 for each blob that it reads
//	Get                  1, and 1 for each blob
//	GetMeta              1
//	Load                 1 for each blob
//	Delete               1; with an outbox 2, and the wake-up
//	the outbox           1 for each write that creates or drops blobs; Handle 1, and 2
//	                     for each blob that it deletes; the same once more where the
//	                     entity is gone, or was changed within the grace time
//	Stream               written: 1, above 8 MiB 1 for each 8 MiB and 1; opened: 1
//	Sweep                1 for 5,000 blobs, 1 for 1,000 rows, 2 for each orphan
//
// The first write of a blob by a [Table] that has made no request yet takes one more.
// Each row has about 200 bytes for each reference, and 110 for the stamps by which a
// lost reply is settled (see [patterns.TableOptions]).
//
// # Limits
//
// In memory, as []byte, string or JSON: 5,000 MiB, the most that one request
// creates. As a [Stream]: 390 GiB, in 50,000 blocks, of which one is in memory; a longer
// one is [patterns.ErrTooLarge]. References take part of the row's 1 MiB; a row has room
// for about 150.
//
// The only compression is gzip, of the standard library; zstd would need a
// dependency.
//
// # Failures
//
// Lost replies to the upload are harmless: a blob of that name can only be the call's
// own. Lost replies to the row's write are settled as by package patterns; where that is
// not possible, [patterns.ErrOutcomeUnknown]. A container that does not exist is
// [ErrContainer], a source of a Stream that fails gives its own error: in both cases
// nothing is written.
//
// Do not delete blobs by other means, such as lifecycle rules, and let no two tables
// of the same name share container and prefix.
//
// # When not to use it
//
//   - The values fit into a row: [patterns.Table] takes half of the requests.
//   - Many properties, each small, or up to some megabytes that change together with
//     others of the partition: package wideentity.
//   - Log records: package logdata.
//   - Files that are looked for by name and have few properties: blobs alone, with
//     metadata or index tags.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#large-entities-pattern
package largeentity
