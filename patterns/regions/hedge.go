package regions

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

const (
	// hedgeShare is how many hedges each read permits, and maxHedges how many of them can be
	// saved up.
	hedgeShare, maxHedges = 0.05, 10

	// hedgePercentile is the percentile of the latencies after which a read is hedged.
	hedgePercentile = 96

	// minSilence is the least time without any reply after which the primary may have failed.
	// It is longer if replies usually take long.
	minSilence = time.Second
)

// latencies are the last latencies of the primary for one kind of reads, and the hedges that these
// may still have. The zero latencies are unknown ones, without hedges.
type latencies struct {
	mu     sync.Mutex
	recent [256]time.Duration
	n      int
	delay  time.Duration
	hedges float64
}

// add adds a latency. Of a read that was hedged and abandoned, it is the time until then.
func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent[l.n%len(l.recent)] = d
	if l.n++; l.n != 32 && l.n%64 != 0 {
		return
	}
	all := l.recent
	known := all[:min(l.n, len(all))]
	slices.Sort(known)
	l.delay = known[len(known)*hedgePercentile/100]
}

// begin counts a read. It returns after what time that is hedged, and after what time without any
// reply the primary may have failed.
func (l *latencies) begin() (hedge, silence time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hedges = min(l.hedges+hedgeShare, maxHedges)
	silence = max(minSilence, 4*l.delay)
	return cmp.Or(l.delay, silence), silence
}

// hedge reports whether a hedge is permitted, and counts it.
func (l *latencies) hedge() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	permitted := l.hedges >= 1
	if permitted {
		l.hedges--
	}
	return permitted
}
