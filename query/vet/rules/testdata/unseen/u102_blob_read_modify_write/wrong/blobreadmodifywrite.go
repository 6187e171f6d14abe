package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
)

type Release struct {
	Version string
	Digest  string
}

type Channel struct {
	client *azblob.Client
	name   string
}

const indexBlob = "index.json"

func (c *Channel) load(ctx context.Context) (list []Release, tag *azcore.ETag, err error) {
	resp, err := c.client.DownloadStream(ctx, c.name, indexBlob, nil)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	err = json.NewDecoder(resp.Body).Decode(&list)
	return list, resp.ETag, err
}

// Publish adds a release to the index of the channel.
func (c *Channel) Publish(ctx context.Context, r Release) error {
	list, _, err := c.load(ctx)
	if err != nil {
		return fmt.Errorf("read index: %w", err)
	}
	list = append(list, r)
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	opts := &azblob.UploadBufferOptions{
		HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
	}
	_, err = c.client.UploadBuffer(ctx, c.name, indexBlob, raw, opts) // MISTAKE: overwrites the index whatever happened since it was read
	return err
}
