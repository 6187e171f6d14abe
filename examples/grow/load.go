package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/shards"
)

// Order is an entity.
type Order struct {
	PartitionKey, RowKey string
	Total                int32
}

// customers is the number of partitions. Each has one order.
const customers = 120

func orderOf(customer int) *Order {
	return &Order{PartitionKey: fmt.Sprintf("customer %03d", customer), RowKey: "00001"}
}

// figures are those of one phase.
type figures struct {
	name          string
	took          time.Duration
	done          int // operations that succeeded
	sent, refused int64
	p99           time.Duration
	failedReads   int
	failedWrites  int
	fromSecondary int // reads
}

// load is clients that read and write orders, one after the other. Two of three only read.
type load struct {
	orders   *shards.Table[Order]
	accounts []*account
	ctx      context.Context
	cancel   context.CancelFunc
	clients  sync.WaitGroup

	mu        sync.Mutex
	now       figures
	latencies []time.Duration
}

// newLoad inserts the orders.
func newLoad(ctx context.Context, s *shards.Shards, accounts []*account) (*load, error) {
	orders, err := shards.NewTable[Order](s, nil)
	if err != nil {
		return nil, err
	}
	for i := range customers {
		if _, err := orders.Insert(ctx, orderOf(i)); err != nil {
			return nil, err
		}
	}
	l := &load{orders: orders, accounts: accounts}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l, nil
}

// start adds clients.
func (l *load) start(clients int) {
	for i := range clients {
		l.clients.Go(func() {
			for l.ctx.Err() == nil {
				if i%3 == 0 {
					l.write()
				} else {
					l.read()
				}
			}
		})
	}
}

// stop ends all clients.
func (l *load) stop() {
	l.cancel()
	l.clients.Wait()
}

// read reads an order, from the secondary region if the primary of its account is down.
func (l *load) read() {
	o, began := orderOf(rand.IntN(customers)), time.Now()
	var item regions.Item[Order]
	err := l.orders.ReadWithin(l.ctx, o.PartitionKey, func(rows *patterns.Table[Order]) error {
		either, err := regions.NewTable(rows, nil)
		if err == nil {
			item, err = either.Get(l.ctx, keys.Key{Partition: o.PartitionKey, Row: o.RowKey})
		}
		return err
	})
	l.ended(began, err, func(f *figures) {
		if err != nil {
			f.failedReads++
		}
		if item.Region == regions.Secondary {
			f.fromSecondary++
		}
	})
}

// write writes an order, within a second.
func (l *load) write() {
	ctx, cancel := context.WithTimeout(l.ctx, time.Second)
	defer cancel()
	o, began := orderOf(rand.IntN(customers)), time.Now()
	_, err := l.orders.Upsert(ctx, o, patterns.Replace)
	l.ended(began, err, func(f *figures) {
		if err != nil {
			f.failedWrites++
		}
	})
}

// ended counts an operation.
func (l *load) ended(began time.Time, err error, count func(*figures)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	if count(&l.now); err == nil {
		l.now.done++
		l.latencies = append(l.latencies, time.Since(began))
	}
}

// phase returns the figures of the time that f takes.
func (l *load) phase(name string, f func() error) (figures, error) {
	l.take(name)
	began := time.Now()
	err := f()
	now := l.take(name)
	now.took = time.Since(began)
	return now, err
}

// take returns the figures since the last call.
func (l *load) take(name string) figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, latencies := l.now, l.latencies
	l.now, l.latencies = figures{}, nil
	now.name = name
	for _, a := range l.accounts {
		now.sent += a.network.sent.Swap(0)
		now.refused += a.network.refused.Swap(0)
	}
	if slices.Sort(latencies); len(latencies) > 0 {
		now.p99 = latencies[len(latencies)*99/100]
	}
	return now
}

// header is what the columns are.
var header = fmt.Sprintf("%-27s %8s %10s %8s %7s %13s %14s %15s", "", "seconds", "done/s", "refused", "p99", "failed reads", "failed writes", "from secondary")

// String returns a line of the table.
func (f figures) String() string {
	return fmt.Sprintf("%-27s %8.0f %10.0f %7.1f%% %7v %13d %14d %15d", f.name, f.took.Seconds(), f.goodput(),
		100*f.share(), f.p99.Round(time.Millisecond), f.failedReads, f.failedWrites, f.fromSecondary)
}

// goodput is the operations per second that succeeded.
func (f figures) goodput() float64 { return float64(f.done) / f.took.Seconds() }

// share is the share of the requests that were refused.
func (f figures) share() float64 { return float64(f.refused) / float64(f.sent) }
