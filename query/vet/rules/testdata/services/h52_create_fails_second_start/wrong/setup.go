package setup

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Config struct {
	Endpoint string
	Tables   []string
}

// Start connects to the account and makes its tables; it runs whenever the
// service starts.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (map[string]*aztables.Client, error) {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	svc, err := aztables.NewServiceClient(cfg.Endpoint, cred, nil)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	clients := make(map[string]*aztables.Client, len(cfg.Tables))
	for _, name := range cfg.Tables {
		if _, err := svc.CreateTable(ctx, name, nil); err != nil { // MISTAKE: from the second start on the tables exist and the service stops here
			return nil, fmt.Errorf("create table %s: %w", name, err)
		}
		log.Info("table ready", "name", name)
		clients[name] = svc.NewClient(name)
	}
	return clients, nil
}
