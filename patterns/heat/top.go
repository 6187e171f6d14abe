package heat

import (
	"hash/maphash"
	"math"
)

// hot counts the load of one partition or row.
type hot struct {
	key       place
	total     load
	uncertain float64 // entities that other keys may have caused
	minute    int64   // of now
	now, peak float64 // entities in the current and in the busiest minute
	peakAt    int64   // the busiest minute
	rejected  float64 // throttled transactions
}

const (
	sets = 64
	ways = 8
)

// top finds the keys with the most load among any number of keys, in constant memory: the
// Space-Saving algorithm of Metwally, Agrawal and El Abbadi (2005), in sets like those of a
// processor's cache. A key with more than an eighth of the load of its set is never missed.
type top struct {
	seed maphash.Seed
	sets [sets]struct {
		hashes [ways]uint64
		hot    [ways]hot
	}
}

// count adds a load to a key.
func (t *top) count(p *place, l *load, minute int64) {
	hash := maphash.Bytes(t.seed, p.bytes())
	set := &t.sets[hash%sets]
	for i, h := range set.hashes {
		if h == hash {
			set.hot[i].count(l, minute)
			return
		}
	}
	least := 0
	for i := range set.hot {
		if set.hot[i].total.entities() < set.hot[least].total.entities() {
			least = i
		}
	}
	e := &set.hot[least]
	set.hashes[least] = hash
	inherited := e.total.entities()
	e.key = *p
	e.total = load{reads: inherited}
	e.uncertain, e.now, e.peak, e.minute, e.rejected = inherited, 0, 0, minute, 0
	e.count(l, minute)
}

func (e *hot) count(l *load, minute int64) {
	if e.minute != minute {
		e.minute, e.now = minute, 0
	}
	e.now += l.entities()
	if e.now > e.peak {
		e.peak, e.peakAt = e.now, minute
	}
	e.total.add(l)
	e.rejected += l[throttled]
}

// age halves all counts, so that keys which were busy long ago make room.
func (t *top) age() {
	for i := range t.sets {
		for j := range t.sets[i].hot {
			e := &t.sets[i].hot[j]
			for f := range e.total {
				e.total[f] = math.Floor(e.total[f] / 2)
			}
			e.uncertain = math.Floor(e.uncertain / 2)
			e.rejected = math.Floor(e.rejected / 2)
		}
	}
}
