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
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
)

type Journal struct {
	b   *appendblob.Client
	pos int64 // only this process writes the blob
}

// Append adds one record; it repeats after a failure of the network or the service.
func (j *Journal) Append(ctx context.Context, record []byte) error {
	var err error
	for try := range 4 {
		_, err = j.b.AppendBlock(ctx, streaming.NopCloser(bytes.NewReader(record)), &appendblob.AppendBlockOptions{
			AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: &j.pos},
		})
		if bloberror.HasCode(err, bloberror.AppendPositionConditionNotMet) {
			p, perr := j.b.GetProperties(ctx, nil)
			if perr == nil && *p.ContentLength == j.pos+int64(len(record)) {
				err = nil // an attempt before was written
			}
		}
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
