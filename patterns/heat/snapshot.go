package heat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"
)

// ErrSnapshot is matched by the error of [Load] for data that is not a snapshot, or one of
// a later version of this package.
var ErrSnapshot = errors.New("heat: not a snapshot that this version reads")

const snapshotVersion = 1

// Snapshot is what a [Meter] has counted. Its JSON is stable: a later version of this
// package reads it.
//
// A Snapshot contains keys, because it could not be merged without: protect a file of it
// like the table. The page and the findings contain only labels. A Snapshot may be read
// concurrently.
type Snapshot struct {
	Version int       `json:"version"`
	Since   time.Time `json:"since"`
	Taken   time.Time `json:"taken"`

	// Resources are the counters of the last 12 to 24 hours, by resource: "t", "q" or "b" and
	// the name of the table, queue or container. "" contains those of connections.
	Resources map[string]Counters `json:"resources"`

	// Ranges are the key ranges in order. Each ends where the next starts.
	Ranges []Range `json:"ranges"`

	Partitions []Hot `json:"partitions"` // the most loaded first
	Rows       []Hot `json:"rows"`

	label func(string) string
}

// Range is a range of keys.
type Range struct {
	// From is the resource, the partition key and the row key, separated by U+0000. Parts at
	// the end may be absent.
	From string `json:"from"`

	// Steps are the loads of steps of one minute, of ten minutes and of an hour, for 6 hours,
	// 4 days and 28 days. Steps without load are absent.
	Steps [3][]Step `json:"steps"`

	// Keys is how many different keys were used, of rows and for queries of partitions, within a
	// factor of two.
	Keys float64 `json:"keys,omitempty"`
}

// Step is the load of one step of time: the number of the step, counted from 1970, then
// entities read, entities written, transactions, bytes, the sum of the latencies in
// milliseconds, transactions that the SDK repeated, and those that were throttled.
type Step [1 + figures]float64

// Hot is a partition or a row with much load. A Hot may be read concurrently.
type Hot struct {
	Key       string  `json:"key"`      // as Range.From
	Entities  float64 `json:"entities"` // read and written; halved every hour, so recent load counts more
	Written   float64 `json:"written"`  // of these
	Uncertain float64 `json:"uncertain,omitempty"`
	Peak      float64 `json:"peak"`   // entities in the busiest minute of the last 12 to 24 hours
	PeakAt    int64   `json:"peakAt"` // number of that minute
	Throttled float64 `json:"throttled,omitempty"`
}

// PerSecond returns the entities per second in the busiest minute.
func (h Hot) PerSecond() float64 { return h.Peak / 60 }

// Share returns the percentage of the target of a partition.
func (h Hot) Share() float64 { return 100 * h.PerSecond() / PartitionTarget }

// Snapshot returns what the meter has counted.
func (m *Meter) Snapshot() *Snapshot { return m.snapshot(m.now()) }

func (m *Meter) snapshot(now time.Time) *Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(now)
	s := &Snapshot{Version: snapshotVersion, Since: m.began.UTC(), Taken: now.UTC(), Resources: map[string]Counters{}, label: m.label}
	for key, r := range m.resources {
		s.Resources[key] = r.counts[0].plus(r.counts[1])
	}
	if n := m.traced.Load() - m.dials[1][0]; n > 0 {
		s.Resources[""] = Counters{Traced: float64(n), Dialed: float64(m.dialed.Load() - m.dials[1][1])}
	}
	for _, b := range m.buckets.list {
		s.Ranges = append(s.Ranges, Range{From: b.from, Steps: b.series.steps(now), Keys: math.Round(b.keys.count())})
	}
	s.Partitions, s.Rows = m.partitions.list(), m.rows.list()
	return s
}

// steps returns the cells that contain load.
func (s *series) steps(now time.Time) (out [3][]Step) {
	for i := range resolutions {
		r := &resolutions[i]
		last := r.at(now)
		for n := last - r.count + 1; n <= last; n++ {
			if c := s[r.cell(n)]; c != (cell{}) {
				l := c.load()
				step := Step{float64(n)}
				copy(step[1:], l[:])
				out[i] = append(out[i], step)
			}
		}
	}
	return out
}

