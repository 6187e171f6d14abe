package publishdoc

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

var ErrPublished = errors.New("this version is published already")

type Archive struct {
	docs *container.Client
}

func name(doc string, version int) string { return fmt.Sprintf("%s/v%04d.pdf", doc, version) }

// Publish stores a version of a document; a version never changes. On
// ErrPublished the caller compares the stored document with its own.
func (a *Archive) Publish(ctx context.Context, doc string, version int, pdf []byte) error {
	b := a.docs.NewBlockBlobClient(name(doc, version))
	opts := &blockblob.UploadBufferOptions{
		HTTPHeaders: &blob.HTTPHeaders{BlobContentType: contentType()},
	}
	_, err := b.GetProperties(ctx, nil)
	if err == nil {
		return ErrPublished
	}
	if !bloberror.HasCode(err, bloberror.BlobNotFound) {
		return err
	}
	_, err = b.UploadBuffer(ctx, pdf, opts) // MISTAKE: another host may publish the version after the look, and this overwrites it
	if err != nil {
		return fmt.Errorf("publish %s: %w", name(doc, version), err)
	}
	return nil
}

func contentType() *string {
	t := "application/pdf"
	return &t
}
