package pageerror

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

func names(ctx context.Context, blobs *azblob.Client) (all []string) {
	pager := blobs.NewListBlobsFlatPager("container", nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil { // want `an error is treated as the end of the rows`
			break
		}
		for _, blob := range page.Segment.BlobItems {
			all = append(all, *blob.Name)
		}
	}
	return all
}

func skip(ctx context.Context, table *aztables.Client, filter string) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		pager.NextPage(ctx) // want `the error of NextPage is ignored`
	}
}
