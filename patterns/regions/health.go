package regions

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// maxLost is how many reads in succession the primary fails to answer before it is
	// considered down.
	maxLost = 3

	// minProbe and maxProbe limit the time between two reads that find out whether the primary
	// is up again.
	minProbe, maxProbe = time.Second, 30 * time.Second

	// firstShare is the binary logarithm of the share of reads that return to the primary when it
	// answers again: 1 of 16. It doubles every shareStep.
	firstShare, shareStep = 4, time.Second
)

// health is what the reads of the primary show about it. The zero health is that of a primary
// that is up.
type health struct {
	mu       sync.Mutex
	lost     int           // reads that were not answered, since the last that was
	replied  time.Time     // when the last reply came
	down     bool          // reads use the secondary, except for probes
	fell     chan struct{} // closed when the primary goes down; nil before the next read
	share    uint          // 1 of 2^share reads uses the primary
	since    time.Time     // when share changed
	turn     uint
	interval time.Duration // between probes
	next     time.Time     // when the next probe is due
	probing  bool
}

// route is where a read is sent first.
type route struct {
	first Region
	probe bool            // the primary has to be tried in any case
	down  bool            // the primary is down
	fell  <-chan struct{} // closed when the primary goes down; nil if it is down
}

// route decides where the next read is sent.
func (h *health) route(now time.Time) route {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		if h.probing || now.Before(h.next) {
			return route{first: Secondary, down: true}
		}
		h.probing = true
		return route{first: Primary, probe: true, down: true}
	}
	if h.share > 0 && now.Sub(h.since) >= shareStep {
		h.share, h.since = h.share-1, now
		if h.share == 0 {
			h.interval = 0
		}
	}
	if h.fell == nil {
		h.fell = make(chan struct{})
	}
	way := route{first: Primary, fell: h.fell}
	if h.turn++; h.turn%(1<<h.share) != 0 {
		way.first = Secondary
	}
	return way
}

// region returns the region for a sequence of reads.
func (h *health) region() Region {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down || h.share > 0 {
		return Secondary
	}
	return Primary
}

// silent reports whether the primary has not replied to any read since a time.
func (h *health) silent(since time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.replied.After(since)
}

// answered records a reply of the primary that is no failure.
func (h *health) answered(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replied, h.lost, h.probing = now, 0, false
	if h.down {
		h.down, h.fell = false, nil
		h.share, h.since = firstShare, now
	}
}

// loss is a read that the primary did not answer.
type loss struct {
	probe   bool
	replied bool // with a failure
	busy    bool // with a refusal because of load, which is no sign of an outage
	slow    bool // the secondary answered first
}

// failed records a read that the primary did not answer.
func (h *health) failed(now time.Time, l loss) {
	h.mu.Lock()
	defer h.mu.Unlock()
	silence := now.Sub(h.replied)
	if l.replied {
		h.replied = now
	}
	switch {
	case l.probe && h.down: // of one that fails after the primary has answered another read, nothing but the failure counts
		h.probing = false
		h.interval = min(2*h.interval, maxProbe)
	case h.down || l.busy:
		return
	default:
		h.lost++
		if h.share == 0 && h.lost < maxLost || l.slow && silence < minSilence {
			return
		}
		h.down, h.share = true, 0
		h.interval = max(h.interval, minProbe)
		if h.fell != nil {
			close(h.fell)
		}
	}
	// The clients of an account do not probe at the same moment.
	h.next = now.Add(h.interval*4/5 + rand.N(h.interval*2/5))
}
