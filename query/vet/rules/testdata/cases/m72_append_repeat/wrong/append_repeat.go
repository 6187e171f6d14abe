package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
)

type Journal struct {
	b   *appendblob.Client
	pos int64 // only this process writes the blob
}

// Append adds one record; it repeats after a failure of the network or the service.
func (j *Journal) Append(ctx context.Context, record []byte) error {
	var err error
	for try := range 4 {
		_, err = j.b.AppendBlock(ctx, streaming.NopCloser(bytes.NewReader(record)), nil) // MISTAKE: a repeat after a lost answer writes the record twice
		if err == nil {
			j.pos += int64(len(record))
			return nil
		}
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode < 500 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second << try):
		}
	}
	return fmt.Errorf("append: %w", err)
}
