package right

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func retryPolicy() policy.RetryOptions {
	return policy.RetryOptions{
		MaxRetries: 5,
		RetryDelay: 500 * time.Millisecond,
		StatusCodes: []int{
			http.StatusRequestTimeout,
			http.StatusTooManyRequests,
			http.StatusInternalServerError,
			http.StatusBadGateway,
			http.StatusServiceUnavailable,
			http.StatusGatewayTimeout,
		},
	}
}

type BidStore struct{ auctions *aztables.Client }

func Open(account string, cred azcore.TokenCredential) (*BidStore, error) {
	opts := aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: retryPolicy()}}
	svc, err := aztables.NewServiceClient("https://"+account+".table.core.windows.net", cred, &opts)
	if err != nil {
		return nil, err
	}
	return &BidStore{auctions: svc.NewClient("auctions")}, nil
}

var ErrOutbid = errors.New("another bid was faster")

// Bid writes a bid for the version of the auction that the bidder has seen.
func (b *BidStore) Bid(ctx context.Context, hall, lot, bidder string, cents int32, seen azcore.ETag) error {
	raw, err := json.Marshal(map[string]any{"PartitionKey": hall, "RowKey": lot, "Bidder": bidder, "Cents": cents})
	if err != nil {
		return err
	}
	_, err = b.auctions.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{IfMatch: &seen, UpdateMode: aztables.UpdateModeMerge})
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
		return ErrOutbid
	}
	return err
}
