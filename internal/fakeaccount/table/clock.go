package table

import (
	"sync/atomic"
	"time"
)

// clock returns unique, increasing times, at least one tick of 100 ns apart. It follows
// time.Now, which testing/synctest controls.
type clock struct {
	last atomic.Int64 // ticks since the Unix epoch
}

func (c *clock) next() time.Time {
	now := time.Now().UnixNano() / 100
	for {
		last := c.last.Load()
		t := max(now, last+1)
		if c.last.CompareAndSwap(last, t) {
			return time.Unix(t/1e7, t%1e7*100).UTC()
		}
	}
}
