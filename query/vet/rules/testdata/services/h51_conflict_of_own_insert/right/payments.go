package payments

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrPaid = errors.New("the invoice has been paid already")

type Payment struct {
	PartitionKey string
	RowKey       string
	Cents        int32
	Writer       string
}

type Ledger struct {
	table *aztables.Client
}

// Pay books the payment of an invoice, which may be done once.
func (l *Ledger) Pay(ctx context.Context, customer, invoice string, cents int32) error {
	p := Payment{PartitionKey: customer, RowKey: invoice, Cents: cents}
	p.Writer = uuid.NewString()
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = l.table.AddEntity(ctx, raw, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusConflict {
		resp, err := l.table.GetEntity(ctx, customer, invoice, nil)
		if err != nil {
			return err
		}
		var there Payment
		if err := json.Unmarshal(resp.Value, &there); err != nil {
			return err
		}
		if there.Writer != p.Writer {
			return ErrPaid
		}
		return nil
	}
	return err
}
