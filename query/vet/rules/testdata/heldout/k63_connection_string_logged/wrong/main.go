package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Clients struct {
	Orders *aztables.Client
	Events *azqueue.QueueClient
}

// Connect builds the clients from the environment.
func Connect(ctx context.Context, log *slog.Logger) (*Clients, error) {
	conn := os.Getenv("STORAGE_CONNECTION")
	if conn == "" {
		return nil, errors.New("STORAGE_CONNECTION is not set")
	}
	log.Info("connecting to storage", "connection", conn) // MISTAKE: The connection string with the account key is written to the log.

	tables, err := aztables.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		return nil, fmt.Errorf("table service: %w", err)
	}
	events, err := azqueue.NewQueueClientFromConnectionString(conn, "order-events", nil)
	if err != nil {
		return nil, fmt.Errorf("queue client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := events.GetProperties(ctx, nil); err != nil {
		return nil, fmt.Errorf("queue not reachable: %w", err)
	}
	return &Clients{Orders: tables.NewClient("orders"), Events: events}, nil
}
