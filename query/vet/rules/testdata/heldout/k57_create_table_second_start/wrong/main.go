package bootstrap

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var tables = []string{"customers", "invoices", "payments"}

type Storage struct {
	Customers *aztables.Client
	Invoices  *aztables.Client
	Payments  *aztables.Client
}

// Open makes sure that all tables exist. It is called when the service starts.
func Open(ctx context.Context, endpoint string, cred azcore.TokenCredential) (*Storage, error) {
	svc, err := aztables.NewServiceClient(endpoint, cred, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	for _, name := range tables {
		_, err := svc.CreateTable(ctx, name, nil)
		if err != nil { // MISTAKE: The table is created at every start and its existence counts as a failure, so the second start aborts.
			return nil, fmt.Errorf("creating table %s: %w", name, err)
		}
	}
	return &Storage{
		Customers: svc.NewClient("customers"),
		Invoices:  svc.NewClient("invoices"),
		Payments:  svc.NewClient("payments"),
	}, nil
}
