package connect

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const (
	account = "contosoparts"
	secret  = "bm90IGEgcmVhbCBrZXksIG9ubHkgYW4gZXhhbXBsZSBmb3IgYSB0ZXN0IG9mIGNvZGUgcmV2aWV3Lg==" // MISTAKE: an account key in the source is open to all who read it and cannot be changed without a release
)

type Tables struct {
	Parts  *aztables.Client
	Orders *aztables.Client
}

func endpoint() string {
	return fmt.Sprintf("https://%s.table.core.windows.net", account)
}

// Open connects to the tables of the shop.
func Open() (*Tables, error) {
	cred, err := aztables.NewSharedKeyCredential(account, secret)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	svc, err := aztables.NewServiceClientWithSharedKey(endpoint(), cred, nil)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Tables{
		Parts:  svc.NewClient("parts"),
		Orders: svc.NewClient("orders"),
	}, nil
}
