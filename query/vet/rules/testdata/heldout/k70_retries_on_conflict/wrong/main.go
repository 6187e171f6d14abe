package tableclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// New connects to the table service with the settings of our services.
func New(endpoint string, cred azcore.TokenCredential) (*aztables.ServiceClient, error) {
	options := &aztables.ClientOptions{ClientOptions: policy.ClientOptions{
		Retry: policy.RetryOptions{
			MaxRetries: 4,
			RetryDelay: 800 * time.Millisecond,
			StatusCodes: []int{
				http.StatusRequestTimeout,
				http.StatusTooManyRequests,
				http.StatusConflict, http.StatusPreconditionFailed, // MISTAKE: The retry policy of the client repeats 409 and 412, which never succeed when sent again unchanged.
				http.StatusInternalServerError,
				http.StatusBadGateway,
				http.StatusServiceUnavailable,
				http.StatusGatewayTimeout,
			},
		},
	}}
	svc, err := aztables.NewServiceClient(endpoint, cred, options)
	if err != nil {
		return nil, fmt.Errorf("table service: %w", err)
	}
	return svc, nil
}

// Insert adds a row and fails if there is one with the same key.
func Insert(ctx context.Context, table *aztables.Client, tenant, id uuid.UUID, name string) error {
	body, err := json.Marshal(map[string]string{"PartitionKey": tenant.String(), "RowKey": id.String(), "Name": name})
	if err != nil {
		return err
	}
	if _, err := table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("inserting %s: %w", id, err)
	}
	return nil
}
