package checkfirst

import (
	"context"
	"errors"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
)

var errTaken = errors.New("taken")

func claim(ctx context.Context, table *aztables.Client, name string, body []byte) error {
	if _, err := table.GetEntity(ctx, name, "claim", nil); err == nil {
		return errTaken
	} else if e := (*azcore.ResponseError)(nil); !errors.As(err, &e) || e.StatusCode != 404 {
		return err
	}
	_, err := table.UpsertEntity(ctx, body, nil) // want `another process can write between the look whether this exists and the write.*checkfirst, error`
	return err
}

func publish(ctx context.Context, to *blockblob.Client, file *os.File) error {
	_, err := to.GetProperties(ctx, nil)
	if !bloberror.HasCode(err, bloberror.BlobNotFound) {
		return errors.Join(err, errTaken)
	}
	_, err = to.UploadFile(ctx, file, nil) // want `another process can write`
	return err
}

func publishOnce(ctx context.Context, blobs *blockblob.Client, file *os.File) error {
	_, err := blobs.UploadFile(ctx, file, &blockblob.UploadFileOptions{
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}},
	})
	return err
}

func open(ctx context.Context, log *appendblob.Client) error {
	_, err := log.Create(ctx, nil) // want `this empties an append blob that exists`
	return err
}

func openOnce(ctx context.Context, log *appendblob.Client) error {
	_, err := log.Create(ctx, &appendblob.CreateOptions{
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}},
	})
	return err
}

type names struct{ table *aztables.Client }

func (n *names) exists(ctx context.Context, name string) (bool, error) {
	_, err := n.table.GetEntity(ctx, name, "claim", nil)
	if e := (*azcore.ResponseError)(nil); errors.As(err, &e) && e.StatusCode == 404 {
		return false, nil
	}
	return err == nil, err
}

func (n *names) claim(ctx context.Context, name string, body []byte) error {
	if taken, err := n.exists(ctx, name); err != nil || taken {
		return errors.Join(err, errTaken)
	}
	_, err := n.table.UpsertEntity(ctx, body, nil) // want `another process can write`
	return err
}

func (n *names) get(ctx context.Context, name string) ([]byte, error) {
	reply, err := n.table.GetEntity(ctx, name, "claim", nil)
	return reply.Value, err
}

func (n *names) put(ctx context.Context, body []byte) error {
	_, err := n.table.UpsertEntity(ctx, body, nil)
	return err
}

func (n *names) create(ctx context.Context, name string, body []byte) error {
	if _, err := n.get(ctx, name); err == nil {
		return errTaken
	}
	return n.put(ctx, body) // want `another process can write`
}
