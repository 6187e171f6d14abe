package right

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type FileService struct {
	client *container.Client
}

var ErrForeign = errors.New("file belongs to another tenant")

const tenantKey = "tenant"

func (s *FileService) Put(ctx context.Context, tenant, name string, data []byte) error {
	_, err := s.client.NewBlockBlobClient(name).UploadBuffer(ctx, data, &blockblob.UploadBufferOptions{
		Metadata: map[string]*string{tenantKey: &tenant},
	})
	return err
}

func tenantOf(meta map[string]*string) string {
	for k, v := range meta {
		if strings.EqualFold(k, tenantKey) && v != nil {
			return *v
		}
	}
	return ""
}

// Delete removes a file if it belongs to the tenant.
func (s *FileService) Delete(ctx context.Context, tenant, name string) error {
	c := s.client.NewBlobClient(name)
	p, err := c.GetProperties(ctx, nil)
	if err != nil {
		return fmt.Errorf("look up %s: %w", name, err)
	}
	if tenantOf(p.Metadata) != tenant {
		return ErrForeign
	}
	_, err = c.Delete(ctx, &blob.DeleteOptions{
		DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude),
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: p.ETag},
		},
	})
	return err
}
