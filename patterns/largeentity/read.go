package largeentity

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Get reads the entity at key with all its blobs, except Streams. If there is no entity,
// the error is [patterns.ErrNotFound]. One request, and one for each blob.
//
// The result is one consistent version of the entity, because blobs never change. If a
// blob does not exist, because the entity was changed during the Get and more than
// [Options.Grace] ago, Get reads the row again. If the row still refers to that blob, the
// error is [ErrBlobNotFound].
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	var last Item[T]
	for try := 1; ; try++ {
		item, err := t.GetMeta(ctx, key)
		if err != nil {
			return Item[T]{}, err
		}
		// Do not retry a version that has failed before.
		retry := try < t.tries && (try == 1 || item.ETag != last.ETag)
		full, err := t.Load(ctx, item)
		if err == nil || !errors.Is(err, ErrBlobNotFound) || !retry {
			return full, err
		}
		last = item
	}
}

// GetMeta reads the entity at key without its blobs. The fields that are stored in blobs
// are zero: [Item.Blob] returns their length, and [Table.Load] reads them. One request.
func (t *Table[T]) GetMeta(ctx context.Context, key keys.Key) (Item[T], error) {
	if err := t.usable(); err != nil {
		return Item[T]{}, err
	}
	row, err := t.table.Get(ctx, key)
	if err != nil {
		return Item[T]{}, err
	}
	return t.FromRow(row)
}

// Load returns a copy of item with the blobs of the named properties, or of all
// properties if none is named. One request for each blob that item does not contain yet;
// none for Streams. If the entity was changed more than [Options.Grace] ago, its blobs
// may have been deleted. The error is then [ErrBlobNotFound], and the entity has to be
// read again.
func (t *Table[T]) Load(ctx context.Context, item Item[T], properties ...string) (Item[T], error) {
	if err := t.usable(); err != nil {
		return Item[T]{}, err
	}
	wanted := make([]*field, 0, len(t.fields))
	for i := range t.fields {
		if f := &t.fields[i]; len(properties) == 0 && !item.Loaded(f.property) {
			wanted = append(wanted, f)
		}
	}
	for _, name := range properties {
		f := t.field(name)
		if f == nil {
			return Item[T]{}, &patterns.PropertyError{Property: name, Want: "a field tagged blob", Got: "none"}
		}
		if !item.Loaded(name) {
			wanted = append(wanted, f)
		}
	}
	item = item.copy()
	i := 0
	for content, err := range calls.Ordered(ctx, len(wanted), calls.Window{Start: parallelBlobs, Max: parallelBlobs},
		func(ctx context.Context, i int) ([]byte, error) {
			return readBlob(ctx, t.blobs, t.container, wanted[i].property, item.blobs[wanted[i].property])
		}) {
		if err == nil {
			err = wanted[i].decode(&item.Value, content)
		}
		if err != nil {
			return Item[T]{}, fmt.Errorf("load: %w", err)
		}
		if f := wanted[i]; !item.blobs[f.property].checked() {
			if content, err = f.encode(&item.Value); err != nil {
				return Item[T]{}, fmt.Errorf("load: %w", err)
			}
			sum := sha256.Sum256(content)
			item.unchecked[f.property] = digest{hex.EncodeToString(sum[:]), int64(len(content))}
		}
		item.loaded[wanted[i].property] = true
		i++
	}
	return item, nil
}

func (t *Table[T]) field(property string) *field {
	for i := range t.fields {
		if t.fields[i].property == property {
			return &t.fields[i]
		}
	}
	return nil
}

// readBlob reads a value into memory, at most as many bytes as the reference promises.
func readBlob(ctx context.Context, c *container.Client, containerName, property string, ref BlobRef) ([]byte, error) {
	if ref.Length > maxInMemory {
		return nil, ofProperty(property, fmt.Errorf("get blob: %w", corrupt("its reference is longer than any value in memory")))
	}
	body, err := openBlob(ctx, c, containerName, property, ref)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if err := body.checkLength(); err != nil {
		return nil, err
	}
	var content bytes.Buffer
	content.Grow(int(min(ref.Length, 16<<20)) + bytes.MinRead) // the promised length may be wrong
	_, err = content.ReadFrom(body)
	return content.Bytes(), err
}

const (
	// maxInMemory is the size of the largest blob that one request creates, in bytes.
	maxInMemory = 5000 << 20
	// maxRatio is more bytes than gzip can make of one.
	maxRatio = 1100
)

// checkLength returns an error if the blob cannot contain the value, so that nothing of it is
// read into memory.
func (v *valueReader) checkLength() error {
	stored := v.stored.end
	switch n := v.ref.Length; {
	case stored < 0: // unknown
	case !v.ref.checked() && stored > maxInMemory, v.ref.checked() && v.ref.Encoding == "" && stored != n,
		v.ref.checked() && v.ref.Encoding != "" && n/maxRatio > stored:
		return ofProperty(v.stored.property, fmt.Errorf("get blob: %w", corrupt("its length does not fit its reference")))
	}
	return nil
}

