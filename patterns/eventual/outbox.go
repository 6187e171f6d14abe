package eventual

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns"
)

// Outbox makes a queue the outbox of a [patterns.Store]: its wake-ups are messages
// of that queue, of a kind of their own, beside any others. [HandleOutbox] handles
// them. Stores that share a queue need different names; "" is one. A name has
// letters, digits and - _ . : /, at most 64.
func Outbox(queueClient *azqueue.QueueClient, name string) patterns.OutboxQueue {
	return &outbox{queue{queueClient}, outboxKind(name)}
}

// outboxKind is the kind of the wake-ups of one store.
func outboxKind(name string) string {
	if name == "" {
		return systemKinds + "outbox"
	}
	return systemKinds + "outbox." + name
}

// checkOutbox finds a name that cannot be part of a kind.
func checkOutbox(name string) error {
	if len(name) > 64 {
		return fmt.Errorf("%w: name of the outbox of more than 64 bytes", ErrBadKind)
	}
	return checkKind("outbox." + name)
}

type outbox struct {
	queue queue
	kind  string
}

// Put puts a wake-up on the queue. One request. Where a reply is lost the SDK puts it
// twice; the second is handled like one that comes twice.
func (o *outbox) Put(ctx context.Context, w patterns.OutboxMessage, after time.Duration) (patterns.Receipt, error) {
	if err := o.check(); err != nil {
		return patterns.Receipt{}, err
	}
	body, err := compact(w)
	if err != nil {
		return patterns.Receipt{}, fmt.Errorf("outbox: %w", err)
	}
	e := envelope{Version: envelopeVersion, ID: w.ID, Kind: o.kind, At: time.Now().UTC(), Body: body}
	text, err := e.encode()
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%w: wake-up of %d bytes", patterns.ErrTooLarge, len(text))
	}
	var r patterns.Receipt
	if err == nil {
		r.ID, r.PopReceipt, err = o.queue.put(ctx, text, min(after, maxHide), 0)
	}
	if err != nil {
		return patterns.Receipt{}, fmt.Errorf("outbox: %w", err)
	}
	return r, nil
}

// Delete deletes a wake-up that was not shown to anybody yet. One request.
func (o *outbox) Delete(ctx context.Context, r patterns.Receipt) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.queue.remove(ctx, r.ID, r.PopReceipt); err != nil && !errors.Is(err, errTaken) {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

func (o *outbox) check() error {
	if o.queue.client == nil {
		return fmt.Errorf("outbox: queue: %w", patterns.ErrNil)
	}
	if len(o.kind) > len(systemKinds+"outbox.") {
		return checkOutbox(o.kind[len(systemKinds+"outbox."):])
	}
	return nil
}

// Drainer finishes operations that were cut short. A [patterns.Store] is one.
type Drainer interface {
	// Handle looks after the operation of a wake-up. The wake-up is to come again
	// after the given time; 0 is never.
	Handle(ctx context.Context, w patterns.OutboxMessage) (again time.Duration, err error)
}

// outboxAttempts is how many attempts a wake-up has: with the default backoff 16
// hours of them. It costs little to try, and what ends as a poison message is found
// by the store's Sweep only.
const outboxAttempts = 100

// HandleOutbox lets the worker finish the operations of a store whose outbox is the
// worker's queue: [Outbox] with the same name. It does so whatever
// [Options.MaxAttempts] says for 100 attempts.
func HandleOutbox(w *Worker, name string, store Drainer) {
	err := checkOutbox(name)
	if err == nil && store == nil {
		err = fmt.Errorf("%w: store: %w", ErrBadKind, patterns.ErrNil)
	}
	if err != nil {
		w.refuse(err)
		return
	}
	w.register(outboxKind(name), outboxAttempts, func(ctx context.Context, d *delivery) error {
		var wakeup patterns.OutboxMessage
		if err := d.decode(&wakeup); err != nil {
			return Cancel(err)
		}
		again, err := store.Handle(ctx, wakeup)
		if err == nil && again > 0 {
			return Snooze(again)
		}
		return err
	})
}

// Sweeper finds operations whose wake-ups were lost. A [patterns.Store] is one.
type Sweeper interface {
	Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error)
}

// HandleSweep lets the worker sweep a store again and again, as [Every] does. What it
// finds and what fails is logged. opts may be nil. A sweep reads the whole table: once
// a day is often for what only a lost queue makes necessary.
func HandleSweep(w *Worker, interval time.Duration, store Sweeper, opts *patterns.SweepOptions) {
	if store == nil {
		w.refuse(fmt.Errorf("sweep: store: %w", patterns.ErrNil))
		return
	}
	Every(w, "sweep", interval, func(ctx context.Context) error {
		report, err := store.Sweep(ctx, opts)
		w.opts.Logger.Info("eventual: swept", "drained", report.Drained, "released", report.Released,
			"removed", report.Removed, "failed", len(report.Failures))
		for _, f := range report.Failures {
			err = errors.Join(err, f.Err)
		}
		return err
	})
}
