package heat

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
)

// hot counts the load of one partition or row.
type hot struct {
	key    place
	Hot            // without Key; the peak is that of this generation
	last   Hot     // only the peak of the previous one
	minute int64   // of now
	now    float64 // entities in the current minute
}

const (
	sets = 64
	ways = 8
)

// top finds the keys with the most load among any number of keys, in constant memory: the
// Space-Saving algorithm of Metwally, Agrawal and El Abbadi (2005), in sets like those of a
// processor's cache. A key with more than an eighth of the load of its set is never missed.
type top [sets]struct {
	hashes [ways]uint64
	hot    [ways]hot
}

// find returns the counters of a key. If the key is new, it replaces the one with the least
// load, and inherits its load: others may have caused as much.
func (t *top) find(hash uint64, key []byte) *hot {
	set := &t[hash%sets]
	for i, h := range set.hashes {
		if h == hash {
			return &set.hot[i]
		}
	}
	least := 0
	for i := range set.hot {
		if set.hot[i].Entities < set.hot[least].Entities {
			least = i
		}
	}
	set.hashes[least] = hash
	e := &set.hot[least]
	e.key.set(key)
	e.Hot, e.last = Hot{Entities: e.Entities, Uncertain: e.Entities}, Hot{}
	e.now, e.minute = 0, 0
	return e
}

// count adds a load to a key.
func (t *top) count(hash uint64, key []byte, l *load, minute int64) {
	e := t.find(hash, key)
	if e.minute != minute {
		e.minute, e.now = minute, 0
	}
	e.now += l.entities()
	if e.now > e.Peak {
		e.Peak, e.PeakAt = e.now, minute
	}
	e.Entities += l.entities()
	e.Written += l[writes]
	e.Throttled += l[throttled]
}

// age halves all counts, so that keys which were busy long ago make room. With a generation peaks
// grow old.
func (t *top) age(generation bool) {
	for i := range t {
		for j := range t[i].hot {
			e := &t[i].hot[j]
			for _, n := range []*float64{&e.Entities, &e.Written, &e.Uncertain, &e.Throttled} {
				*n = math.Floor(*n / 2)
			}
			if generation {
				e.last.Peak, e.last.PeakAt, e.Peak, e.PeakAt = e.Peak, e.PeakAt, 0, 0
			}
		}
	}
}

// list returns the keys with the most load.
func (t *top) list() []Hot {
	var list []Hot
	for i := range t {
		for j := range t[i].hot {
			if e := &t[i].hot[j]; e.key.n > 0 && e.Entities > 2*e.Uncertain {
				h := e.Hot
				h.Key = string(e.key.bytes())
				if e.last.Peak > h.Peak {
					h.Peak, h.PeakAt = e.last.Peak, e.last.PeakAt
				}
				list = append(list, h)
			}
		}
	}
	slices.SortFunc(list, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Peak, a.Peak), cmp.Compare(b.Entities, a.Entities), cmp.Compare(a.Key, b.Key))
	})
	return list[:min(len(list), 100)]
}

// merge adds what another meter counted.
func (t *top) merge(list []Hot) {
	for _, h := range list {
		e := t.find(maphash.String(seed, h.Key), []byte(h.Key))
		switch {
		case e.PeakAt == h.PeakAt:
			e.Peak += h.Peak
		case h.Peak > e.Peak:
			e.Peak, e.PeakAt = h.Peak, h.PeakAt
		}
		e.Entities += h.Entities
		e.Written += h.Written
		e.Uncertain += h.Uncertain
		e.Throttled += h.Throttled
	}
}
