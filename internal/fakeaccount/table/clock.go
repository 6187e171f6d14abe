package table

import (
	"sync/atomic"
	"time"
)

// clock returns unique, increasing times, at least one tick of 100 ns apart.
type clock struct {
	last atomic.Int64 // ticks since the Unix epoch
}

// next returns the first unused time that is not before at.
func (c *clock) next(at time.Time) time.Time {
	now := at.UnixNano() / 100
	for {
		last := c.last.Load()
		t := max(now, last+1)
		if c.last.CompareAndSwap(last, t) {
			return time.Unix(t/1e7, t%1e7*100).UTC()
		}
	}
}
