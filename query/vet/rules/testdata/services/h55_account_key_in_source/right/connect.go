package connect

import (
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const (
	account = "contosoparts"
)

type Tables struct {
	Parts  *aztables.Client
	Orders *aztables.Client
}

func endpoint() string {
	if e := os.Getenv("TABLES_ENDPOINT"); e != "" {
		return e
	}
	return fmt.Sprintf("https://%s.table.core.windows.net", account)
}

// Open connects to the tables of the shop.
func Open() (*Tables, error) {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	svc, err := aztables.NewServiceClient(endpoint(), cred, nil)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Tables{
		Parts:  svc.NewClient("parts"),
		Orders: svc.NewClient("orders"),
	}, nil
}
