package links

import (
	"fmt"
	"regexp"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
)

var blobName = regexp.MustCompile(`^[a-z0-9][a-z0-9./-]{0,200}$`)

type Linker struct {
	documents *container.Client
}

// Download returns a link to a document for somebody without an account.
func (l *Linker) Download(name string) (string, error) {
	if !blobName.MatchString(name) {
		return "", fmt.Errorf("bad document name %q", name)
	}
	now := time.Now().UTC()
	opts := &blob.GetSASURLOptions{StartTime: to.Ptr(now.Add(-10 * time.Minute))}
	expiry := now.Add(30 * time.Minute)
	link, err := l.documents.NewBlobClient(name).GetSASURL(sas.BlobPermissions{Read: true}, expiry, opts)
	if err != nil {
		return "", fmt.Errorf("link to %s: %w", name, err)
	}
	return link, nil
}
