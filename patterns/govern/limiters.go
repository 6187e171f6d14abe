package govern

import "time"

const (
	// maxLimiters is the number of partitions and accounts that have limits at a time. A
	// limiter takes about 400 bytes.
	maxLimiters = 4096

	// maxUses is what keeps a limit that was refused: it is dropped when it was not used
	// while so many rounds of all limiters were replaced.
	maxUses = 4

	// maxSearch is how many limiters are examined for one that can be replaced.
	maxSearch = 64
)

// limiters are the limits of the partitions and accounts that were used of late. A new one
// replaces one that was not used again since the hand passed it (second-chance replacement), so
// that many partitions that are used once replace each other.
type limiters struct {
	byHash map[uint64]*limiter
	ring   []*limiter
	hand   int
}

// find returns the limiter for hash, nil if no limiter can be replaced. It is most often the
// recent one of the same flight.
func (t *limiters) find(recent *limiter, hash uint64, now time.Duration, c *course, share float64) *limiter {
	l := recent.still(hash)
	if l == nil {
		l = t.byHash[hash]
	}
	if l != nil {
		l.uses = max(l.uses, 1)
		return l
	}
	if l = t.free(); l != nil {
		l.init(hash, now, c, share)
		t.byHash[hash] = l
	}
	return l
}

// free returns a limiter that can be replaced by a new one, nil if it finds none.
func (t *limiters) free() *limiter {
	if len(t.ring) < maxLimiters {
		l := new(limiter)
		t.ring = append(t.ring, l)
		return l
	}
	for range maxSearch {
		l := t.ring[t.hand]
		t.hand = (t.hand + 1) % len(t.ring)
		switch {
		case l.waiting():
		case l.uses > 0:
			l.uses--
		default:
			delete(t.byHash, l.hash)
			return l
		}
	}
	return nil
}
