package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// process is a running worker.
type process struct {
	*worker
	stop  context.CancelFunc
	ended chan struct{}
}

func start(t *testing.T, acct *storagetest.Account, name string, most int) *process {
	w := assert.Must(newWorker(name, most, acct.Tables()))(t)
	assert.NoError(t, w.table.Create(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	p := &process{w, stop, make(chan struct{})}
	go func() {
		defer close(p.ended)
		w.run(ctx)
	}()
	return p
}

// owners returns how many regions each process has written last, and the number of all orders.
func owners(t *testing.T, table *patterns.Table[Region]) (of map[string]int, orders int64) {
	t.Helper()
	of = map[string]int{}
	for item, err := range table.Query(t.Context(), query.PartitionKey.Eq("region"), nil) {
		assert.NoError(t, err)
		of[item.Value.Owner]++
		orders += item.Value.Orders
	}
	return of, orders
}

func TestWorkersDivideTheRegionsAndTakeThoseOfOneThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		a, b, c := start(t, acct, "a", 4), start(t, acct, "b", 4), start(t, acct, "c", 4)
		time.Sleep(time.Minute)
		of, orders := owners(t, a.table)
		total := 0
		for name, n := range of {
			if total += n; n > 4 {
				t.Errorf("%s owns %d regions", name, n)
			}
		}
		if total != regions || orders < regions*50 || orders > regions*61 {
			t.Errorf("%v own regions with %d orders", of, orders)
		}

		// One ends: the others have room for all.
		a.stop()
		<-a.ended
		time.Sleep(10 * time.Second)
		if of, _ := owners(t, b.table); of["b"] != 4 || of["c"] != 4 {
			t.Errorf("after the end of a: %v", of)
		}

		// Another one ends: the last has no room for all, and its orders go on.
		b.stop()
		<-b.ended
		_, before := owners(t, c.table)
		time.Sleep(time.Minute)
		if _, after := owners(t, c.table); after-before < 4*50 || after-before > 4*61 {
			t.Errorf("%d orders in a minute", after-before)
		}
		c.stop()
		<-c.ended
	})
}

func TestAWorkerThatWasPausedChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := assert.Must(newWorker("a", 1, storagetest.New(t).Tables()))(t)
		assert.NoError(t, errors.Join(w.table.Create(t.Context()), w.order(t.Context(), 3, 7), w.order(t.Context(), 3, 8)))
		if err := w.order(t.Context(), 3, 7); !errors.Is(err, eventual.ErrLeaseLost) {
			t.Error(err)
		}
		of, orders := owners(t, w.table)
		if got := fmt.Sprint(of, orders); got != "map[a:1] 2" {
			t.Error(got)
		}
	})
}
