package heat

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// measure is what the heat map shows.
type measure struct {
	Name, Title, Unit string
	value             func(l *load, minutes float64) float64
}

func perMinute(of ...int) func(*load, float64) float64 {
	return func(l *load, minutes float64) (sum float64) {
		for _, i := range of {
			sum += l[i]
		}
		return sum / minutes
	}
}

var measures = []measure{
	{"entities", "Entities per minute", "entities/min", perMinute(reads, writes)},
	{"reads", "Entities read per minute", "entities/min", perMinute(reads)},
	{"writes", "Entities written per minute", "entities/min", perMinute(writes)},
	{"bytes", "KiB per minute", "KiB/min", func(l *load, minutes float64) float64 { return l[transferred] / 1024 / minutes }},
	{"latency", "Mean latency", "ms", func(l *load, _ float64) float64 { return share(l[milliseconds], l[transactions]) }},
	{"throttling", "Throttled requests per minute", "requests/min", perMinute(throttled)},
}

var spans = [...]string{"6 hours", "4 days", "28 days"}

// view is the part of a snapshot that a picture shows.
type view struct {
	s          *Snapshot
	measure    int
	resolution int
	keys       [2]int   // of s.Ranges
	steps      [2]int64 // numbers of steps
	zoomed     bool
}

// newView reads the parameters of a link: m, the measure; t, the resolution; k and s, the
// key ranges and the steps. Invalid ones are ignored.
func newView(s *Snapshot, q url.Values) view {
	v := view{s: s, keys: [2]int{0, len(s.Ranges)}}
	for i, m := range measures {
		if m.Name == q.Get("m") {
			v.measure = i
		}
	}
	if i, err := strconv.Atoi(q.Get("t")); err == nil && i > 0 && i < len(resolutions) {
		v.resolution = i
	}
	for len(s.Ranges) > 1 && v.keys[0] < len(s.Ranges)-1 && s.Ranges[v.keys[0]].empty() {
		v.keys[0]++ // in front of the first key
	}
	r := &resolutions[v.resolution]
	last := r.at(s.Taken)
	v.steps = [2]int64{last - r.count + 1, last + 1}
	if from, to, ok := interval(q.Get("k")); ok && from < int64(len(s.Ranges)) {
		v.keys, v.zoomed = [2]int{int(from), int(min(to, int64(len(s.Ranges))))}, true
	}
	if from, to, ok := interval(q.Get("s")); ok && from >= v.steps[0] && to <= v.steps[1] {
		v.steps, v.zoomed = [2]int64{from, to}, true
	}
	return v
}

// interval reads two numbers that are joined by a hyphen.
func interval(text string) (from, to int64, ok bool) {
	a, b, _ := strings.Cut(text, "-")
	from, err := strconv.ParseInt(a, 10, 64)
	to, err2 := strconv.ParseInt(b, 10, 64)
	return from, to, err == nil && err2 == nil && 0 <= from && from < to
}

// link returns the link to a view.
func (v view) link() string {
	link := "?m=" + measures[v.measure].Name + "&t=" + strconv.Itoa(v.resolution)
	if v.zoomed {
		link += "&k=" + strconv.Itoa(v.keys[0]) + "-" + strconv.Itoa(v.keys[1])
		link += "&s=" + strconv.FormatInt(v.steps[0], 10) + "-" + strconv.FormatInt(v.steps[1], 10)
	}
	return link
}

func (r *Range) empty() bool { return len(r.Steps[0])+len(r.Steps[1])+len(r.Steps[2]) == 0 }

// matrix returns the values of the cells, by key range and step, and the largest.
func (v view) matrix() (values [][]float64, most float64) {
	minutes := float64(resolutions[v.resolution].step / time.Minute)
	for i := v.keys[0]; i < v.keys[1]; i++ {
		row := make([]float64, v.steps[1]-v.steps[0])
		for _, step := range v.s.Ranges[i].Steps[v.resolution] {
			if n := int64(step[0]); n >= v.steps[0] && n < v.steps[1] {
				l := load(step[1:])
				row[n-v.steps[0]] = measures[v.measure].value(&l, minutes)
				most = max(most, row[n-v.steps[0]])
			}
		}
		values = append(values, row)
	}
	return values, most
}

// brightness returns a value as 0 to 255, on a logarithmic scale.
func brightness(value, most float64) uint8 {
	if value <= 0 || most <= 0 {
		return 0
	}
	return uint8(min(255*math.Log1p(value)/math.Log1p(most), 255))
}

// name returns the label of the start of a range, and whether a resource starts there.
func (v view) name(i int) (label string, edge bool) {
	resource, partition, row := placeParts(v.s.Ranges[i].From)
	if edge = i == v.keys[0] || resourceOf(v.s.Ranges[i-1].From) != resource; edge {
		label = resourceName(resource)
	}
	if partition != "" {
		if label != "" {
			label += " "
		}
		label += v.s.show(partition)
	}
	if row != "" {
		label += " / " + v.s.show(row)
	}
	if r := []rune(label); len(r) > 30 {
		label = string(r[:29]) + "…"
	}
	return label, edge
}
