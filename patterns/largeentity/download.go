package largeentity

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// resumes is how often the reading of one blob goes on after a broken connection.
const resumes = 5

// openBlob reads the value that ref refers to. One request.
func openBlob(ctx context.Context, c *container.Client, name, property string, ref Blob) (io.ReadCloser, error) {
	if ref.Container != name {
		return nil, &Error{Op: "get blob", Property: property, kind: ErrContainer}
	}
	raw := &rawReader{ctx: ctx, blob: c.NewBlobClient(ref.Name), property: property}
	if err := raw.open(); err != nil {
		return nil, err
	}
	return &valueReader{raw: raw, ref: ref, sum: sha256.New()}, nil
}

// rawReader reads a blob's bytes. Since a blob never changes, it goes on where the
// connection broke; whether the pieces fit shows in the end, by the checksum.
type rawReader struct {
	ctx      context.Context
	blob     *blob.Client
	property string

	body   io.ReadCloser
	at     int64 // read so far
	end    int64 // of the blob, -1 where the service did not say
	opened int
	err    error // that ended the reading, not io.EOF
}

func (r *rawReader) open() error {
	var opts blob.DownloadStreamOptions
	opts.Range.Offset = r.at
	resp, err := r.blob.DownloadStream(r.ctx, &opts)
	if err != nil {
		return fail("get blob", r.property, err)
	}
	r.opened++
	r.body, r.end = resp.Body, -1
	if resp.ContentLength != nil {
		r.end = r.at + *resp.ContentLength
	}
	return nil
}

func (r *rawReader) Read(p []byte) (int, error) {
	for r.err == nil {
		n, err := r.body.Read(p)
		r.at += int64(n)
		if n > 0 || err == nil {
			return n, nil // an error comes again, if there is one
		}
		if err == io.EOF && (r.end < 0 || r.at >= r.end) || r.at == r.end {
			return 0, io.EOF
		}
		r.body.Close()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if r.ctx.Err() != nil || r.opened > resumes {
			r.err = fail("get blob", r.property, err)
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

// valueReader gives the value in a blob, decompressed, and ends with io.EOF only if
// it is what the reference says.
type valueReader struct {
	raw   *rawReader
	plain io.Reader // nil before the first Read
	ref   Blob
	sum   hash.Hash
	n     int64
	err   error
}

func (v *valueReader) Read(p []byte) (int, error) {
	if v.err != nil || len(p) == 0 {
		return 0, v.err
	}
	n, err := v.read(p)
	v.n += int64(n)
	v.sum.Write(p[:n])
	switch {
	case v.raw.err != nil:
		v.err = v.raw.err
	case v.n > v.ref.Length:
		n, v.err = 0, corrupt(v.raw.property, "it is longer")
	case err == io.EOF && v.n < v.ref.Length:
		v.err = corrupt(v.raw.property, "it is shorter")
	case err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.ref.SHA256:
		v.err = corrupt(v.raw.property, "it has another SHA-256")
	case err == io.EOF:
		v.err = io.EOF
	case err != nil:
		v.err = corrupt(v.raw.property, "it cannot be decompressed")
	}
	return n, v.err
}

func (v *valueReader) read(p []byte) (n int, err error) {
	if v.plain == nil {
		v.plain = v.raw
		if v.ref.Encoding == gzipped {
			if v.plain, err = gzip.NewReader(v.raw); err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return v.plain.Read(p)
}

// Close ends the reading.
func (v *valueReader) Close() error {
	if v.err == nil {
		v.err = errClosed
	}
	return v.raw.body.Close()
}

var errClosed = errors.New("read after Close")

// fetch reads a whole value into memory, as much as the reference says at most.
func fetch(ctx context.Context, c *container.Client, name, property string, ref Blob) ([]byte, error) {
	body, err := openBlob(ctx, c, name, property, ref)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var content bytes.Buffer
	content.Grow(int(min(ref.Length, 16<<20)) + bytes.MinRead) // what is promised is not believed beforehand
	_, err = content.ReadFrom(body)
	return content.Bytes(), err
}
