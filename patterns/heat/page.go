package heat

import (
	"bytes"
	_ "embed" // page.html
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"number":      number,
	"measures":    func() []measure { return measures },
	"resolutions": func() []resolution { return resolutions[:] },
}).Parse(pageText))

// Handler returns a handler that serves one page: the heat map, the findings and the
// hottest partitions. The page has no scripts and no external resources, has less than
// 500 kB, and contains labels instead of keys. It shows what a service does: serve it like
// other diagnostics, not to the public.
func (m *Meter) Handler() http.Handler { return handler(m.Snapshot) }

// Handler is [Meter.Handler] of a snapshot, for example of a merged one.
func (s *Snapshot) Handler() http.Handler { return handler(func() *Snapshot { return s }) }

// Page writes the page of [Meter.Handler]. The parameters are those of one of its links; nil
// is the first page. It returns the error of w.
func (s *Snapshot) Page(w io.Writer, parameters url.Values) error {
	var text bytes.Buffer // html/template writes in small pieces
	if err := pageTemplate.Execute(&text, newView(s, parameters)); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}

func handler(snapshot func() *Snapshot) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:; style-src 'unsafe-inline'")
		w.Header().Set("Cache-Control", "no-store")
		_ = snapshot().Page(w, req.URL.Query()) // fails if the client has gone
	})
}

// measure is what the heat map shows.
type measure struct {
	Name, Title, Unit string
	value             func(l *load, minutes float64) float64
}

// measures are averages of the keys of a range, except for the latency: a range is no brighter
// because it has more keys.
var measures = []measure{
	{"entities", "Entities per minute", "entities/min", func(l *load, minutes float64) float64 { return l.entities() / minutes }},
	{"reads", "Entities read per minute", "entities/min", func(l *load, minutes float64) float64 { return l[reads] / minutes }},
	{"writes", "Entities written per minute", "entities/min", func(l *load, minutes float64) float64 { return l[writes] / minutes }},
	{"bytes", "KiB per minute", "KiB/min", func(l *load, minutes float64) float64 { return l[transferred] / 1024 / minutes }},
	{"latency", "Mean latency", "ms", func(l *load, _ float64) float64 { return share(l[milliseconds], l[transactions]) }},
	{"throttling", "Throttled requests per minute", "requests/min", func(l *load, minutes float64) float64 { return l[throttled] / minutes }},
}

// view is the part of a snapshot that a page shows. Its methods are for page.html.
type view struct {
	*Snapshot
	measure
	resolution
	Resolution int      // its index
	keys       [2]int   // of Snapshot.Ranges
	steps      [2]int64 // numbers of steps
	Zoomed     bool
	values     [][]float64  // by key range and step, the averages of its keys
	totals     [2][]float64 // by key range, and by step
	Max        float64
}

// newView reads the parameters of a link: m, the measure; t, the resolution; k and s, the
// key ranges and the steps. Invalid ones are ignored.
func newView(s *Snapshot, q url.Values) *view {
	v := &view{Snapshot: s, keys: [2]int{0, len(s.Ranges)}}
	v.measure = measures[max(0, slices.IndexFunc(measures, func(m measure) bool { return m.Name == q.Get("m") }))]
	if i, err := strconv.Atoi(q.Get("t")); err == nil && i > 0 && i < len(resolutions) {
		v.Resolution = i
	}
	v.resolution = resolutions[v.Resolution]
	for v.keys[0] < len(s.Ranges)-1 && s.Ranges[v.keys[0]].empty() {
		v.keys[0]++ // in front of the first key
	}
	last := v.at(s.Taken)
	v.steps = [2]int64{min(max(last-v.count+1, v.at(s.Since)), last), last + 1}
	if from, to, ok := interval(q.Get("k")); ok && from < int64(len(s.Ranges)) {
		v.keys, v.Zoomed = [2]int{int(from), int(min(to, int64(len(s.Ranges))))}, true
	}
	if from, to, ok := interval(q.Get("s")); ok && from >= v.steps[0] && to <= v.steps[1] {
		v.steps, v.Zoomed = [2]int64{from, to}, true
	}
	v.totals[1] = make([]float64, v.steps[1]-v.steps[0])
	for _, r := range s.Ranges[v.keys[0]:v.keys[1]] {
		row, total, keys := make([]float64, v.steps[1]-v.steps[0]), 0.0, max(r.Keys, 1)
		if v.Name == "latency" {
			keys = 1
		}
		for _, step := range r.Steps[v.Resolution] {
			if n := int64(step[0]) - v.steps[0]; n >= 0 && n < int64(len(row)) {
				l := load(step[1:])
				value := v.value(&l, v.step.Minutes())
				row[n], v.Max = value/keys, max(v.Max, value/keys)
				total += value
				v.totals[1][n] += value
			}
		}
		v.values = append(v.values, row)
		v.totals[0] = append(v.totals[0], total)
	}
	return v
}

