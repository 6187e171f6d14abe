package invoicefiles

import (
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"
)

type InvoiceFiles struct {
	invoices *container.Client
}

func New(ctx context.Context, invoices *container.Client) (*InvoiceFiles, error) {
	options := &container.CreateOptions{Access: to.Ptr(container.PublicAccessTypeBlob)} // MISTAKE: The container with invoices is created for anonymous public access.
	_, err := invoices.Create(ctx, options)
	if err != nil && !bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil, fmt.Errorf("creating container: %w", err)
	}
	return &InvoiceFiles{invoices: invoices}, nil
}

// Store saves the PDF of an invoice.
func (f *InvoiceFiles) Store(ctx context.Context, customer, invoice uuid.UUID, pdf io.Reader) error {
	name := fmt.Sprintf("%s/%s.pdf", customer, invoice)
	if _, err := f.invoices.NewBlockBlobClient(name).UploadStream(ctx, pdf, nil); err != nil {
		return fmt.Errorf("storing invoice %s: %w", invoice, err)
	}
	return nil
}
