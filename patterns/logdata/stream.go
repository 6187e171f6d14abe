package logdata

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

var errGone = errors.New("blob is gone")

// maxLine is the longest line that is looked at; a longer one is given as none.
const maxLine = 2 * MaxBlock

// maxBreaks is how often in a row an answer may break off without a byte.
const maxBreaks = 3

// rangeReader reads a stretch of a blob. Where the answer breaks off it asks for the
// rest. It does so without an ETag, unlike the SDK's RetryReader, since appends
// change that while what was stored before stays.
type rangeReader struct {
	ctx    context.Context
	client *azblob.Client
	name   string
	at, to int64
	body   io.ReadCloser
	breaks int
}

func newRangeReader(ctx context.Context, c *container.Client, name string, s stretch) *rangeReader {
	return &rangeReader{ctx: ctx, client: c.NewBlobClient(name), name: name, at: s.from, to: s.to}
}

// Read is of io.Reader. It fails with errGone where the blob does not exist.
func (r *rangeReader) Read(p []byte) (int, error) {
	for r.at < r.to {
		if err := r.ask(); err != nil {
			return 0, err
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.to-r.at)])
		r.at += int64(n)
		if n > 0 {
			r.breaks = 0
		}
		if err != nil && r.at < r.to {
			if r.Close(); r.ctx.Err() != nil {
				return n, context.Cause(r.ctx)
			}
			if r.breaks++; r.breaks > maxBreaks {
				return n, &Error{Op: "read", Blob: r.name, kind: ErrTruncated, err: io.ErrUnexpectedEOF}
			}
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, io.EOF
}

// ask sends a request for what is left, unless an answer is there.
func (r *rangeReader) ask() error {
	if r.body != nil {
		return nil
	}
	answer, err := r.client.DownloadStream(r.ctx, &azblob.DownloadStreamOptions{
		Range: azblob.HTTPRange{Offset: r.at, Count: r.to - r.at},
	})
	switch {
	case err == nil:
		r.body = answer.Body
		return nil
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		return errGone
	case bloberror.HasCode(err, bloberror.InvalidRange):
		e := failed("read", r.name, err, false)
		e.kind = ErrTruncated
		return e
	}
	return interrupted(r.ctx, failed("read", r.name, err, false))
}

// Close is of io.Closer.
func (r *rangeReader) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}

// lines calls each with every line of the stretch and its place in the blob, without
// newline and empty ones; the line is good during the call only.
func lines(r *rangeReader, each func(text []byte, offset int64) error) error {
	offset := r.at
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	var size int64 // of the line
	for {
		part, err := in.ReadSlice('\n')
		if size += int64(len(part)); err == bufio.ErrBufferFull {
			if size <= maxLine {
				long = append(long, part...)
			}
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		text := part
		if len(long) > 0 {
			long = append(long, part...)
			text = long
		}
		if size > maxLine {
			text = nil
		} else {
			text = bytes.TrimRight(text, "\r\n")
		}
		if len(text) > 0 || size > maxLine {
			if err := each(text, offset); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		offset += size
		long, size = long[:0], 0
	}
}
