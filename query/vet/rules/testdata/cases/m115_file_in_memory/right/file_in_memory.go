package dumps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Uploader struct {
	c      *container.Client
	prefix string
}

// Upload sends a database dump of many gigabytes; dumps have new names each night.
func (u *Uploader) Upload(ctx context.Context, path string) error {
	b := u.c.NewBlockBlobClient(u.prefix + "/" + filepath.Base(path))
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = b.UploadFile(ctx, f, &blockblob.UploadFileOptions{
		BlockSize:   16 << 20,
		Concurrency: 4,
	})
	if err != nil {
		return fmt.Errorf("upload %s: %w", path, err)
	}
	return nil
}
