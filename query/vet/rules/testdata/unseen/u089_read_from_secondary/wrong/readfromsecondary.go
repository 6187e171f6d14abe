package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Gateway struct {
	payments *aztables.Client
	replica  *aztables.Client
	capture  func(ctx context.Context, id string, cents int32) error
}

func NewGateway(account string, cred azcore.TokenCredential, capture func(context.Context, string, int32) error) (*Gateway, error) {
	main, err := aztables.NewClient("https://"+account+".table.core.windows.net/payments", cred, nil)
	if err != nil {
		return nil, err
	}
	second, err := aztables.NewClient("https://"+account+"-secondary.table.core.windows.net/payments", cred, nil)
	if err != nil {
		return nil, err
	}
	return &Gateway{payments: main, replica: second, capture: capture}, nil
}

type payment struct {
	aztables.Entity
	State string
	Cents int32
}

// Capture takes the money of an authorised payment.
func (g *Gateway) Capture(ctx context.Context, merchant, id string) error {
	resp, err := g.replica.GetEntity(ctx, merchant, id, nil) // MISTAKE: the secondary lags behind, state and ETag may be old
	if err != nil {
		return err
	}
	var p payment
	if err := json.Unmarshal(resp.Value, &p); err != nil {
		return err
	}
	if p.State != "authorised" {
		return fmt.Errorf("payment %s is %s", id, p.State)
	}
	p.State = "capturing"
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	opts := &aztables.UpdateEntityOptions{IfMatch: &resp.ETag, UpdateMode: aztables.UpdateModeMerge}
	if _, err := g.payments.UpdateEntity(ctx, raw, opts); err != nil {
		return err
	}
	return g.capture(ctx, id, p.Cents)
}

// Report reads a payment for the statistics, from wherever it is cheap.
func (g *Gateway) Report(ctx context.Context, merchant, id string) ([]byte, error) {
	resp, err := g.replica.GetEntity(ctx, merchant, id, nil)
	return resp.Value, err
}
