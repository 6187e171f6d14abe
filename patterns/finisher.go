package patterns

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Finisher finishes the operations of Stores after their calls have returned, those of a partition together. A change with rows
// outside the partition then takes two round trips until it is committed and one more until these rows are written: the call
// returns after that. Without a Finisher it also reads the entity again, and deletes the outbox row and the message,
// which takes up to three round trips more.
//
// The Finisher reads up to 12 entities in one request, and deletes up to 100 outbox rows in one transaction, followed by the messages. It also
// puts one message for the transactions that begin while another message of the partition is being put; these wait for that, up to one
// more round trip. If another client has changed an entity meanwhile, its rows are brought up to date again. So until an operation is
// finished, a row outside the partition may be that of a version which a concurrent change has replaced.
//
// What a Finisher holds is work, not data: if its process ends, workers find the operations through their messages, and do the same.
//
// Pass it to Stores as StoreOptions.Finisher, one for all Stores of a program. With [Later] it only puts messages together. It is
// safe for concurrent use. Its goroutines end with Close.
type Finisher struct{ engine *outbox.Finisher }

// FinisherOptions are the options of [NewFinisher]. nil and the zero value select the defaults.
type FinisherOptions struct {
	// MaxHeld is how many transactions are held, each of which takes some hundred bytes and its keys. The calls of
	// further ones finish them. Zero means 1000.
	MaxHeld int

	// MaxAge is how long a transaction is held. Zero, and more than that, mean a quarter of the Grace of its Store.
	MaxAge time.Duration

	// Wait is how long a message waits for those of other transactions of the partition, if none is being put. A change takes
	// longer by that, and many concurrent ones take fewer requests. Zero means not at all.
	Wait time.Duration
}

const defaultMaxHeld = 1000

// NewFinisher returns a Finisher. It makes no request, and starts no goroutine before a Store uses it.
func NewFinisher(opts *FinisherOptions) (*Finisher, error) {
	o := *cmp.Or(opts, &FinisherOptions{})
	if err := cmp.Or(azerr.Default(&o.MaxHeld, defaultMaxHeld, "MaxHeld"), azerr.Default(&o.MaxAge, 0, "MaxAge"), azerr.Default(&o.Wait, 0, "Wait")); err != nil {
		return nil, fmt.Errorf("new finisher: %w", err)
	}
	return &Finisher{outbox.NewFinisher(o.MaxHeld, o.MaxAge, o.Wait)}, nil
}

// engineOf returns nil for nil.
func engineOf(f *Finisher) *outbox.Finisher {
	if f == nil {
		return nil
	}
	return f.engine
}

// Flush finishes what is held, and returns when that is done, or with the error of ctx when that ends.
func (f *Finisher) Flush(ctx context.Context) error {
	if err := f.engine.Flush(ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Close finishes what is held, and the transactions in progress, and returns when that is done. Later ones are finished in their
// calls, so the Stores can still be used. If ctx ends, Close returns its error, and leaves the rest to workers.
func (f *Finisher) Close(ctx context.Context) error {
	if err := f.engine.Close(ctx); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// FinisherStats are the figures of a [Finisher].
type FinisherStats = types.FinisherStats

// Stats returns the figures of f since it was made.
func (f *Finisher) Stats() FinisherStats { return f.engine.Stats() }
