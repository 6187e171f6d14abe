package storagetest

import (
	"cmp"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/fakeaccount"
)

// Targets are how much an account accepts per second, see [Account.Throttle]. Zero means the
// documented target; a negative number means no limit. The documentation assumes entities
// and messages of 1 KiB; the account does not consider their size.
type Targets struct {
	// Partition is for the entities of one partition of a table. Zero means 2,000.
	Partition int
	// Queue is for the messages of one queue. Zero means 2,000.
	Queue int
	// Account is for all entities, messages and blobs. Zero means 20,000.
	Account int
}

// Throttle makes the account refuse requests with 503 ServerBusy beyond its targets, in each
// second of the clock. It can be called at any time, also to change the targets: a smaller one
// applies in full from the next second on. nil means the documented targets. An account does
// not throttle before the first call; negative targets end it.
//
// A request counts for its partition or queue, and for the account, as many times as it
// addresses rows: once for each operation of a batch. A query of one partition counts once for
// each row that it returns, a Get or Peek for each message. Every other request counts once, and
// a query of several partitions only for the account. Refused requests do not count. A
// request is accepted if its target is not yet reached, also if it exceeds the target; the
// rest counts in the next seconds. The service itself may also reply with 500
// OperationTimedOut, for which a [Rule] can be used.
//
// The two regions count separately.
func (a *Account) Throttle(t *Targets) {
	var o Targets
	if t != nil {
		o = *t
	}
	a.script()
	a.core.Throttle(o.withDefaults())
}

func (t Targets) withDefaults() fakeaccount.Targets {
	return fakeaccount.Targets{Partition: cmp.Or(t.Partition, 2_000), Queue: cmp.Or(t.Queue, 2_000), Account: cmp.Or(t.Account, 20_000)}
}
