package largeentity

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

const (
	// parallelBlobs is the number of blobs of one entity that are written or read
	// concurrently.
	parallelBlobs = 4
	// defaultBlockSize is how much of a stream is in memory.
	defaultBlockSize = 8 << 20
	// defaultMaxBlocks is the service's limit of blocks in a blob: 390 GiB in blocks of
	// the default size.
	defaultMaxBlocks = 50_000
)

// upload creates the pending blobs of p and records them in u.
func (t *Table[T]) upload(ctx context.Context, p *plan[T], u *uploads) error {
	start := time.Now()
	i := 0
	for _, err := range calls.Ordered(ctx, len(p.pending), calls.Window{Start: parallelBlobs, Max: parallelBlobs},
		func(ctx context.Context, i int) (struct{}, error) {
			b := p.pending[i]
			if b.source != nil {
				return struct{}{}, t.uploadStream(ctx, p.key, b)
			}
			return struct{}{}, t.put(ctx, b, b.content)
		}) {
		if err != nil {
			return err
		}
		b := p.pending[i]
		p.refs[b.field.property] = b.ref
		if b.source == nil {
			u.byContent[b.ref.digest()] = uploadedBlob{b.ref, start}
			if b.etag != nil {
				u.unreferenced[b.ref.Name] = b.etag
			}
		}
		i++
	}
	p.pending = nil
	return nil
}

// put creates a blob with content. One request.
func (t *Table[T]) put(ctx context.Context, b *pendingBlob, content []byte) error {
	resp, err := t.blobs.NewBlockBlobClient(b.ref.Name).Upload(ctx, streaming.NopCloser(bytes.NewReader(content)), &blockblob.UploadOptions{
		HTTPHeaders: b.headers(), AccessConditions: ifAbsent(),
	})
	if err == nil && resp.ETag != nil && azerr.CheckVersion(string(*resp.ETag)) == nil {
		b.etag = resp.ETag
	}
	return b.createError(err)
}

func (b *pendingBlob) headers() *blob.HTTPHeaders {
	contentType := contentTypes[b.field.kind]
	if b.ref.Encoding == gzipEncoding {
		// With the header Content-Encoding, HTTP clients could decompress the content.
		contentType = "application/gzip"
	}
	return &blob.HTTPHeaders{BlobContentType: &contentType}
}

// ifAbsent is the condition that no blob of that name exists.
func ifAbsent() *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
}

// createError returns the error of the creation of b that ended with err.
func (b *pendingBlob) createError(err error) error {
	if bloberror.HasCode(err, bloberror.BlobAlreadyExists) {
		return nil // the name is unique: an earlier try of this request, whose reply was lost, created it
	}
	return ofProperty(b.field.property, blobError("put blob", err))
}

// uploadStream creates a blob with the content of the source. One request if that is
// less than a block; otherwise one for each block, and one more.
func (t *Table[T]) uploadStream(ctx context.Context, key keys.Key, b *pendingBlob) error {
	s := b.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used { // by a concurrent writer
		return badStream(b.field)
	}
	s.used, s.owner, s.key, s.uploadStart = true, t, key, time.Now()
	content := newContentReader(s.reader, &b.ref)
	s.reader = nil
	if err := t.putBlocks(ctx, b, content); err != nil {
		return err
	}
	b.ref.Length, b.ref.SHA256 = content.length, hex.EncodeToString(content.sum.Sum(nil))
	s.ref = b.ref
	return nil
}

func (t *Table[T]) putBlocks(ctx context.Context, b *pendingBlob, content io.Reader) error {
	client := t.blobs.NewBlockBlobClient(b.ref.Name)
	block := make([]byte, t.blockSize)
	var ids []string
	for {
		n, err := io.ReadFull(content, block)
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return ofProperty(b.field.property, fmt.Errorf("read stream: %w", azerr.Seal(err)))
		}
		if last && len(ids) == 0 {
			return t.put(ctx, b, block[:n])
		}
		if n > 0 {
			if len(ids) == t.maxBlocks {
				return ofProperty(b.field.property, fmt.Errorf("write stream: %w", patterns.ErrTooLarge))
			}
			ids = append(ids, blockID(len(ids)))
			if _, err := client.StageBlock(ctx, ids[len(ids)-1], streaming.NopCloser(bytes.NewReader(block[:n])), nil); err != nil {
				return ofProperty(b.field.property, blobError("put block", err))
			}
		}
		if last {
			_, err := client.CommitBlockList(ctx, ids, &blockblob.CommitBlockListOptions{HTTPHeaders: b.headers(), AccessConditions: ifAbsent()})
			return b.createError(err)
		}
	}
}

// blockID returns the id of block i. All ids of a blob must have the same length.
func blockID(i int) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, uint32(i)))
}

// contentReader reads the content of a blob from a source: the value, compressed if that is
// requested and worthwhile. It computes the length and checksum of the value.
type contentReader struct {
	source io.Reader
	sum    hash.Hash
	length int64
	ref    *BlobRef // its Encoding becomes "" if compression is not worthwhile

	buffer  []byte       // nil for no compression
	gzip    *gzip.Writer // nil before the probe
	pending bytes.Buffer // content that was not yet read
	err     error        // of the source
}

func newContentReader(r io.Reader, ref *BlobRef) *contentReader {
	c := &contentReader{source: r, sum: sha256.New(), ref: ref}
	if ref.Encoding == gzipEncoding {
		c.buffer = make([]byte, probeSize)
	}
	return c
}

func (c *contentReader) Read(p []byte) (int, error) {
	for c.pending.Len() == 0 {
		switch {
		case c.err != nil:
			return 0, c.err
		case c.buffer == nil:
			return c.readValue(p)
		}
		n := 0
		for n < len(c.buffer) && c.err == nil {
			var more int
			more, c.err = c.readValue(c.buffer[n:])
			n += more
		}
		c.add(c.buffer[:n])
	}
	return c.pending.Read(p)
}

// add adds a part of the value to pending.
func (c *contentReader) add(value []byte) {
	if c.gzip != nil {
		c.gzip.Write(value) // a Buffer returns no error
	} else if c.gzip = newGzip(&c.pending, value); c.gzip == nil {
		c.pending.Reset()
		c.pending.Write(value)
		c.buffer, c.ref.Encoding = nil, ""
		return
	}
	if c.err == io.EOF {
		c.gzip.Close()
	}
}

func (c *contentReader) readValue(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.length += int64(n)
	c.sum.Write(p[:n])
	return n, err
}
