package heat

import (
	"time"

	"github.com/azpatterns/azpatterns/internal/target"
)

// The figures of a cell. Their order is that of the JSON of a snapshot.
const (
	reads = iota // entities
	writes
	transactions
	transferred  // bytes, sent and received
	milliseconds // sum of the latencies of all transactions
	retries      // transactions that the SDK repeats: no reply, or a status such as 503
	throttled    // replies with status 503 or 429
	figures
)

// load is what one key range caused in one step of time.
type load [figures]float64

func (l *load) add(o *load) {
	for i := range l {
		l[i] += o[i]
	}
}

// part returns a part of the load of n operations.
func (l load) part(operations, n int) load {
	for i := range l {
		l[i] = l[i] * float64(operations) / float64(n)
	}
	return l
}

// entities returns what counts against the targets of a partition.
func (l *load) entities() float64 { return l[reads] + l[writes] }

// weight returns what a key range is divided for. Requests that read nothing cost, too.
func (l *load) weight() float64 { return l.entities() + l[transactions] }

// load returns what a request caused.
func (r *request) load() load {
	l := load{transactions: r.weight, transferred: r.bytes * r.weight, milliseconds: r.millis * r.weight}
	if r.repeated {
		l[retries] = r.weight
	}
	if r.rejected {
		l[throttled] = r.weight
	}
	kind := writes
	if r.Kind == target.Read || r.Kind == target.Query || r.Kind == target.Poll {
		kind = reads
	}
	l[kind] = r.entities * r.weight
	return l
}

// cell is a load as it is stored.
type cell [figures]float32

func (c *cell) add(l *load, share float64) {
	for i := range c {
		c[i] += float32(l[i] * share)
	}
}

func (c *cell) load() *load {
	l := new(load)
	for i := range c {
		l[i] = float64(c[i])
	}
	return l
}

// A resolution is a length of the steps of time, and how many of them are kept.
type resolution struct {
	step  time.Duration
	count int64
	from  int // index of the first cell

	Column, Span string // what a step and all steps are called
}

// resolutions are kept next to each other: every request counts in each of them.
var resolutions = [...]resolution{
	{time.Minute, 360, 0, "a minute", "6 hours"},
	{10 * time.Minute, 576, 360, "ten minutes", "4 days"},
	{time.Hour, 672, 936, "an hour", "28 days"},
}

const cells = 1608

// at returns the number of the step that contains t, counted from 1970.
func (r *resolution) at(t time.Time) int64 { return t.Unix() / int64(r.step/time.Second) }

// start returns the time at which a step starts.
func (r *resolution) start(step int64) time.Time {
	return time.Unix(step*int64(r.step/time.Second), 0).UTC()
}

// cell returns the index of a step's cell: each resolution is a ring.
func (r *resolution) cell(step int64) int { return r.from + int(uint64(step)%uint64(r.count)) }

// series are the loads of one key range over time, in all resolutions.
type series [cells]cell

// count adds a load at a time.
func (s *series) count(at time.Time, l *load) {
	for i := range resolutions {
		r := &resolutions[i]
		s[r.cell(r.at(at))].add(l, 1)
	}
}

// clear empties the cells of the steps after one time up to another.
func (s *series) clear(after, now time.Time) {
	for i := range resolutions {
		r := &resolutions[i]
		last := r.at(now)
		for step := max(r.at(after)+1, last-r.count+1); step <= last; step++ {
			s[r.cell(step)] = cell{}
		}
	}
}
