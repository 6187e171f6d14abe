package payments

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Book struct {
	table *aztables.Client
}

func newID() (string, error) {
	var b [12]byte
	if _, err := crand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// Charge notes one charge of a customer and returns its id.
func (k *Book) Charge(ctx context.Context, customer string, cents int32) (string, error) {
	var last error
	for i := 0; i < 3; i++ {
		id, err := newID() // MISTAKE: an attempt whose answer was lost is booked a second time under a new id
		if err != nil {
			return "", err
		}
		body, err := json.Marshal(map[string]any{"PartitionKey": customer, "RowKey": id, "Cents": cents})
		if err != nil {
			return "", err
		}
		_, err = k.table.AddEntity(ctx, body, nil)
		if err == nil {
			return id, nil
		}
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode < 500 {
			return "", err
		}
		last = err
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second << i):
		}
	}
	return "", fmt.Errorf("charge: %w", last)
}
