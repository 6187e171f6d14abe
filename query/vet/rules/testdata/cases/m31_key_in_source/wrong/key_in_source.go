package setup

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const account = "contosoreports"

const accountKey = "bm90LWEtcmVhbC1rZXktYnV0LWl0LWxvb2tzLWxpa2Utb25lLWZvci1hLXRlc3QtY29ycHVzLTAxMjM0NQ==" // MISTAKE: the account key is part of the program

// Reports returns the client of the table of reports.
func Reports() (*aztables.Client, error) {
	cred, err := aztables.NewSharedKeyCredential(account, accountKey)
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
