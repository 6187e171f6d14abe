package cdn

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Site struct {
	files *container.Client
}

// Cache makes browsers keep a file for an hour.
func (s *Site) Cache(ctx context.Context, name string) error {
	b := s.files.NewBlobClient(name)
	props, err := b.GetProperties(ctx, nil)
	if err != nil {
		return fmt.Errorf("properties of %s: %w", name, err)
	}
	headers := blob.HTTPHeaders{} // MISTAKE: Set HTTP headers with the cache control only clears the content type and the other headers of the blob.
	headers.BlobCacheControl = to.Ptr("public, max-age=3600")
	conditions := &blob.AccessConditions{
		ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: props.ETag},
	}
	_, err = b.SetHTTPHeaders(ctx, headers, &blob.SetHTTPHeadersOptions{AccessConditions: conditions})
	if err != nil {
		return fmt.Errorf("headers of %s: %w", name, err)
	}
	return nil
}

// CacheAll does the same for all files below a folder.
func (s *Site) CacheAll(ctx context.Context, folder string) error {
	prefix := strings.TrimSuffix(folder, "/") + "/"
	pager := s.files.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("listing %s: %w", prefix, err)
		}
		for _, item := range page.Segment.BlobItems {
			if err := s.Cache(ctx, *item.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
