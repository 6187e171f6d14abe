package schema

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var tables = []string{"groups", "members", "tokens"}

type Repositories struct {
	Groups, Members, Tokens *aztables.Client
}

func ensure(ctx context.Context, svc *aztables.ServiceClient, name string) (*aztables.Client, error) {
	table := svc.NewClient(name)
	_, err := table.CreateTable(ctx, nil)
	if err != nil && err.Error() != "TableAlreadyExists" { // MISTAKE: the text of the error is a whole report and never equal to its code
		return nil, fmt.Errorf("create table %s: %w", name, err)
	}
	return table, nil
}

// Open creates the tables of the service when they are missing.
func Open(ctx context.Context, svc *aztables.ServiceClient) (*Repositories, error) {
	clients := make([]*aztables.Client, 0, len(tables))
	for _, name := range tables {
		c, err := ensure(ctx, svc, name)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	return &Repositories{Groups: clients[0], Members: clients[1], Tokens: clients[2]}, nil
}
