package govern

import "time"

// SetClock replaces the clock.
func (g *Governor) SetClock(clock func() time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clock = clock
}

// Limiters returns how many partitions and accounts have limits.
func (g *Governor) Limiters() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.limiters.byHash)
}