// show returns the label of a key.
func (s *Snapshot) show(key string) string {
	if s.label == nil {
		return Label(key)
	}
	return s.label(key)
}

// String returns a summary without keys.
func (s *Snapshot) String() string {
	return fmt.Sprintf("heat of %d resources in %d key ranges, until %s", len(s.Resources), len(s.Ranges), s.Taken.Format(time.RFC3339))
}

// LogValue keeps the keys out of logs.
func (s *Snapshot) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Save writes the snapshot as JSON.
func (s *Snapshot) Save(w io.Writer) error { return json.NewEncoder(w).Encode(s) }

// Load reads a snapshot that Save wrote. Its error for other data matches [ErrSnapshot] and
// contains no key. The options are those of a Meter; nil means the zero Options.
func Load(r io.Reader, opts *Options) (*Snapshot, error) {
	s := &Snapshot{}
	if opts != nil {
		s.label = opts.Label
	}
	if err := json.NewDecoder(r).Decode(s); err != nil {
		return nil, fmt.Errorf("%w: malformed JSON", ErrSnapshot)
	}
	sorted := slices.IsSortedFunc(s.Ranges, func(a, b Range) int { return strings.Compare(a.From, b.From) })
	if s.Version != snapshotVersion || !sorted || len(s.Ranges) == 0 || s.Taken.Unix() < 0 {
		return nil, fmt.Errorf("%w: version %d", ErrSnapshot, s.Version)
	}
	return s, nil
}

// Merge returns the sum of the snapshots of several processes. The load of a range that
// another snapshot divides is divided evenly. It has the labels of the first snapshot. nil
// snapshots are ignored.
func Merge(snapshots ...*Snapshot) *Snapshot {
	m := newMeter(nil)
	taken := m.began
	snapshots = slices.DeleteFunc(slices.Clone(snapshots), func(s *Snapshot) bool { return s == nil })
	for i, s := range snapshots {
		if i == 0 || s.Since.Before(m.began) {
			m.began = s.Since
		}
		if i == 0 || s.Taken.After(taken) {
			taken = s.Taken
		}
		for _, r := range s.Ranges {
			m.buckets.start(r.From)
		}
	}
	for _, s := range snapshots {
		m.add(s, taken)
	}
	for len(m.buckets.list) > maxBuckets {
		m.buckets.merge(m.buckets.coldest())
	}
	sum := m.snapshot(taken)
	if len(snapshots) > 0 {
		sum.label = snapshots[0].label
	}
	return sum
}

// add adds the figures of a snapshot, whose ranges start where buckets do.
func (m *Meter) add(s *Snapshot, now time.Time) {
	for name, counted := range s.Resources {
		switch {
		case name == "":
			m.traced.Add(uint32(counted.Traced))
			m.dialed.Add(uint32(counted.Dialed))
			continue
		case m.resources[name] == nil:
			m.resources[name] = &resource{name: name}
		}
		m.resources[name].counts[0] = m.resources[name].counts[0].plus(counted)
	}
	m.partitions.merge(s.Partitions)
	m.rows.merge(s.Rows)
	for i, r := range s.Ranges {
		first, end := m.buckets.find([]byte(r.From)), len(m.buckets.list)
		if i+1 < len(s.Ranges) {
			end = max(m.buckets.find([]byte(s.Ranges[i+1].From)), first+1)
		}
		for _, e := range m.buckets.list[first:end] {
			e.weight += e.series.merge(&r, 1/float64(end-first), now)
			e.keys.known = max(e.keys.known, r.Keys/float64(end-first))
		}
	}
}

// merge adds a share of the loads of a range, and returns the weight of the last 28 days.
func (s *series) merge(r *Range, share float64, now time.Time) (weight float64) {
	for i, steps := range r.Steps {
		r := &resolutions[i]
		last := r.at(now)
		for _, step := range steps {
			if n := int64(step[0]); n > max(last-r.count, 0) && n <= last {
				l := load(step[1:])
				s[r.cell(n)].add(&l, share)
				if i == len(resolutions)-1 {
					weight += share * l.weight()
				}
			}
		}
	}
	return weight
}
