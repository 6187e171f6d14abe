package boot

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Env struct {
	Tables *aztables.ServiceClient
	Queues *azqueue.ServiceClient
}

// Start makes the clients of the program.
func Start(logger *slog.Logger) (*Env, error) {
	conn := os.Getenv("STORAGE_CONNECTION")
	if conn == "" {
		return nil, errors.New("STORAGE_CONNECTION is not set")
	}
	logger.Info("connecting to storage")
	t, err := aztables.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		return nil, fmt.Errorf("tables: %w", err)
	}
	q, err := azqueue.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		return nil, fmt.Errorf("queues: %w", err)
	}
	return &Env{Tables: t, Queues: q}, nil
}