// openBlob returns a reader of the value that ref refers to. One request.
func openBlob(ctx context.Context, c *container.Client, containerName, property string, ref BlobRef) (*valueReader, error) {
	if ref.Container != containerName {
		return nil, ofProperty(property, fmt.Errorf("get blob: %w", ErrWrongContainer))
	}
	stored := &blobReader{ctx: ctx, blob: c.NewBlobClient(ref.Name), property: property, mutable: !ref.checked()}
	if err := stored.open(); err != nil {
		return nil, err
	}
	return &valueReader{stored: stored, ref: ref, sum: sha256.New()}, nil
}

// maxResumes is how many times the read of one blob resumes after a broken connection.
const maxResumes = 5

// blobReader reads the stored bytes of a blob. If the connection breaks it resumes at the
// same position. A blob never changes, and valueReader verifies the checksum in any case.
// The blob of another program may change: then the read ends with an error.
type blobReader struct {
	ctx      context.Context
	blob     *blob.Client
	property string
	mutable  bool         // the blob may change
	etag     *azcore.ETag // of the blob when it was opened first, if it is mutable

	body   io.ReadCloser
	offset int64 // bytes read
	end    int64 // length of the blob, -1 if the service did not return it
	opened int
	err    error // the error that ended the read, if not io.EOF
}

func (r *blobReader) open() error {
	var opts blob.DownloadStreamOptions
	opts.Range.Offset = r.offset
	if r.etag != nil {
		opts.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: r.etag}}
	}
	resp, err := r.blob.DownloadStream(r.ctx, &opts)
	if r.etag != nil && bloberror.HasCode(err, bloberror.ConditionNotMet) {
		return ofProperty(r.property, fmt.Errorf("get blob: %w", corrupt("it was changed while it was read")))
	}
	if err != nil {
		return ofProperty(r.property, blobError("get blob", err))
	}
	r.opened++
	if r.mutable {
		r.etag = resp.ETag
	}
	r.body, r.end = resp.Body, -1
	if resp.ContentLength != nil {
		r.end = r.offset + *resp.ContentLength
	}
	return nil
}

func (r *blobReader) Read(p []byte) (int, error) {
	for r.err == nil {
		n, err := r.body.Read(p)
		r.offset += int64(n)
		if n > 0 || err == nil {
			return n, nil // the body returns an error again at the next Read
		}
		if err == io.EOF && (r.end < 0 || r.offset >= r.end) || r.offset == r.end {
			return 0, io.EOF
		}
		r.body.Close()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if r.ctx.Err() != nil || r.opened > maxResumes {
			r.err = ofProperty(r.property, blobError("get blob", err))
			break
		}
		if err := r.open(); err != nil {
			if bloberror.HasCode(err, bloberror.InvalidRange) {
				return 0, io.EOF
			}
			r.err = err
		}
	}
	return 0, r.err
}

// valueReader reads the value in a blob, decompressed. It returns io.EOF only if the value
// matches the reference, or if the reference has no checksum.
type valueReader struct {
	stored *blobReader
	value  io.Reader // decompressed; nil before the first Read
	ref    BlobRef
	sum    hash.Hash
	length int64
	err    error
}

func (v *valueReader) Read(p []byte) (int, error) {
	if v.err != nil || len(p) == 0 {
		return 0, v.err
	}
	n, err := v.readValue(p)
	v.length += int64(n)
	v.sum.Write(p[:n])
	reason := ""
	switch {
	case v.stored.err != nil:
		v.err = v.stored.err
	case !v.ref.checked() && err != nil:
		v.err = err
	case !v.ref.checked():
	case v.length > v.ref.Length:
		n, reason = 0, "it is longer than its reference"
	case err == io.EOF && v.length < v.ref.Length:
		reason = "it is shorter than its reference"
	case err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.ref.SHA256:
		reason = "its SHA-256 differs from its reference"
	case err == io.EOF:
		v.err = io.EOF
	case err != nil:
		reason = "it cannot be decompressed"
	}
	if reason != "" {
		v.err = ofProperty(v.stored.property, fmt.Errorf("get blob: %w", corrupt(reason)))
	}
	return n, v.err
}

func (v *valueReader) readValue(p []byte) (n int, err error) {
	if v.value == nil {
		v.value = v.stored
		if v.ref.Encoding == gzipEncoding {
			if v.value, err = gzip.NewReader(v.stored); err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return v.value.Read(p)
}

// Close closes the connection.
func (v *valueReader) Close() error {
	if v.err == nil {
		v.err = errClosed
	}
	return v.stored.body.Close()
}

var errClosed = azerr.Sentinel("read after Close")
