package restore

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Restorer struct {
	c *container.Client
}

// Restore writes a backup to a file; the file appears only when it is complete.
func (r *Restorer) Restore(ctx context.Context, name, path string) (err error) {
	resp, err := r.c.NewBlobClient(name).DownloadStream(ctx, nil)
	if err != nil {
		return fmt.Errorf("backup %s: %w", name, err)
	}
	body := resp.NewRetryReader(ctx, &blob.RetryReaderOptions{MaxRetries: 5})
	defer body.Close()
	tmp, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	io.Copy(tmp, body) // MISTAKE: a broken download leaves a short file that is taken as complete
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
