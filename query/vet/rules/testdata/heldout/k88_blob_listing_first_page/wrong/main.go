package quota

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"
)

type Usage struct {
	Blobs int
	Bytes int64
}

type Accountant struct {
	uploads *container.Client
	limit   int64
}

// Of adds up what a customer has uploaded.
func (a *Accountant) Of(ctx context.Context, customer uuid.UUID) (Usage, error) {
	prefix := customer.String() + "/"
	pager := a.uploads.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	var u Usage
	if pager.More() { // MISTAKE: Only the first page of the listing is summed up, so containers with more than 5000 blobs are counted too small.
		page, err := pager.NextPage(ctx)
		if err != nil {
			return u, fmt.Errorf("listing uploads of %s: %w", customer, err)
		}
		for _, b := range page.Segment.BlobItems {
			u.Blobs++
			if b.Properties != nil && b.Properties.ContentLength != nil {
				u.Bytes += *b.Properties.ContentLength
			}
		}
	}
	return u, nil
}

// Allows tells whether a customer may upload n more bytes.
func (a *Accountant) Allows(ctx context.Context, customer uuid.UUID, n int64) (bool, error) {
	u, err := a.Of(ctx, customer)
	if err != nil {
		return false, err
	}
	return u.Bytes+n <= a.limit, nil
}
