package inbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
)

type Inbox struct {
	c   *container.Client
	now func() time.Time
}

// UploadURL lets a partner put one file into the inbox during the next half hour.
func (i *Inbox) UploadURL(partner, file string) (string, error) {
	if partner == "" || strings.ContainsAny(file, "/\\") {
		return "", errors.New("bad name")
	}
	start := i.now().UTC().Add(-5 * time.Minute)
	end := i.now().UTC().Add(30 * time.Minute)
	b := i.c.NewBlobClient(partner + "/" + file)
	u, err := b.GetSASURL(sas.BlobPermissions{Create: true}, end, &blob.GetSASURLOptions{StartTime: &start})
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return u, nil
}
