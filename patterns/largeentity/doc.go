// Package largeentity stores the large fields of entities in blobs: the large entities
// pattern.
//
// # Problem
//
// "An employee with a photo." A property in the Table service is limited to 64 KiB and a
// row to 1 MiB. A larger value is stored in a blob, and the row refers to the blob. These
// are two services without a common transaction. A process that dies between the two
// writes must not leave a row whose blob is missing, or a blob that is never deleted. A
// reader between the two writes must not receive the old row with the new photo.
//
//	type Employee struct {
//		Department string `table:"PartitionKey"`
//		Email      string `table:"RowKey"`
//		Name       string
//		Photo      []byte             `table:",blob"`
//		CV         map[string]string  `table:",blob"` // any type that encoding/json supports
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
// A tagged field of at most [Options.Threshold] bytes is an ordinary property. A larger
// field is omitted from the row, and the property azp_blobs refers to its blob:
//
//	{"version":1,"blobs":{"Photo":{
//		"container":"photos",
//		"name":"employees/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77",
//		"length":102400,
//		"sha256":"9f86d081884c7d65…",
//		"encoding":"gzip"}}}
//
// The version is that of this format. The container and name stay valid if the account is
// reached at another address, and need no signature, unlike a URL. The length and sha256
// are those of the value before compression. The encoding is omitted if the value is not
// compressed. The name consists of [Options.Prefix], the name of the table in lower case,
// "/" and a random UUID. No other blob has this name and the content never changes,
// so the reference needs no ETag.
//
// Rows written by other programs can be read. If a row has both the property and a
// reference for it, the property counts.
//
// # The layout of the design guide
//
// Other programs may store the address of the blob in a property, as the design guide
// prints it:
//
//	PartitionKey  RowKey            Properties
//	Sales         kenk@contoso.com  FirstName LastName Age Photo=https://…/photos/ken.jpg
//
// [Options.Addresses] names that property for a tagged field. The field has another name,
// because its value is the content:
//
//	Photo []byte `table:"PhotoContent,blob"`
//
//	&largeentity.Options[Employee]{Addresses: map[string]string{"PhotoContent": "Photo"}}
//
// Every write stores the address, a URL without a signature, and azp_blobs for the blobs
// that this package created. If the two differ, another program has changed the address,
// and the address counts; an empty address means no blob. The blob in azp_blobs is kept until
// the next write of this package. All programs that use this package for the table need the
// same option. The content of such a blob is
// returned without a check of its SHA-256, because other programs may overwrite it. If it
// changes while it is read after a broken connection, the error is [ErrCorrupt].
//
// A blob in the container whose name begins with [Options.Prefix] is this table's own, and is
// deleted after its address was replaced: no two entities may share one. Of the blobs of other
// programs only an outbox message deletes one; Sweep does not find it, unless it is named like
// those of this package. So who can change an address, or add an outbox message, can have any
// blob with the prefix deleted.
// Sweep keeps every blob whose address a row contains in one of these properties, whatever
// the host. An address outside the container is kept and never deleted; its content cannot
// be read ([ErrWrongContainer]), so change such an entity with UpdateMeta.
//
// # Order of writes
//
//	1  With Options.Outbox: send an outbox message that names the entity, its new blobs
//	   and the blobs that it will no longer refer to. It becomes visible after one and a
//	   half grace periods.
//	2  Create the new blobs, with If-None-Match: *.
//	3  Write the row with the references, with If-Match: the ETag that was read.
//	4  When the outbox message is visible, Handle deletes the named blobs to which the row
//	   does not refer, if the row has not changed for a grace period. Otherwise, or
//	   without an outbox, Handle or Sweep marks them and deletes them a grace period later.
//
// A crash after step 2 orphans the new blobs; a crash after step 3 orphans the old ones.
// Step 4 deletes both. A reference to a missing blob never exists. Unchanged content is
// not written again.
//
// A writer never deletes the blobs that its row replaces. A reader therefore has the full
// grace period to read the blobs of the row that it has, however old they are. If the
// service refused the row, the writer deletes the blobs that it uploaded for it; if the
// outcome is unknown, it leaves them. [Table.Sweep] finds the blobs whose outbox message
// was lost.
//
// A slow writer cannot refer to a blob that was swept. If it is not ready to write the
// row within half of [Options.Grace] after the outbox message, or without one after the
// start of the upload, it fails with [ErrTooSlow], and its request to write the row ends by
// then. The other half is for requests that are still on their way to the service. For the
// same reason Delete with an outbox fails with [ErrTooSlow].
//
// # Reads
//
// Because blobs never change, [Table.Get] returns one consistent version of the entity.
// It verifies length and SHA-256: content that differs from what was written is
// [ErrCorrupt]. If the connection breaks, reading resumes at the same position. If a blob
// no longer exists, because the reader took longer than the grace period, Get reads the
// row again.
//
// # Entities that expire
//
// A [patterns.Store] on [Table.Table] with a view of package expiry inserts the row, without the fields in blobs, and deletes it when it
// has expired. This package writes the blobs:
//
//	store, err := patterns.NewStore(uploads.Table(), &patterns.StoreOptions[Upload]{Views: []patterns.View[Upload]{byTime}})
//	…
//	row, err := store.Insert(ctx, &Upload{PartitionKey: user, RowKey: name, Until: until})
//	item, err := uploads.FromRow(row)
//	item.Value.Content = content
//	item, err = uploads.Replace(ctx, item)
//	…
//	row, err = store.Get(ctx, key) // ErrNotFound once it has expired
//	item, err = uploads.FromRow(row)
//	item, err = uploads.Load(ctx, item)
//	…
//	_, err = byTime.On(store).Sweep(ctx, nil)
//	_, err = uploads.Sweep(ctx, nil)
//
// Until the Replace, the entity is visible without its content; if the process dies before it, the entity expires without. The sweep
// of package expiry deletes rows and those of views, and makes no outbox message. Sweep finds the blobs, as after every Delete. Insert of the
// Store over an entity that has expired leaves its blobs to Sweep, too. Replace, Update and UpdateMeta
// can postpone the time. To shorten it, use Update of the Store. Get and GetMeta find an entity until its row is deleted, and one that was inserted
// by [Table.Insert] is never deleted.
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
//	Delete               1; with an outbox 2, and the outbox message
//	outbox               1 for each write that creates or drops blobs; Handle 1, and 2
//	                     for each blob that it deletes; the same again if the entity was
//	                     deleted, or was changed within the grace period
//	Stream               to write: 1, above 8 MiB 1 for each 8 MiB and 1; to open: 1
//	Sweep                1 for 5,000 blobs, 1 for 1,000 rows, 2 for each orphan
//
// If a [Table] has made no request yet, its first write of a blob takes one more. A row
// contains about 200 bytes for each reference, and 110 bytes for the stamps that identify
// a write whose reply is lost (see [patterns.TableOptions]).
//
// # Limits
//
// A value in memory, as []byte, string or JSON, is limited to 5,000 MiB, the largest blob
// that one request creates. A [Stream] is limited to 390 GiB: 50,000 blocks, of which one
// at a time is in memory. A longer stream is [patterns.ErrTooLarge]. References count
// towards the row's limit of 1 MiB and of 64 KiB for a property; a row has room for about
// 150.
//
// The only compression is gzip, from the standard library; zstd would need a dependency.
//
// # Failures
//
// A lost reply to an upload is harmless: only the same call can have created a blob of
// that name. For a lost reply to the write of the row, [patterns.Table] determines the
// outcome; if it cannot, the error is [patterns.ErrOutcomeUnknown], and the blobs that the
// row may refer to stay until Sweep or Handle has read it. Replace and Update write under an
// ETag and are applied at most once; a late Insert stores the entity again if it was deleted
// meanwhile, like [patterns.Table.Insert]. If the container does not exist, the error is
// [ErrContainerNotFound]. If the source of a Stream fails, its error is returned. In both
// cases the row is not written.
//
// Do not delete blobs by other means, such as lifecycle rules. Tables with the same name
// must not share a container and prefix.
//
// # When not to use it
//
//   - The values fit into a row: [patterns.Table] takes half of the requests.
//   - An entity has many properties, each small, or has up to a few megabytes that change
//     together with other rows of the partition: use package wideentity.
//   - Log records: use package logdata.
//   - Files that are found by name and have few properties: use blobs alone, with
//     metadata or index tags.
//
// The pattern:
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#large-entities-pattern
package largeentity
