package table

import (
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
)

// clock returns unique, increasing times, at least one tick of 100 ns apart.
type clock struct {
	last atomic.Int64 // ticks since the Unix epoch
}

// next returns the first unused time that is not before at, in ticks.
func (c *clock) next(at time.Time) int64 {
	now := filter.Ticks(at)
	for {
		last := c.last.Load()
		t := max(now, last+1)
		if c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}
