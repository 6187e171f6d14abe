package publishdoc

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
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
	opts.AccessConditions = &blob.AccessConditions{
		ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
	}
	_, err := b.UploadBuffer(ctx, pdf, opts)
	if bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet) {
		return ErrPublished
	}
	if err != nil {
		return fmt.Errorf("publish %s: %w", name(doc, version), err)
	}
	return nil
}

func contentType() *string {
	t := "application/pdf"
	return &t
}
