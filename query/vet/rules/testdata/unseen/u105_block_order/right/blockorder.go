package right

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

type Uploader struct {
	client *blockblob.Client
	size   int
}

func blockID(i int) string {
	return base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("%08d", i)))
}

// Upload sends the data in parallel blocks.
func (u *Uploader) Upload(ctx context.Context, data []byte) error {
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		errs []error
	)
	parts := slices.Collect(slices.Chunk(data, u.size))
	ids := make([]string, len(parts))
	slots := make(chan struct{}, 4)
	for i, part := range parts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			id := blockID(i)
			_, err := u.client.StageBlock(ctx, id, streaming.NopCloser(bytes.NewReader(part)), nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("block %d: %w", i, err))
				return
			}
			ids[i] = id
		})
	}
	wg.Wait()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	_, err := u.client.CommitBlockList(ctx, ids, nil)
	return err
}
