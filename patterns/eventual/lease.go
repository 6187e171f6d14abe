package eventual

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Lease is a row that one process at a time holds: the leader of a service, or the owner of a partition of its work. If the holder
// dies, another one takes the lease over after Duration. It is safe for concurrent use; each call of Run competes with all others.
//
// # Fencing
//
// A process that is paused does not notice that its lease has expired. So a lease alone does not keep two processes from writing. Each
// holder has a fence, a number that is greater than that of all holders before. What they write stores the fence, and refuses a
// lower one:
//
//	err := lease.Run(ctx, func(ctx context.Context, fence int64) error {
//		_, err := table.Update(ctx, key, func(s *State) error {
//			if s.Fence > fence {
//				return eventual.ErrLeaseLost
//			}
//			s.Fence = fence
//			…
//			return nil
//		})
//		return err
//	})
//
// # Time
//
// Whether a lease has expired is computed by the clock of the service, from the Timestamp of the row and the Date of the reply, so the
// clocks of the machines may differ by any amount. The holder counts from before it sent the request that renewed the lease, and
// stops after nine tenths of Duration, so that its clock may also run slower than that of the service, by a tenth.
//
// A request that is carried out late renews or takes only the version of the row that it names. At worst, a process that does
// not know it holds the lease then keeps the others waiting for Duration.
//
// # Cost
//
// The holder makes a request each third of Duration, and one that waits makes a request each Poll: with the defaults 6 and 4
// in a minute. To take the lease costs 2 requests, to release it 1. After a crash the lease is idle for at most Duration, Poll and a second.
//
// # The row
//
// The row is never deleted, because its fence would begin anew. Do not change or delete it while a process may hold the lease.
type Lease struct {
	table *patterns.Table[leaseRow]
	key   keys.Key
	opts  LeaseOptions
}

// LeaseOptions are the options of a [Lease]. nil and the zero value mean the defaults.
type LeaseOptions struct {
	// Duration is how long the lease lasts after it was renewed, 5 seconds to an hour. Zero means 30 seconds. It is stored in the
	// row, so holders may have different ones.
	Duration time.Duration

	// Poll is how often a process that waits reads the row. Zero means half of Duration.
	Poll time.Duration
}

const (
	defaultLease = 30 * time.Second
	minLease     = 5 * time.Second
	maxLease     = time.Hour
)

// leaseRow is what the row contains.
type leaseRow struct {
	Holder   string // of this fence, "" if it was released
	Fence    int64
	Duration int64 // in nanoseconds
}

// NewLease returns the lease whose row has this key. It makes no request. The row may be in any table, also among others.
func NewLease(client *aztables.Client, key keys.Key, opts *LeaseOptions) (*Lease, error) {
	var o LeaseOptions
	if opts != nil {
		o = *opts
	}
	if err := azerr.Default(&o.Duration, defaultLease, "Duration"); err != nil {
		return nil, fmt.Errorf("new lease: %w", err)
	}
	if err := azerr.Default(&o.Poll, o.Duration/2, "Poll"); err != nil {
		return nil, fmt.Errorf("new lease: %w", err)
	}
	if o.Duration < minLease || o.Duration > maxLease {
		return nil, azerr.Errorf("new lease: %w: LeaseOptions.Duration: 5 seconds to an hour", azerr.ErrBadOption)
	}
	if err := key.Validate(); err != nil {
		return nil, fmt.Errorf("new lease: %w", err)
	}
	table, err := patterns.NewTable(client, &patterns.TableOptions[leaseRow]{Keyless: true})
	if err != nil {
		return nil, fmt.Errorf("new lease: %w", err)
	}
	return &Lease{table, key, o}, nil
}

// Create creates the table of the lease. No error if it exists. One request.
func (l *Lease) Create(ctx context.Context) error { return l.table.Create(ctx) }

// Client returns the client of the table of the lease.
func (l *Lease) Client() *aztables.Client { return l.table.Client() }

// Run waits until it holds the lease, and calls do once. The context of do ends with the cause [ErrLeaseLost] if the lease is lost;
// do must then return. Run releases the lease when do has returned, and returns its error, which also matches ErrLeaseLost if the
// lease was lost. It returns the cause of the end of ctx if that ends while it waits. An error of a request ends the wait.
func (l *Lease) Run(ctx context.Context, do func(ctx context.Context, fence int64) error) error {
	if do == nil {
		return fmt.Errorf("lease: function: %w", patterns.ErrNil)
	}
	for {
		held, wait, err := l.try(ctx)
		if err != nil {
			return err
		}
		if held != nil {
			return held.run(ctx, do)
		}
		if calls.Sleep(ctx, wait) != nil {
			return context.Cause(ctx)
		}
	}
}

// TryRun is Run that does not wait: ok is false if another process holds the lease, and do was not called. Workers that divide
// partitions among them try each in turn, as many as each is to own.
func (l *Lease) TryRun(ctx context.Context, do func(ctx context.Context, fence int64) error) (ok bool, err error) {
	if do == nil {
		return false, fmt.Errorf("lease: function: %w", patterns.ErrNil)
	}
	held, _, err := l.try(ctx)
	if err != nil || held == nil {
		return false, err
	}
	return true, held.run(ctx, do)
}

// try takes the lease if it is free. If not, wait is when to try again.
func (l *Lease) try(ctx context.Context) (h *holding, wait time.Duration, err error) {
	old, err := l.table.Get(ctx, l.key)
	missing := errors.Is(err, patterns.ErrNotFound)
	if err != nil && !missing {
		return nil, 0, err
	}
	if !missing {
		if wait, err = l.remaining(old); err != nil || wait > 0 {
			return nil, min(wait, l.opts.Poll), err
		}
	}
	h = &holding{Lease: l, item: old, sent: time.Now()}
	h.item.Value = leaseRow{uuid.NewString(), old.Value.Fence + 1, int64(l.opts.Duration)}
	var written patterns.Item[leaseRow]
	if missing {
		written, err = l.table.Do(ctx, patterns.InsertOp(&h.item.Value).At(l.key))
	} else {
		written, err = l.table.Replace(ctx, h.item)
	}
	held := err == nil
	if held {
		h.item = written
	} else {
		held = h.holds(ctx)
	}
	switch {
	case held && h.left() > h.opts.Duration/3:
		return h, 0, nil
	case held, // but the reply was late
		errors.Is(err, patterns.ErrOutcomeUnknown), errors.Is(err, patterns.ErrConflict), errors.Is(err, patterns.ErrExists):
		return nil, l.opts.Poll, ctx.Err()
	}
	return nil, 0, err
}

// remaining returns for how long another process may still hold the lease.
func (l *Lease) remaining(item patterns.Item[leaseRow]) (time.Duration, error) {
	v := item.Value
	if v.Fence < 0 || v.Holder != "" && (time.Duration(v.Duration) < minLease || time.Duration(v.Duration) > maxLease) {
		return 0, azerr.Errorf("lease: %w: the row is not that of a lease", patterns.ErrBadReply)
	}
	if v.Holder == "" {
		return 0, nil
	}
	now, ok := l.table.ServiceTime()
	if !ok || item.Timestamp.IsZero() {
		return 0, azerr.Errorf("lease: %w: no time of the service", patterns.ErrBadReply)
	}
	return time.Duration(v.Duration) - now.Sub(item.Timestamp), nil
}
