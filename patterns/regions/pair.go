package regions

import (
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/limit"
)

// Pair is the two regions of an account: what the requests of its clients show about them.
// Use one Pair for all table clients of an account. The zero Pair is ready to use. A Pair is
// safe for concurrent use, and must not be copied.
type Pair struct {
	health  health
	points  latencies
	pages   latencies
	synced  lastSync
	service atomic.Pointer[aztables.ServiceClient]
	idle    sync.Pool // of *race
}

// Attach adds the pair to the options of a table client:
//
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	pair.Attach(&opts.ClientOptions)
//
// It also works without Accelerate, and before it. The pair is part of the transport: it sees
// each try of the SDK after it was signed, and the SDK's retries see only the result. A read
// uses the secondary only if its context permits it, as that of a [Table] or of [Permit] does.
// All other requests are sent unchanged, except that the statistics of the service are
// requested from the secondary, which alone has them.
//
// A transport that is set later needs Attach again. Attach ignores nil options, and options to
// which the pair is attached.
func (p *Pair) Attach(opts *azcore.ClientOptions) {
	if p == nil || opts == nil {
		return
	}
	if t, ok := opts.Transport.(*transport); !ok || t.pair != p {
		opts.Transport = &transport{p, limit.Unlimited(opts.Transport)}
	}
}

// Use lets the pair request the Last Sync Time through service, a client with the options of
// [Pair.Attach] whose credential permits Get Table Service Stats: a shared key, a token, or an
// account SAS with the permission to read at the level of the service. Without it, each
// [Source] of the secondary has an [UnknownAge]. nil has the same effect. No request.
func (p *Pair) Use(service *aztables.ServiceClient) { p.service.Store(service) }