// interval reads two numbers that are joined by a hyphen.
func interval(text string) (from, to int64, ok bool) {
	n, _ := fmt.Sscanf(text, "%d-%d", &from, &to)
	return from, to, n == 2 && 0 <= from && from < to
}

func (r *Range) empty() bool { return len(r.Steps[0])+len(r.Steps[1])+len(r.Steps[2]) == 0 }

// Start and End return the time shown.
func (v *view) Start() time.Time { return v.start(v.steps[0]) }
func (v *view) End() time.Time   { return v.start(v.steps[1]) }

// decades is the range of the logarithmic scale: a thousandth of the maximum is dark.
const decades = 3 // see Least

// shade returns the brightness of a value, from 0 to 1.
func (v *view) shade(value float64) float64 {
	if value <= 0 {
		return 0
	}
	return max(1+math.Log10(value/v.Max)/decades, 0.05)
}

// Least returns the value at the dark end of the scale.
func (v *view) Least() string { return number(v.Max / 1000) }

// Image returns the address of the heat map: a gray pixel for each key range and step, on a
// logarithmic scale. The page colors it.
func (v *view) Image() template.URL {
	m := image.NewGray(image.Rect(0, 0, int(v.steps[1]-v.steps[0]), max(len(v.values), 1)))
	for y, row := range v.values {
		for x, value := range row {
			m.SetGray(x, y, color.Gray{uint8(255 * v.shade(value))})
		}
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m) // to memory: never fails
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
}

// totals of a page are drawn in a strip of that size.
const strip = 44

// RowTotals and ColumnTotals return the outlines of the sums along both axes.
func (v *view) RowTotals() string {
	return outline(v.totals[0], func(i int, share float64) string {
		n := len(v.totals[0])
		return fmt.Sprintf("H%.1fV%d", width+6+strip*share, (i+1)*height/n)
	})
}

func (v *view) ColumnTotals() string {
	return outline(v.totals[1], func(i int, share float64) string {
		n := len(v.totals[1])
		return fmt.Sprintf("V%.1fH%d", -6-strip*share, (i+1)*width/n)
	})
}

// outline joins the lines of the values, as shares of the largest.
func outline(values []float64, line func(i int, share float64) string) string {
	var b strings.Builder
	most := slices.Max(append([]float64{0}, values...))
	for i, value := range values {
		b.WriteString(line(i, share(value, most)))
	}
	return b.String()
}

// field is a link in the heat map, or a label at an axis.
type field struct {
	Text, Link string
	X, Y, W, H int
	Table      bool // the name of a table
	From       int  // where its rows begin; Y is where it has room
}

// Width and Height are those of the heat map in page.html.
const width, height = 870, 480

