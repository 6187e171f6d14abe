package lines

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const (
	ordersTable = "orders"
	linesTable  = "order-lines" // MISTAKE: table names have letters and digits only
)

type DB struct {
	orders, lines *aztables.Client
}

// Open makes sure that both tables exist.
func Open(ctx context.Context, svc *aztables.ServiceClient) (*DB, error) {
	db := &DB{orders: svc.NewClient(ordersTable), lines: svc.NewClient(linesTable)}
	for _, c := range []*aztables.Client{db.orders, db.lines} {
		_, err := c.CreateTable(ctx, nil)
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.ErrorCode == string(aztables.TableAlreadyExists) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("create table: %w", err)
		}
	}
	return db, nil
}
