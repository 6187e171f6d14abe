package scans

import (
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Archive struct {
	c *container.Client
}

// Open prepares the container of the patients' scans.
func Open(ctx context.Context, svc *azblob.Client) (*Archive, error) {
	const name = "patient-scans"
	_, err := svc.CreateContainer(ctx, name, &azblob.CreateContainerOptions{
		Metadata: map[string]*string{"owner": to.Ptr("radiology")},
	})
	if err != nil && !bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	return &Archive{c: svc.ServiceClient().NewContainerClient(name)}, nil
}

// Store uploads a new scan from a reader.
func (a *Archive) Store(ctx context.Context, patient, scan string, src io.Reader) error {
	b := a.c.NewBlockBlobClient(patient + "/" + scan + ".dcm")
	_, err := b.UploadStream(ctx, src, &blockblob.UploadStreamOptions{
		BlockSize:   4 << 20,
		Concurrency: 3,
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	if err != nil {
		return fmt.Errorf("scan %s of %s: %w", scan, patient, err)
	}
	return nil
}
