package tail

import (
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Tail struct{ c *container.Client }

// Last returns up to n bytes from the end of a log blob.
func (t *Tail) Last(ctx context.Context, name string, n int64) ([]byte, error) {
	if n <= 0 || n > 1<<20 {
		return nil, fmt.Errorf("n out of range: %d", n)
	}
	b := t.c.NewBlobClient(name)
	p, err := b.GetProperties(ctx, nil)
	if err != nil {
		return nil, err
	}
	size := *p.ContentLength
	if size == 0 {
		return nil, nil
	}
	n = min(n, size)
	r, err := b.DownloadStream(ctx, nil) // MISTAKE: without a range gigabytes are sent for the last few bytes
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	if _, err := io.CopyN(io.Discard, r.Body, size-n); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r.Body, n))
}
