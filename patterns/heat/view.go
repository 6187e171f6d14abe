package heat

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
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

// view is the part of a snapshot that a page shows. Its methods are for page.html.
type view struct {
	*Snapshot
	measure
	index      int // of the measure
	resolution int
	keys       [2]int   // of Snapshot.Ranges
	steps      [2]int64 // numbers of steps
	Zoomed     bool
	values     [][]float64 // by key range and step
	Max        float64
}

// newView reads the parameters of a link: m, the measure; t, the resolution; k and s, the
// key ranges and the steps. Invalid ones are ignored.
func newView(s *Snapshot, q url.Values) *view {
	v := &view{Snapshot: s, keys: [2]int{0, len(s.Ranges)}}
	v.index = max(0, slices.IndexFunc(measures, func(m measure) bool { return m.Name == q.Get("m") }))
	v.measure = measures[v.index]
	if i, err := strconv.Atoi(q.Get("t")); err == nil && i > 0 && i < len(resolutions) {
		v.resolution = i
	}
	for v.keys[0] < len(s.Ranges)-1 && s.Ranges[v.keys[0]].empty() {
		v.keys[0]++ // in front of the first key
	}
	last := v.step().at(s.Taken)
	v.steps = [2]int64{last - v.step().count + 1, last + 1}
	if from, to, ok := interval(q.Get("k")); ok && from < int64(len(s.Ranges)) {
		v.keys, v.Zoomed = [2]int{int(from), int(min(to, int64(len(s.Ranges))))}, true
	}
	if from, to, ok := interval(q.Get("s")); ok && from >= v.steps[0] && to <= v.steps[1] {
		v.steps, v.Zoomed = [2]int64{from, to}, true
	}
	for _, r := range s.Ranges[v.keys[0]:v.keys[1]] {
		row := make([]float64, v.steps[1]-v.steps[0])
		for _, step := range r.Steps[v.resolution] {
			if n := int64(step[0]); n >= v.steps[0] && n < v.steps[1] {
				l := load(step[1:])
				value := v.value(&l, v.step().step.Minutes())
				row[n-v.steps[0]], v.Max = value, max(v.Max, value)
			}
		}
		v.values = append(v.values, row)
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

func (r *Range) empty() bool { return len(r.Steps[0])+len(r.Steps[1])+len(r.Steps[2]) == 0 }

func (v *view) step() *resolution { return &resolutions[v.resolution] }

// Column returns the step as a word.
func (v *view) Column() string {
	return [...]string{"a minute", "ten minutes", "an hour"}[v.resolution]
}

// Start and End return the time shown.
func (v *view) Start() time.Time { return v.step().start(v.steps[0]) }
func (v *view) End() time.Time   { return v.step().start(v.steps[1]) }

// link is a link, or a label at an axis.
type link struct {
	Text, Link string
	X, Y, W, H int
	On         bool
}

func address(measure, resolution int) string {
	return fmt.Sprintf("?m=%s&t=%d", measures[measure].Name, resolution)
}

// Measures and Spans return the links to other views.
func (v *view) Measures() (links []link) {
	for i, m := range measures {
		links = append(links, link{Text: m.Name, Link: address(i, v.resolution), On: i == v.index})
	}
	return links
}

func (v *view) Spans() (links []link) {
	for i, name := range [...]string{"6 hours", "4 days", "28 days"} {
		links = append(links, link{Text: name, Link: address(v.index, i), On: i == v.resolution && !v.Zoomed})
	}
	return links
}

// Width and Height are those of the heat map in page.html.
const width, height = 870, 480

// Keys returns the labels of key ranges, as many as have room. On are those of the first
// range of a table.
func (v *view) Keys() (labels []link) {
	const apart = 14
	last, table := map[bool]int{true: -apart, false: -apart}, ""
	for i, r := range v.Ranges[v.keys[0]:v.keys[1]] {
		resource, key := v.Name(r.From)
		y := i * height / len(v.values)
		for _, l := range []link{{Text: resource, Y: y, On: true}, {Text: key, Y: y}} {
			if l.Text != "" && (!l.On || resource != table) && y-last[l.On] >= apart {
				l.Text = shortened(l.Text, map[bool]int{true: 16, false: 27}[l.On])
				labels = append(labels, l)
				last[l.On] = y
			}
		}
		table = resource
	}
	return labels
}

func shortened(text string, length int) string {
	if r := []rune(text); len(r) > length {
		return string(r[:length-1]) + "…"
	}
	return text
}

// Name returns the labels of a resource and of a key in it.
func (v *view) Name(place string) (resource, key string) {
	resource, partition, row := placeParts(place)
	if strings.Contains(place, "\x00") {
		key = v.show(partition)
	}
	if row != "" {
		key += " / " + v.show(row)
	}
	return resourceName(resource), key
}

// Times returns the labels of the steps, at most fourteen.
func (v *view) Times() (labels []link) {
	r, steps := v.step(), v.steps[1]-v.steps[0]
	every, format := int64(1), "15:04"
	for _, minutes := range []int64{1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880} {
		if every = minutes * int64(time.Minute) / int64(r.step); every > 0 && steps/every <= 14 {
			switch {
			case minutes >= 1440:
				format = "2 Jan"
			case minutes >= 360:
				format = "2 Jan 15:04"
			}
			break
		}
	}
	for step := v.steps[0] + 1; step < v.steps[1]; step++ {
		if step%every == 0 {
			labels = append(labels, link{Text: r.start(step).Format(format), X: int((step - v.steps[0]) * width / steps)})
		}
	}
	return labels
}

// Tiles returns the links that zoom in.
func (v *view) Tiles() (links []link) {
	n, steps := v.keys[1]-v.keys[0], int(v.steps[1]-v.steps[0])
	rows, columns := min(n, 8), min(steps, 12)
	for row := range rows {
		for column := range columns {
			key, end := v.keys[0]+row*n/rows, v.keys[0]+(row+1)*n/rows
			from, to := v.steps[0]+int64(column*steps/columns), v.steps[0]+int64((column+1)*steps/columns)
			x, y := column*width/columns, row*height/rows
			resource, label := v.Name(v.Ranges[key].From)
			links = append(links, link{
				Text: fmt.Sprintf("%s %s, from %s", resource, label, v.step().start(from).Format("2 Jan 15:04")),
				Link: fmt.Sprintf("%s&k=%d-%d&s=%d-%d", address(v.index, v.resolution), key, end, from, to),
				X:    x, Y: y, W: (column+1)*width/columns - x, H: (row+1)*height/rows - y,
			})
		}
	}
	return links
}

// Hot returns the hottest partitions.
func (v *view) Hot() (lines []hotLine) {
	for _, h := range v.Partitions[:min(len(v.Partitions), 12)] {
		table, key := v.Name(h.Key)
		lines = append(lines, hotLine{h, table, key, h.Peak / 60, 100 * h.Peak / 60 / PartitionTarget})
	}
	return lines
}

type hotLine struct {
	Hot
	Table, Partition string
	Rate, Share      float64
}

// Transactions returns the transactions per second of the account in its busiest minute.
func (v *view) Transactions() float64 { return v.busiest("", transactions) }

// AccountShare returns their percentage of the target.
func (v *view) AccountShare() float64 { return 100 * v.Transactions() / AccountTarget }

// Labels returns how keys are shown.
func (v *view) Labels() string {
	if v.label == nil || reflect.ValueOf(v.label).Pointer() == reflect.ValueOf(Label).Pointer() {
		return "the text before the first digit, and a hash of the rest"
	}
	return "chosen by the program"
}
