package table

import (
	"sync/atomic"
	"time"
)

// clock gives out times that are unique and grow by one tick of 100 ns at
// least, however fast they are asked for. It follows time.Now, which under
// testing/synctest is virtual.
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
