package tags

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

type List struct{ b *blockblob.Client }

func (l *List) load(ctx context.Context) ([]string, *azcore.ETag, error) {
	r, err := l.b.DownloadStream(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	var tags []string
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&tags); err != nil {
		return nil, nil, err
	}
	return tags, r.ETag, nil
}

// Add puts a tag on the list if it is new. On a conflict it begins again.
func (l *List) Add(ctx context.Context, tag string) error {
	for try := range 5 {
		tags, etag, err := l.load(ctx)
		if err != nil {
			return fmt.Errorf("load tags: %w", err)
		}
		if etag == nil || slices.Contains(tags, tag) {
			return nil
		}
		body, err := json.Marshal(append(tags, tag))
		if err != nil {
			return err
		}
		_, err = l.b.UploadBuffer(ctx, body, &blockblob.UploadBufferOptions{
			AccessConditions: &blob.AccessConditions{
				ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: etag},
			},
		})
		if !bloberror.HasCode(err, bloberror.ConditionNotMet) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(rand.IntN(100<<try)) * time.Millisecond):
		}
	}
	return errors.New("tags are busy")
}
