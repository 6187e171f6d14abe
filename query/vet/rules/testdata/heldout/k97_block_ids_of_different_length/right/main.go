package blocks

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

const blockSize = 4 << 20

func blockID(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%06d", n))
}

// Upload sends r in blocks and commits them at the end.
func Upload(ctx context.Context, target *blockblob.Client, r io.Reader) error {
	var ids []string
	buf := make([]byte, blockSize)
	for n := 0; ; n++ {
		size, err := io.ReadFull(r, buf)
		if errors.Is(err, io.EOF) {
			break
		}
		last := errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fmt.Errorf("reading block %d: %w", n, err)
		}
		id := blockID(n)
		if _, err := target.StageBlock(ctx, id, streaming.NopCloser(bytes.NewReader(buf[:size])), nil); err != nil {
			return fmt.Errorf("staging block %d: %w", n, err)
		}
		ids = append(ids, id)
		if last {
			break
		}
	}
	if _, err := target.CommitBlockList(ctx, ids, nil); err != nil {
		return fmt.Errorf("committing %d blocks: %w", len(ids), err)
	}
	return nil
}
