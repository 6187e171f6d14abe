package setup

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const account = "contosoreports"

const keyVariable = "REPORTS_ACCOUNT_KEY"

// Reports returns the client of the table of reports.
func Reports() (*aztables.Client, error) {
	key := os.Getenv(keyVariable)
	if key == "" {
		return nil, errors.New(keyVariable + " is not set")
	}
	cred, err := aztables.NewSharedKeyCredential(account, key)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	svc, err := aztables.NewServiceClientWithSharedKey("https://"+account+".table.core.windows.net/", cred, &aztables.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Retry: policy.RetryOptions{MaxRetries: 5, MaxRetryDelay: 20 * time.Second},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("service client: %w", err)
	}
	return svc.NewClient("reports"), nil
}
