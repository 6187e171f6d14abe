package avatars

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

const maxAvatar = 2 << 20

type Avatars struct {
	blobs *container.Client
}

// Avatar returns the picture that a user uploaded directly with a SAS.
func (a *Avatars) Avatar(ctx context.Context, user string) ([]byte, string, error) {
	resp, err := a.blobs.NewBlobClient("avatar/"+user).DownloadStream(ctx, nil)
	if err != nil {
		return nil, "", fmt.Errorf("avatar of %s: %w", user, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAvatar+1))
	if err != nil {
		return nil, "", err
	}
	if len(data) > maxAvatar {
		return nil, "", errors.New("avatar is too large")
	}
	mime := "application/octet-stream"
	if resp.ContentType != nil {
		mime = *resp.ContentType
	}
	return data, mime, nil
}
