package govern

import (
	"cmp"
	"context"
	"hash/maphash"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/internal/target"
)

// Options are the options of [New]. The zero value is valid.
type Options struct {
	// RetryShare is the share of the requests that may be retries, at most 1. Zero means
	// 0.1. A negative number means that no request is sent again.
	RetryShare float64

	// Targets are what each account is known to accept from this program. nil means that nothing is known.
	Targets *Targets
}

// Targets are entities, messages and blobs per second. They are where limits begin, and what they
// never exceed: 98 % of a target is used. Refusals lower the limits nevertheless. Zero means that
// the target is not known.
type Targets struct {
	Partition int // of a partition of a table, a queue, or a blob
	Account   int
}

// Governor limits what the requests of its clients use of each partition and each account.
// See the package documentation. It occupies at most 2 MiB, whatever the number of partitions,
// apart from the requests that wait. A Governor is safe for concurrent use. [New] makes it; the
// zero Governor limits nothing.
type Governor struct {
	clock   func() time.Duration // since a fixed time
	seed    maphash.Seed
	flights sync.Pool

	share   float64 // of retries
	courses [limits]course

	mu       sync.Mutex
	limiters limiters
}

// New returns a Governor for all clients of a program. One Governor may serve several accounts;
// each has its own limits. Options that are out of range are an error that matches
// ErrBadOption of package patterns. nil means the zero Options.
func New(opts *Options) (*Governor, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if !(o.RetryShare <= 1) { // or not a number
		return nil, azerr.Errorf("govern: %w: RetryShare is more than 1", azerr.ErrBadOption)
	}
	var t Targets
	if o.Targets != nil {
		t = *o.Targets
	}
	if t.Partition < 0 || t.Account < 0 {
		return nil, azerr.Errorf("govern: %w: Targets: a negative target", azerr.ErrBadOption)
	}
	began := time.Now()
	g := &Governor{
		clock: func() time.Duration { return time.Since(began) },
		seed:  maphash.MakeSeed(),
		share: max(cmp.Or(o.RetryShare, 0.1), 0),
	}
	for i, target := range [limits]int{ofPartition: t.Partition, ofAccount: t.Account} {
		if g.courses[i] = courses[i]; target > 0 {
			g.courses[i] = course{first: targetShare * float64(target), steep: targetShare * float64(target), target: float64(target), tick: time.Millisecond / 20}
		}
	}
	g.limiters.byHash = map[uint64]*limiter{}
	g.flights.New = func() any { return &flight{g: g, request: target.NewRequest()} }
	return g, nil
}

// Attach adds the governor to the options of a client of tables, queues or blobs:
//
//	var opts aztables.ClientOptions
//	patterns.Accelerate(&opts.ClientOptions)
//	governor.Attach(&opts.ClientOptions)
//
// It also works without Accelerate, and before it. The governor is part of the transport, so
// that each try of a request waits for its turn. A transport that is set later needs Attach
// again. Attach ignores nil options, and options to which the governor is attached.
func (g *Governor) Attach(opts *azcore.ClientOptions) {
	if opts == nil || g == nil || g.clock == nil {
		return
	}
	if t, ok := opts.Transport.(*transport); !ok || t.g != g {
		opts.Transport = &transport{g, limit.Unlimited(opts.Transport)}
	}
}

type backgroundKey struct{}

// Background returns a context for requests that yield: while a limit makes requests wait, those
// with such a context share a twentieth of it, and what the others leave.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

type transport struct {
	g     *Governor
	inner policy.Transporter
}

// Do sends the request when its limits permit it.
func (t *transport) Do(raw *http.Request) (*http.Response, error) {
	f := t.g.flights.Get().(*flight)
	if err := f.begin(raw); err != nil {
		t.g.flights.Put(f)
		return nil, err
	}
	resp, err := t.inner.Do(raw)
	return f.end(resp, err)
}
