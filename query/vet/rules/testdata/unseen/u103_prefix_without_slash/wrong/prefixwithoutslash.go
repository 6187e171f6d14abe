package wrong

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Eraser struct {
	files *container.Client
	log   *slog.Logger
}

func home(user int) string {
	return fmt.Sprintf("users/%d", user) // MISTAKE: also a prefix of users/120 for user 12
}

// Erase removes all files of a user.
func (e *Eraser) Erase(ctx context.Context, user int) (int, error) {
	prefix := home(user)
	n := 0
	pager := e.files.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return n, fmt.Errorf("list %s: %w", prefix, err)
		}
		for _, item := range page.Segment.BlobItems {
			_, err := e.files.NewBlobClient(*item.Name).Delete(ctx, &blob.DeleteOptions{
				DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude),
			})
			if bloberror.HasCode(err, bloberror.BlobNotFound) {
				continue
			}
			if err != nil {
				return n, fmt.Errorf("delete %s: %w", *item.Name, err)
			}
			n++
		}
	}
	e.log.Info("files erased", "user", user, "count", n)
	return n, nil
}
