package factory

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Factory struct {
	Account string
	Cred    azcore.TokenCredential
}

func (f *Factory) options() azcore.ClientOptions {
	return azcore.ClientOptions{
		Retry: policy.RetryOptions{
			MaxRetries:    4,
			TryTimeout:    35 * time.Second,
			RetryDelay:    time.Second,
			MaxRetryDelay: 30 * time.Second,
		},
	}
}

func (f *Factory) url(service string) string {
	return fmt.Sprintf("https://%s.%s.core.windows.net", f.Account, service)
}

func (f *Factory) Table(name string) (*aztables.Client, error) {
	svc, err := aztables.NewServiceClient(f.url("table"), f.Cred, &aztables.ClientOptions{ClientOptions: f.options()})
	if err != nil {
		return nil, err
	}
	return svc.NewClient(name), nil
}

func (f *Factory) Queue(name string) (*azqueue.QueueClient, error) {
	svc, err := azqueue.NewServiceClient(f.url("queue"), f.Cred, &azqueue.ClientOptions{ClientOptions: f.options()})
	if err != nil {
		return nil, err
	}
	return svc.NewQueueClient(name), nil
}
