package right

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Deployer struct {
	state *container.Client
	me    string
}

var ErrLocked = errors.New("another deployment is running")

func (d *Deployer) lock(ctx context.Context, stack string) error {
	c := d.state.NewBlockBlobClient(stack + ".lock")
	body := streaming.NopCloser(strings.NewReader(d.me))
	_, err := c.Upload(ctx, body, &blockblob.UploadOptions{
		HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("text/plain")},
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	if bloberror.HasCode(err, bloberror.BlobAlreadyExists) {
		return ErrLocked
	}
	return err
}

func (d *Deployer) unlock(ctx context.Context, stack string) error {
	_, err := d.state.NewBlobClient(stack+".lock").Delete(ctx, nil)
	return err
}

// Deploy runs apply while holding the lock of the stack.
func (d *Deployer) Deploy(ctx context.Context, stack string, apply func(context.Context) error) (err error) {
	if err := d.lock(ctx, stack); err != nil {
		return fmt.Errorf("lock %s: %w", stack, err)
	}
	defer func() {
		err = errors.Join(err, d.unlock(context.WithoutCancel(ctx), stack))
	}()
	return apply(ctx)
}
