package patterns

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/wire"
)

// Accelerate returns a copy of opts with one more policy. If the aztables client is
// built with it, a [Table] on that client decodes rows straight from the response into T
// and encodes them straight into the request, instead of through the maps of aztables:
//
//	service, err := aztables.NewServiceClient(url, cred, patterns.Accelerate(nil))
//
// Everything works without the policy, more slowly, except for two things that aztables
// cannot send: changing or deleting rows with a quote in a key within a transaction, and
// changing or deleting rows with an empty partition key. These are refused with
// [ErrNeedsAccelerate].
//
// Without the policy, and until the first response shows that it is present, Table
// replaces a policy.WithCaptureResponse in the context, and an Insert replaces a
// policy.WithHTTPHeader.
//
// The policy does not touch other requests of the client. Credentials, retries and tracing
// remain those of opts. Requests are sent through the transport of opts, whose replies are
// limited by [LimitReplies]; a transport that is set later needs LimitReplies again. nil
// means the zero options. Options that already have the policy do not get it twice.
func Accelerate(opts *aztables.ClientOptions) *aztables.ClientOptions {
	return wire.Accelerate(opts)
}
