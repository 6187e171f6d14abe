package eventual

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// storedRow is a row of any type, as it was read.
type storedRow struct {
	key     keys.Key
	content txn.Content
	etag    string
}

// newStoredRow returns a row that was read. The copy of a row gets no write stamps: they
// identify writes to the original.
func newStoredRow(key keys.Key, content txn.Content, etag string) storedRow {
	content.Stamp = ""
	return storedRow{key, content, etag}
}

// Lookup returns a property for the evaluation of a filter.
func (r storedRow) Lookup(name string) (any, bool) {
	switch name {
	case "PartitionKey":
		return r.key.Partition, true
	case "RowKey":
		return r.key.Row, true
	case "Timestamp":
		return r.content.Timestamp, true
	}
	v, ok := r.content.Properties[name]
	return v, ok
}

// equal reports whether both rows have the same properties.
func (r storedRow) equal(other storedRow) bool {
	return r.content.Properties.Equal(other.content.Properties)
}

// archive is the target of moves. Its errors match the sentinels of package patterns.
type archive interface {
	// insert stores a new row. The error is ErrExists if a row has the same key.
	insert(ctx context.Context, r storedRow) (etag string, err error)
	get(ctx context.Context, key keys.Key) (storedRow, error)
	// replace replaces a row if its version is etag; otherwise ErrConflict or ErrNotFound.
	replace(ctx context.Context, r storedRow, etag string) (newETag string, err error)
	// delete deletes a row if its version is etag; otherwise ErrConflict or ErrNotFound.
	delete(ctx context.Context, key keys.Key, etag string) error
}

// tableArchive is a table, as the source or as the target of moves.
type tableArchive struct{ table *txn.RawTable }

func newTableArchive(client *aztables.Client) tableArchive {
	return tableArchive{txn.NewRawTable(client)}
}

// equal reports whether both are known to be the same table.
func (a tableArchive) equal(other archive) bool {
	b, ok := other.(tableArchive)
	return ok && a.table.Same(b.table)
}

func (a tableArchive) get(ctx context.Context, key keys.Key) (storedRow, error) {
	content, etag, err := a.table.Get(ctx, key)
	return newStoredRow(key, content, etag), err
}

func (a tableArchive) insert(ctx context.Context, r storedRow) (string, error) {
	return a.table.Insert(ctx, r.key, r.content)
}

func (a tableArchive) replace(ctx context.Context, r storedRow, etag string) (string, error) {
	return a.table.Replace(ctx, r.key, r.content, etag)
}

func (a tableArchive) delete(ctx context.Context, key keys.Key, etag string) error {
	return a.table.Delete(ctx, key, etag)
}

// maxBlobName is in characters.
//
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
const maxBlobName = 1024

// BlobName returns the name of the blob in which [MoveToBlob] stores the row at key, for
// example "Sales/000123.json". Both parts of the key are escaped by [keys.Escape]. If a
// part is empty or ends in a dot, a "_" is appended, which escaped text does not contain;
// otherwise the service could change the path. The error matches [patterns.ErrBadKey] for
// an invalid key and [patterns.ErrTooLarge] for a name of more than 1,024 characters.
func BlobName(key keys.Key) (string, error) {
	if err := key.Validate(); err != nil {
		return "", azerr.Errorf("blob name: %w", err)
	}
	segment := func(s string) string {
		if s = keys.Escape(s); s == "" || strings.HasSuffix(s, ".") {
			s += "_"
		}
		return s
	}
	name := segment(key.Partition) + "/" + segment(key.Row) + ".json"
	if n := len([]rune(name)); n > maxBlobName {
		return "", azerr.Errorf("blob name: %w: %d characters", patterns.ErrTooLarge, n)
	}
	return name, nil
}

// maxRow is more bytes than the JSON of any row has.
const maxRow = 8 << 20

var errLongRow = azerr.Errorf("get blob: %w: longer than any row", azerr.ErrBadReply)

// blobArchive is a container with one blob for each row.
type blobArchive struct{ container *container.Client }

func (a blobArchive) insert(ctx context.Context, r storedRow) (string, error) {
	return a.put(ctx, r, ifAbsent())
}

func (a blobArchive) replace(ctx context.Context, r storedRow, etag string) (string, error) {
	return a.put(ctx, r, ifVersion(etag))
}

// ifVersion is the condition that the blob has that ETag.
func ifVersion(etag string) *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: to.Ptr(azcore.ETag(etag))}}
}

func (a blobArchive) put(ctx context.Context, r storedRow, condition *blob.AccessConditions) (string, error) {
	name, err := BlobName(r.key)
	if err != nil {
		return "", err
	}
	body, err := r.content.Encode(r.key)
	if err != nil {
		return "", err
	}
	return uploadJSON(ctx, a.container, name, body, condition)
}

func (a blobArchive) get(ctx context.Context, key keys.Key) (storedRow, error) {
	name, err := BlobName(key)
	if err != nil {
		return storedRow{}, err
	}
	body, etag, err := download(ctx, a.container, name, 0, maxRow, errLongRow)
	if err != nil {
		return storedRow{}, err
	}
	content, err := txn.Row{ETag: etag, Body: body}.Content()
	return newStoredRow(key, content, etag), err
}

func (a blobArchive) delete(ctx context.Context, key keys.Key, etag string) error {
	name, err := BlobName(key)
	if err != nil {
		return err
	}
	return deleteBlob(ctx, a.container, name, ifVersion(etag))
}
