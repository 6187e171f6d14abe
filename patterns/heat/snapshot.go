package heat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	Resources map[string]map[string]float64 `json:"resources"`

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
}

// Step is the load of one step of time: the number of the step, counted from 1970, then
// entities read, entities written, transactions, bytes, the sum of the latencies in
// milliseconds, transactions that the SDK repeated, and those that were throttled.
type Step [1 + figures]float64

// Hot is a partition or a row with much load.
type Hot struct {
	Key       string  `json:"key"`      // as Range.From
	Entities  float64 `json:"entities"` // read and written; halved every hour, so recent load counts more
	Written   float64 `json:"written"`  // of these
	Uncertain float64 `json:"uncertain,omitempty"`
	Peak      float64 `json:"peak"`   // entities in the busiest minute
	PeakAt    int64   `json:"peakAt"` // number of that minute
	Throttled float64 `json:"throttled,omitempty"`
}

// Snapshot returns what the meter has counted.
func (m *Meter) Snapshot() *Snapshot { return m.snapshot(m.now()) }

func (m *Meter) snapshot(now time.Time) *Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(now)
	s := &Snapshot{Version: snapshotVersion, Since: m.began.UTC(), Taken: now.UTC(), Resources: map[string]map[string]float64{}, label: m.label}
	for key, r := range m.resources {
		named := map[string]float64{}
		for i, name := range countNames {
			if n := r.counts[0][i] + r.counts[1][i]; n != 0 {
				named[name] = n
			}
		}
		s.Resources[string(key.service)+key.name] = named
	}
	if n := m.traced.Load(); n > 0 {
		s.Resources[""] = map[string]float64{countNames[countTraced]: float64(n), countNames[countDialed]: float64(m.dialed.Load())}
	}
	for _, b := range m.buckets.list {
		s.Ranges = append(s.Ranges, Range{From: b.from, Steps: b.series.steps(now)})
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

// list returns the keys with the most load.
func (t *top) list() []Hot {
	var list []Hot
	for i := range t.sets {
		for j := range t.sets[i].hot {
			if e := &t.sets[i].hot[j]; e.key.n > 0 && e.total.entities() > 2*e.uncertain {
				list = append(list, Hot{string(e.key.bytes()), e.total.entities(), e.total[writes], e.uncertain, e.peak, e.peakAt, e.rejected})
			}
		}
	}
	return hottest(list)
}

// hottest sorts a list and shortens it.
func hottest(list []Hot) []Hot {
	slices.SortFunc(list, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Peak, a.Peak), cmp.Compare(b.Entities, a.Entities), cmp.Compare(a.Key, b.Key))
	})
	return list[:min(len(list), 100)]
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
	s := &Snapshot{label: Label}
	if opts != nil && opts.Label != nil {
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
	sum := &Snapshot{Version: snapshotVersion, Resources: map[string]map[string]float64{}, label: Label}
	var all buckets
	partitions, rows := map[string]Hot{}, map[string]Hot{}
	first := true
	for _, s := range snapshots {
		if s == nil {
			continue
		}
		if first {
			sum.Since, sum.label, first = s.Since, s.label, false
		}
		if s.Since.Before(sum.Since) {
			sum.Since = s.Since
		}
		if s.Taken.After(sum.Taken) {
			sum.Taken = s.Taken
		}
		for name, counted := range s.Resources {
			if sum.Resources[name] == nil {
				sum.Resources[name] = map[string]float64{}
			}
			for i, n := range counted {
				sum.Resources[name][i] += n
			}
		}
		for _, r := range s.Ranges {
			all.start(r.From)
		}
		addHot(partitions, s.Partitions)
		addHot(rows, s.Rows)
	}
	for _, s := range snapshots {
		if s != nil {
			all.addSnapshot(s, sum.Taken)
		}
	}
	for len(all.list) > maxBuckets {
		all.mergeColdest()
	}
	for _, b := range all.list {
		sum.Ranges = append(sum.Ranges, Range{From: b.from, Steps: b.series.steps(sum.Taken)})
	}
	sum.Partitions, sum.Rows = hotList(partitions), hotList(rows)
	return sum
}

// addSnapshot adds the loads of a snapshot.
func (b *buckets) addSnapshot(s *Snapshot, now time.Time) {
	for i, r := range s.Ranges {
		first, end := b.find([]byte(r.From)), len(b.list)
		if i+1 < len(s.Ranges) {
			end = max(b.find([]byte(s.Ranges[i+1].From)), first+1)
		}
		share := 1 / float64(end-first)
		for _, e := range b.list[first:end] {
			for i, steps := range r.Steps {
				r := &resolutions[i]
				last := r.at(now)
				for _, step := range steps {
					if n := int64(step[0]); n > max(last-r.count, 0) && n <= last {
						l := load(step[1:])
						e.series[r.cell(n)].add(&l, share)
					}
				}
			}
		}
	}
}

func addHot(sum map[string]Hot, list []Hot) {
	for _, h := range list {
		e, ok := sum[h.Key]
		if !ok {
			sum[h.Key] = h
			continue
		}
		switch {
		case e.PeakAt == h.PeakAt:
			e.Peak += h.Peak
		case h.Peak > e.Peak:
			e.Peak, e.PeakAt = h.Peak, h.PeakAt
		}
		e.Entities, e.Written = e.Entities+h.Entities, e.Written+h.Written
		e.Uncertain, e.Throttled = e.Uncertain+h.Uncertain, e.Throttled+h.Throttled
		sum[h.Key] = e
	}
}

func hotList(sum map[string]Hot) []Hot {
	list := make([]Hot, 0, len(sum))
	for _, h := range sum {
		list = append(list, h)
	}
	return hottest(list)
}
