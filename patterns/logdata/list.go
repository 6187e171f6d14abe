package logdata

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

func onlyNew() *azblob.AccessConditions {
	return &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
}

func plainText() *azblob.HTTPHeaders {
	return &azblob.HTTPHeaders{BlobContentType: to.Ptr("text/plain; charset=utf-8")}
}

// pages lists the blobs whose names begin with prefix, up to 5,000 a request.
func pages(ctx context.Context, client *container.Client, prefix string, metadata bool) iter.Seq2[[]*container.BlobItem, error] {
	return func(yield func([]*container.BlobItem, error) bool) {
		pager := client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			Prefix:  &prefix,
			Include: container.ListBlobsInclude{Metadata: metadata},
		})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				yield(nil, interrupted(ctx, failed("list", "", err, false)))
				return
			}
			if page.Segment == nil {
				continue
			}
			if !yield(page.Segment.BlobItems, nil) {
				return
			}
		}
	}
}
