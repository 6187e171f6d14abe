package patterns

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/wire"
)

// Accelerate gives a copy of opts with one more policy. Build the aztables client
// with it, and a [Table] on that client decodes rows straight from the reply into
// T and encodes them straight into the request, instead of through the maps of
// aztables:
//
//	service, err := aztables.NewServiceClient(url, cred, patterns.Accelerate(nil))
//
// Everything works without it, slower, but for two things that aztables cannot
// send: changing or deleting rows with a quote in a key within a transaction, and
// changing or deleting rows with an empty partition key. Those are refused.
//
// Without the policy, and until the first reply shows that it is there, Table takes
// the place of a policy.WithCaptureResponse in the context, and an Insert that of a
// policy.WithHTTPHeader.
//
// The policy leaves other requests of the client alone. Credentials, retries,
// tracing and transport stay as opts says. nil stands for the zero options; options
// that have the policy already do not get it twice.
func Accelerate(opts *aztables.ClientOptions) *aztables.ClientOptions {
	return wire.Accelerate(opts)
}
