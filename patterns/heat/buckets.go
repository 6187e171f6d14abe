package heat

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"time"
)

const (
	// maxBuckets is the number of key ranges of a meter. A range takes 45 kB for its
	// series, whatever the load, so all of them take 5.8 MB.
	maxBuckets = 128

	// maxKey is how many bytes of a key the meter distinguishes.
	maxKey = 192

	samples = 16

	// maxMoves is how many buckets are split in one go, while requests wait.
	maxMoves = 8

	// rowShare is how many times the mean load a bucket needs before it is split within a
	// partition. One hot partition then does not take the room of all others.
	rowShare = 12
)

// bucket is a range of keys, up to the start of the next bucket.
type bucket struct {
	from   string  // a place, see [place]
	now    load    // since the last flush
	weight float64 // entities and transactions so far, halved every day
	series *series
	seen   uint32
	sample [samples]place // of the keys in the range
	filled uint8
	keys   distinct
}

// place is a key of the account: the service and the resource, the partition key, and the
// row key, separated by U+0000, which is not legal in a key. Its bytes sort like the keys,
// except for characters above U+FFFF.
type place struct {
	n    uint8
	text [maxKey]byte
}

func (p *place) bytes() []byte { return p.text[:p.n] }

// set makes the key the text of p.
func (p *place) set(key []byte) { p.n = uint8(copy(p.text[:], key)) }

// buckets are sorted key ranges that cover all keys.
type buckets struct {
	list []*bucket
	at   time.Time // of the last flush
}

// find returns the index of the bucket that contains a place.
func (b *buckets) find(p []byte) int {
	low, high := 0, len(b.list)
	for high-low > 1 {
		if middle := (low + high) / 2; b.list[middle].from <= string(p) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// start makes a bucket start at the resource, which had no load yet.
func (b *buckets) start(resource string) {
	i, found := slices.BinarySearchFunc(b.list, resource, func(e *bucket, s string) int { return strings.Compare(e.from, s) })
	if !found {
		b.list = slices.Insert(b.list, i, &bucket{from: resource, series: new(series)})
	}
}

// keep keeps one place of eight as a sample, and fewer the more it has seen, so that the samples
// are of the last half of what it has seen, and the bucket can be split where its load is.
func (e *bucket) keep(p []byte) {
	if e.seen++; e.filled < samples {
		e.sample[e.filled].set(p)
		e.filled++
	} else if step := uint32(8) << bits.Len32(e.seen/256); e.seen%step == 0 {
		e.sample[e.seen/step%samples].set(p)
	}
}

// flush moves the loads since the last flush, which are of its minute, to the series.
func (b *buckets) flush(now time.Time) {
	for _, e := range b.list {
		if e.now != (load{}) {
			e.series.count(b.at, &e.now)
			e.weight += e.now.weight()
			e.now = load{}
		}
		if !b.at.IsZero() {
			e.series.clear(b.at, now)
		}
	}
	b.at = now
}

// rewind empties the steps after now.
func (b *buckets) rewind(now time.Time) {
	for _, e := range b.list {
		e.series.clear(now, b.at)
	}
	b.at = now
}

// balance splits the buckets with the most load, and merges those with the least to make
// room.
func (b *buckets) balance() {
	total := 0.0
	for _, e := range b.list {
		total += e.weight
	}
	mean := total / maxBuckets
	for range maxMoves {
		hot, cut := -1, ""
		for i, e := range b.list {
			if e.weight < 1.5*mean || hot >= 0 && e.weight <= b.list[hot].weight {
				continue
			}
			if c := e.cut(e.weight > rowShare*mean); c != "" {
				hot, cut = i, c
			}
		}
		if hot < 0 {
			return
		}
		if len(b.list) == maxBuckets {
			cold := b.coldest()
			if b.pair(cold) > b.list[hot].weight/2 || cold == hot || cold+1 == hot {
				return
			}
			b.merge(cold)
			if cold < hot {
				hot--
			}
		}
		b.split(hot, cut)
	}
}

// pair returns the weight of a bucket and the next one.
func (b *buckets) pair(i int) float64 { return b.list[i].weight + b.list[i+1].weight }

// coldest returns the bucket that, with the next one, has the smallest weight. Two buckets of
// one resource are preferred.
func (b *buckets) coldest() int {
	best, same := 0, false
	for i := range len(b.list) - 1 {
		one := resourceOf(b.list[i].from) == resourceOf(b.list[i+1].from)
		if one && !same || one == same && b.pair(i) < b.pair(best) {
			best, same = i, one
		}
	}
	return best
}

// merge adds the next bucket to bucket i.
func (b *buckets) merge(i int) {
	e, next := b.list[i], b.list[i+1]
	e.now.add(&next.now)
	e.weight += next.weight
	for c := range e.series {
		e.series[c].add(next.series[c].load(), 1)
	}
	for j := range next.filled {
		e.keep(next.sample[j].bytes())
	}
	e.keys.merge(&next.keys)
	b.list = slices.Delete(b.list, i+1, i+2)
}

// cut returns where to split a bucket: at the start of the partition, or with rows also of
// the row, in the middle of its samples. It returns "" if all samples are of one key.
func (e *bucket) cut(rows bool) string {
	places := make([][]byte, e.filled)
	for i := range places {
		places[i] = e.sample[i].bytes()
	}
	slices.SortFunc(places, bytes.Compare)
	middle := len(places) / 2
	for level := 2; level == 2 || rows && level == 3; level++ {
		for distance := range len(places) {
			for _, i := range []int{middle - distance, middle + distance} {
				if i <= 0 || i >= len(places) {
					continue
				}
				before, at := prefixOf(places[i-1], level), prefixOf(places[i], level)
				if !bytes.Equal(before, at) && string(at) > e.from {
					return string(at)
				}
			}
		}
	}
	return ""
}

// prefixOf returns the first parts of a place.
func prefixOf(p []byte, parts int) []byte {
	all := bytes.SplitN(p, []byte{0}, parts+1)
	return bytes.Join(all[:min(parts, len(all))], []byte{0})
}

// resourceOf returns the service and the resource of a place.
func resourceOf(from string) string {
	resource, _, _ := strings.Cut(from, "\x00")
	return resource
}

// split divides bucket i at a place. What is stored of earlier times is divided like the
// samples, because its keys are not known.
func (b *buckets) split(i int, at string) {
	e := b.list[i]
	right := &bucket{from: at, series: new(series)}
	all := e.sample[:e.filled:e.filled]
	kept := make([]place, 0, samples)
	for j := range all {
		if string(all[j].bytes()) >= at {
			right.keep(all[j].bytes())
		} else {
			kept = append(kept, all[j])
		}
	}
	share := float64(right.filled) / float64(max(len(all), 1))
	e.filled = uint8(copy(e.sample[:], kept))
	for c := range e.series {
		l := e.series[c].load()
		right.series[c].add(l, share)
		e.series[c].add(l, -share)
	}
	right.weight = share * e.weight
	e.weight -= right.weight
	e.keys, right.keys = e.keys.divide(share)
	b.list = slices.Insert(b.list, i+1, right)
}
