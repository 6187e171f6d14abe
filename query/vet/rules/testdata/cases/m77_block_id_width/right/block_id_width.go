package chunks

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

type Upload struct {
	b     *blockblob.Client
	parts []string
}

func blockID(n int) string {
	return base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("part-%06d", n)))
}

// Part stages the next piece of the file.
func (u *Upload) Part(ctx context.Context, piece []byte) error {
	id := blockID(len(u.parts))
	if _, err := u.b.StageBlock(ctx, id, streaming.NopCloser(bytes.NewReader(piece)), nil); err != nil {
		return fmt.Errorf("part %d: %w", len(u.parts), err)
	}
	u.parts = append(u.parts, id)
	return nil
}

// Finish makes a blob of all pieces; it must not exist before.
func (u *Upload) Finish(ctx context.Context, mime string) error {
	_, err := u.b.CommitBlockList(ctx, u.parts, &blockblob.CommitBlockListOptions{
		HTTPHeaders: &blob.HTTPHeaders{BlobContentType: &mime},
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	return err
}
