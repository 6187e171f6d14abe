package tail

import (
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
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
	r, err := b.DownloadStream(ctx, &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: size - n, Count: n}})
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return io.ReadAll(io.LimitReader(r.Body, n))
}
