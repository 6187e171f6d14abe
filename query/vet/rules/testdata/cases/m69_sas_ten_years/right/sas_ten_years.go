package invoices

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
)

type Links struct {
	files *container.Client
}

const validity = 15 * time.Minute

// For returns the address of an invoice for the mail to a customer's browser session.
func (l *Links) For(customer, number string) (string, error) {
	if customer == "" || number == "" {
		return "", errors.New("customer and number are needed")
	}
	now := time.Now().UTC()
	b := l.files.NewBlobClient(customer + "/" + number + ".pdf")
	u, err := b.GetSASURL(sas.BlobPermissions{Read: true}, now.Add(validity), &blob.GetSASURLOptions{
		StartTime: to.Ptr(now.Add(-5 * time.Minute)),
	})
	if err != nil {
		return "", fmt.Errorf("sign %s/%s: %w", customer, number, err)
	}
	return u, nil
}

func (l *Links) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u, err := l.For(r.Header.Get("X-Customer"), r.PathValue("number"))
	if err != nil {
		http.Error(w, "no such invoice", http.StatusNotFound)
		return
	}
	http.Redirect(w, r, u, http.StatusSeeOther)
}
