package largeentity

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

const (
	// blockSize is how much of a stream is in memory.
	blockSize = 8 << 20
	// maxBlocks is how many blocks the service puts together: 390 GiB of that size.
	maxBlocks = 50_000
)

// upload creates the blobs of p and notes them in a.
func (t *Table[T]) upload(ctx context.Context, p *plan[T], a *attempt) error {
	since := time.Now()
	p.began(since)
	i := 0
	for _, err := range parallel.Ordered(ctx, len(p.out), parallel.Window{Start: parallelBlobs, Max: parallelBlobs},
		func(ctx context.Context, i int) (struct{}, error) {
			o := p.out[i]
			if o.source != nil {
				return struct{}{}, t.uploadStream(ctx, p.key, o)
			}
			return struct{}{}, t.put(ctx, o, o.content)
		}) {
		if err != nil {
			return err
		}
		o := p.out[i]
		p.refs[o.field.name] = o.ref
		if o.source == nil {
			a.ready[o.ref.digest()] = uploaded{o.ref, since}
			a.spare[o.ref.Name] = true
		}
		i++
	}
	p.out = nil
	return nil
}

// put creates a blob of content. One request.
func (t *Table[T]) put(ctx context.Context, o *outgoing, content []byte) error {
	_, err := t.blobs.NewBlockBlobClient(o.ref.Name).Upload(ctx, streaming.NopCloser(bytes.NewReader(content)), &blockblob.UploadOptions{
		HTTPHeaders: o.headers(), AccessConditions: absent(),
	})
	return o.created(err)
}

func (o *outgoing) headers() *blob.HTTPHeaders {
	kind := contentTypes[o.field.form]
	if o.ref.Encoding == gzipped {
		// A header Content-Encoding would let HTTP clients on the way unpack it.
		kind = "application/gzip"
	}
	return &blob.HTTPHeaders{BlobContentType: &kind}
}

// absent is the condition that there is no such blob.
func absent() *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
}

// created is the outcome of a creation that ended with err.
func (o *outgoing) created(err error) error {
	if err = fail("put blob", o.field.name, err); hasCode(err, "BlobAlreadyExists") {
		return nil // nobody else has the name: it was this call, whose reply was lost
	}
	return err
}

// uploadStream creates a blob of all that the source gives. One request where that is
// less than a block, else one for each block and one more.
func (t *Table[T]) uploadStream(ctx context.Context, key keys.Key, o *outgoing) error {
	s := o.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used { // two writers at once
		return &Error{Op: "write stream", Property: o.field.name, kind: ErrStream}
	}
	s.used, s.owner, s.key, s.since = true, t, key, time.Now()
	in := newSummed(s.reader, o.ref.Encoding)
	s.reader = nil
	if err := t.putBlocks(ctx, o, in); err != nil {
		return err
	}
	o.ref.Length, o.ref.SHA256 = in.n, hex.EncodeToString(in.sum.Sum(nil))
	s.ref = o.ref
	return nil
}

func (t *Table[T]) putBlocks(ctx context.Context, o *outgoing, in io.Reader) error {
	client := t.blobs.NewBlockBlobClient(o.ref.Name)
	block := make([]byte, t.block)
	var ids []string
	for {
		n, err := io.ReadFull(in, block)
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return &Error{Op: "read stream", Property: o.field.name, kind: err}
		}
		if last && len(ids) == 0 {
			return t.put(ctx, o, block[:n])
		}
		if n > 0 {
			if len(ids) == t.blocks {
				return &Error{Op: "write stream", Property: o.field.name, kind: patterns.ErrTooLarge}
			}
			ids = append(ids, blockID(len(ids)))
			if _, err := client.StageBlock(ctx, ids[len(ids)-1], streaming.NopCloser(bytes.NewReader(block[:n])), nil); err != nil {
				return fail("put block", o.field.name, err)
			}
		}
		if last {
			_, err := client.CommitBlockList(ctx, ids, &blockblob.CommitBlockListOptions{HTTPHeaders: o.headers(), AccessConditions: absent()})
			return o.created(err)
		}
	}
}

// blockID is the id of block i: all are of one length.
func blockID(i int) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, uint32(i)))
}

// summed reads a source, sums up what it read, and compresses it if asked to.
type summed struct {
	source io.Reader // of the value
	sum    hash.Hash
	n      int64

	pack    *gzip.Writer // nil for none
	packed  bytes.Buffer
	scratch []byte
	err     error // of the source
}

func newSummed(source io.Reader, encoding string) *summed {
	s := &summed{source: source, sum: sha256.New()}
	if encoding == gzipped {
		s.pack = gzip.NewWriter(&s.packed)
		s.scratch = make([]byte, 64<<10)
	}
	return s
}

func (s *summed) Read(p []byte) (int, error) {
	if s.pack == nil {
		return s.value(p)
	}
	for s.packed.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		var n int
		n, s.err = s.value(s.scratch)
		s.pack.Write(s.scratch[:n]) // a Buffer takes all
		if s.err == io.EOF {
			s.pack.Close()
		}
	}
	return s.packed.Read(p)
}

func (s *summed) value(p []byte) (int, error) {
	n, err := s.source.Read(p)
	s.n += int64(n)
	s.sum.Write(p[:n])
	return n, err
}
