package concat

import (
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Joiner struct {
	parts *container.Client
}

// Join writes all blobs of a folder to w in the order of their names.
func (j *Joiner) Join(ctx context.Context, folder string, w io.Writer) (int64, error) {
	prefix := folder + "/"
	pager := j.parts.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	var total int64
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return total, fmt.Errorf("listing %s: %w", folder, err)
		}
		for _, item := range page.Segment.BlobItems {
			resp, err := j.parts.NewBlobClient(*item.Name).DownloadStream(ctx, nil)
			if err != nil {
				return total, fmt.Errorf("opening %s: %w", *item.Name, err)
			}
			n, err := io.Copy(w, resp.Body)
			resp.Body.Close()
			total += n
			if err != nil {
				return total, fmt.Errorf("copying %s: %w", *item.Name, err)
			}
		}
	}
	return total, nil
}