// Keys returns the labels of all tables, and of as many key ranges as have room.
func (v *view) Keys() (labels []field) {
	apart, last, table := 14, -14, ""
	var tables []field
	for i, r := range v.Ranges[v.keys[0]:v.keys[1]] {
		resource, key := v.labels(r.From)
		y := i * height / len(v.values)
		if resource != table {
			tables = append(tables, field{Text: shortened(resource, 16), Y: y, From: y, Table: true})
			table = resource
		}
		if key != "" && y >= last+apart && y <= height-apart {
			labels = append(labels, field{Text: shortened(key, 27), Y: y})
			last = y
		}
	}
	// Names of narrow tables move down, or if there is no room, up.
	apart = min(apart, height/max(len(tables), 1))
	for i := 1; i < len(tables); i++ {
		tables[i].Y = max(tables[i].Y, tables[i-1].Y+apart)
	}
	end := height
	for i := len(tables) - 1; i >= 0; i-- {
		tables[i].Y = min(tables[i].Y, end-apart)
		end = tables[i].Y
	}
	return append(labels, tables...)
}

func shortened(text string, length int) string {
	if r := []rune(text); len(r) > length {
		return string(r[:length-1]) + "…"
	}
	return text
}

// labels returns those of a resource and of a key in it.
func (s *Snapshot) labels(place string) (resource, key string) {
	resource, partition, row := placeParts(place)
	if strings.Contains(place, "\x00") {
		key = s.show(partition)
	}
	if row != "" {
		key += " / " + s.show(row)
	}
	return resourceName(resource), key
}

// Times returns the labels of the steps, at most fourteen.
func (v *view) Times() (labels []field) {
	steps := v.steps[1] - v.steps[0]
	every, format := int64(1), "15:04"
	for _, minutes := range []int64{1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880} {
		if every = minutes * int64(time.Minute) / int64(v.step); every > 0 && steps/every <= 14 {
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
			labels = append(labels, field{Text: v.start(step).Format(format), X: int((step - v.steps[0]) * width / steps)})
		}
	}
	return labels
}

// Tiles returns the links that zoom in.
func (v *view) Tiles() (links []field) {
	n, steps := v.keys[1]-v.keys[0], int(v.steps[1]-v.steps[0])
	rows, columns := min(n, 8), min(steps, 12)
	for i := range rows * columns {
		row, column := i/columns, i%columns
		key, end := v.keys[0]+row*n/rows, v.keys[0]+(row+1)*n/rows
		from, to := v.steps[0]+int64(column*steps/columns), v.steps[0]+int64((column+1)*steps/columns)
		x, y := column*width/columns, row*height/rows
		resource, label := v.labels(v.Ranges[key].From)
		links = append(links, field{
			Text: fmt.Sprintf("%s %s, from %s", resource, label, v.start(from).Format("2 Jan 15:04")),
			Link: fmt.Sprintf("?m=%s&t=%d&k=%d-%d&s=%d-%d", v.Name, v.Resolution, key, end, from, to),
			X:    x, Y: y, W: (column+1)*width/columns - x, H: (row+1)*height/rows - y,
		})
	}
	return links
}

// Peak returns when the busiest minute of a partition was.
func (v *view) Peak(h Hot) string {
	return time.Unix(60*h.PeakAt, 0).UTC().Format("2 Jan 15:04")
}

// Cells returns the labels of a partition.
func (v *view) Cells(place string) [2]string {
	resource, key := v.labels(place)
	return [2]string{resource, key}
}

// Labeled reports whether the program chose how keys are shown.
func (v *view) Labeled() bool { return v.label != nil }

// Hot returns the hottest partitions.
func (v *view) Hot() []Hot { return v.Partitions[:min(len(v.Partitions), 12)] }

// Transactions returns the transactions per second of the account in its busiest minute.
func (v *view) Transactions() float64 { return v.busiest("", transactions) }

// AccountShare returns their percentage of the target.
func (v *view) AccountShare() float64 { return 100 * v.Transactions() / AccountTarget }
