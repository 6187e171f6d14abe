package wrong

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Config struct {
	Endpoint    string
	Interactive bool
}

func options(cfg Config) *aztables.ClientOptions {
	o := &aztables.ClientOptions{}
	o.Telemetry.ApplicationID = "kiosk"
	if cfg.Interactive {
		// the screen has its own retry button, a failure must show immediately
		o.Retry = policy.RetryOptions{
			MaxRetries: 0, // MISTAKE: zero means the default, which is three retries
			TryTimeout: 3 * time.Second,
		}
	} else {
		o.Retry.MaxRetries = 6
		o.Retry.MaxRetryDelay = 30 * time.Second
	}
	return o
}

// Connect opens the menu table of the kiosk.
func Connect(cfg Config, cred azcore.TokenCredential) (*aztables.Client, error) {
	svc, err := aztables.NewServiceClient(cfg.Endpoint, cred, options(cfg))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cfg.Endpoint, err)
	}
	return svc.NewClient("menu"), nil
}

func Dish(ctx context.Context, c *aztables.Client, day, id string) ([]byte, error) {
	r, err := c.GetEntity(ctx, day, id, nil)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}
