package logdata

import (
	"bufio"
	"bytes"
	"context"
	"io"

	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

var errGone = azerr.Sentinel("blob does not exist")

// maxLine is the length of the longest line that is parsed. A longer line is passed on
// as an empty one, which no format accepts.
const maxLine = 2 * MaxBlock

// maxBreaks is how often in a row a reply may break off without a byte.
const maxBreaks = 3

// rangeReader downloads a part of a blob. If a reply breaks off, it requests the rest.
// Unlike the SDK's RetryReader it does so without an ETag, because appends change the
// ETag but not the bytes that were stored before.
type rangeReader struct {
	ctx    context.Context
	client *azblob.Client
	name   string
	at, to int64
	body   io.ReadCloser
	breaks int
}

func newRangeReader(ctx context.Context, c *container.Client, name string, part byteRange) *rangeReader {
	return &rangeReader{ctx: ctx, client: c.NewBlobClient(name), name: name, at: part.from, to: part.to}
}

// Read implements io.Reader. It returns errGone if the blob does not exist.
func (r *rangeReader) Read(p []byte) (int, error) {
	for r.at < r.to {
		if err := r.open(); err != nil {
			return 0, err
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.to-r.at)])
		r.at += int64(n)
		if n > 0 {
			r.breaks = 0
		}
		if err != nil && r.at < r.to {
			if r.Close(); r.ctx.Err() != nil {
				return n, azerr.Seal(context.Cause(r.ctx))
			}
			if r.breaks++; r.breaks > maxBreaks {
				return n, truncatedError(r.name, io.ErrUnexpectedEOF)
			}
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, io.EOF
}

// open requests the rest of the part, unless a reply is being read.
func (r *rangeReader) open() error {
	if r.body != nil {
		return nil
	}
	reply, err := r.client.DownloadStream(r.ctx, &azblob.DownloadStreamOptions{
		Range: azblob.HTTPRange{Offset: r.at, Count: r.to - r.at},
	})
	switch {
	case err == nil:
		r.body = reply.Body
		return nil
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		return errGone
	case bloberror.HasCode(err, bloberror.InvalidRange):
		return truncatedError(r.name, err)
	}
	return causeOr(r.ctx, blobError(r.name, sdkerr.New("read", err)))
}

// Close implements io.Closer.
func (r *rangeReader) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}

// eachLine calls f with each line that is not empty, without its newline, and with the
// number of the line, counted from where r begins, and its offset in the blob. The text is
// valid only during the call.
func eachLine(r *rangeReader, f func(text []byte, number, offset int64)) error {
	offset, number := r.at, int64(1)
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
			f(text, number, offset)
		}
		if err == io.EOF {
			return nil
		}
		offset += size
		number++
		long, size = long[:0], 0
	}
}
