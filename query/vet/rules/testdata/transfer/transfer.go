package transfer

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type row struct {
	RowKey string
	Open   bool
	Rank   int32
}

func number(ctx context.Context, table *aztables.Client) (n int, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")}) // want `the rows are only counted`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += len(page.Entities)
	}
	return n, nil
}

func urgent(ctx context.Context, table *aztables.Client, keep func(row) bool) (all []row, err error) {
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var r row
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, err
			}
			if r.Rank < 8 { // want `all rows are sent, and the program drops some by a property`
				continue
			}
			if keep(r) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func hour(ctx context.Context, files *container.Client, prefix string) (all []string, err error) {
	pager := files.NewListBlobsFlatPager(nil) // want `all blobs of the container are listed`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, b := range page.Segment.BlobItems {
			if strings.HasPrefix(*b.Name, prefix) {
				all = append(all, *b.Name)
			}
		}
	}
	return all, nil
}

func tail(ctx context.Context, file *blob.Client, skip int64) ([]byte, error) {
	reply, err := file.DownloadStream(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if _, err := io.CopyN(io.Discard, reply.Body, skip); err != nil { // want `what was downloaded is thrown away`
		return nil, err
	}
	return io.ReadAll(reply.Body)
}
