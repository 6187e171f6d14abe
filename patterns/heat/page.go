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
	"net/http"
	"net/url"
	"reflect"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

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
	if err := pageTemplate.Execute(&text, newPicture(newView(s, parameters))); err != nil {
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

// Where page.html shows the image, in pixels.
const (
	mapLeft, mapTop, mapWidth, mapHeight = 230, 10, 930, 480
	maxHot                               = 12
)

// picture is what page.html shows.
type picture struct {
	Measure                                                measure
	From, To, Step, Since                                  string
	Measures, Spans                                        []choice
	Out                                                    string
	Image                                                  template.URL
	Keys, Times                                            []axisLabel
	Tiles                                                  []tile
	Max, Target, Transactions, AccountShare, AccountTarget string
	Findings                                               []Finding
	Hot                                                    []hotLine
	Labels                                                 string
	Legend                                                 []legendStop
}

type choice struct {
	Name, Link string
	On         bool
}

type axisLabel struct {
	Text       string
	At, TextAt int
	Edge       bool
}

type tile struct {
	X, Y, W, H  int
	Link, Title string
}

type hotLine struct {
	Table, Key, Rate, Written, Throttled, Share string
	Width                                       int
}

func newPicture(v view) *picture {
	r := &resolutions[v.resolution]
	values, most := v.matrix()
	p := &picture{
		Measure: measures[v.measure], Step: stepName(r.step), Since: v.s.Since.Format("2 January 2006 15:04"),
		From: r.start(v.steps[0]).Format("2 January 15:04"), To: r.start(v.steps[1]).Format("2 January 2006 15:04"),
		Image: heatMap(values, most), Max: number(most), Findings: v.s.Findings(),
		Target: number(PartitionTarget), AccountTarget: number(AccountTarget),
		Labels: "chosen by the program", Legend: legend(),
	}
	if v.s.label == nil || reflect.ValueOf(v.s.label).Pointer() == reflect.ValueOf(Label).Pointer() {
		p.Labels = "the text before the first digit, and a hash of the rest"
	}
	p.choices(v)
	p.axes(v)
	p.tiles(v)
	p.hottest(v)
	return p
}

func stepName(step time.Duration) string {
	if step == time.Hour {
		return "an hour"
	}
	return fmt.Sprintf("%d min", step/time.Minute)
}

func (p *picture) choices(v view) {
	for i, m := range measures {
		to := v
		to.measure = i
		p.Measures = append(p.Measures, choice{m.Name, to.link(), i == v.measure})
	}
	for i, name := range spans {
		to := view{measure: v.measure, resolution: i}
		p.Spans = append(p.Spans, choice{name, to.link(), i == v.resolution})
	}
	if v.zoomed {
		p.Out = p.Spans[v.resolution].Link
	}
}

// axes places labels that do not overlap: the names of tables first, then keys.
func (p *picture) axes(v view) {
	const apart = 15
	n := v.keys[1] - v.keys[0]
	taken := map[int]bool{}
	for _, edges := range []bool{true, false} {
		for i := range n {
			label, edge := v.name(v.keys[0] + i)
			at := mapTop + i*mapHeight/n
			if edge != edges || near(taken, at, apart) {
				continue
			}
			taken[at] = true
			p.Keys = append(p.Keys, axisLabel{label, at, at + 10, edge})
		}
	}
	r := &resolutions[v.resolution]
	steps := v.steps[1] - v.steps[0]
	every, format := int64(1), "15:04"
	for _, d := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour} {
		if every = int64(d / r.step); every > 0 && steps/every <= 14 {
			if d >= 6*time.Hour {
				format = "2 Jan 15:04"
			}
			if d >= 24*time.Hour {
				format = "2 Jan"
			}
			break
		}
	}
	for step := v.steps[0]; step < v.steps[1]; step++ {
		if at := mapLeft + int((step-v.steps[0])*mapWidth/steps); step%every == 0 && at > mapLeft+10 {
			p.Times = append(p.Times, axisLabel{Text: r.start(step).Format(format), At: at})
		}
	}
}

func near(taken map[int]bool, at, distance int) bool {
	for other := range taken {
		if max(at-other, other-at) < distance {
			return true
		}
	}
	return false
}

// tiles are the links that zoom in.
func (p *picture) tiles(v view) {
	n, steps := v.keys[1]-v.keys[0], v.steps[1]-v.steps[0]
	rows, columns := min(n, 8), min(steps, 12)
	if rows <= 1 && columns <= 1 {
		return
	}
	r := &resolutions[v.resolution]
	for row := range rows {
		for column := range columns {
			to := v
			to.zoomed = true
			to.keys = [2]int{v.keys[0] + row*n/rows, v.keys[0] + (row+1)*n/rows}
			to.steps = [2]int64{v.steps[0] + column*steps/columns, v.steps[0] + (column+1)*steps/columns}
			x, y := mapLeft+int(column*mapWidth/columns), mapTop+row*mapHeight/rows
			label, _ := v.name(to.keys[0])
			p.Tiles = append(p.Tiles, tile{x, y, int((column+1)*mapWidth/columns) + mapLeft - x, (row+1)*mapHeight/rows + mapTop - y, to.link(),
				fmt.Sprintf("%s, from %s", label, r.start(to.steps[0]).Format("2 Jan 15:04"))})
		}
	}
}

func (p *picture) hottest(v view) {
	for _, h := range v.s.Partitions[:min(len(v.s.Partitions), maxHot)] {
		resource, partition, _ := placeParts(h.Key)
		rate := h.Peak / 60
		p.Hot = append(p.Hot, hotLine{resourceName(resource), v.s.show(partition), number(rate), number(h.Written), number(h.Throttled),
			fmt.Sprintf("%.2g%%", 100*rate/PartitionTarget), int(min(max(70*rate/PartitionTarget, 0.5), 70))})
	}
	minutes := map[float64]float64{}
	most := 0.0
	for _, r := range v.s.Ranges {
		for _, step := range r.Steps[0] {
			minutes[step[0]] += step[1+transactions]
			most = max(most, minutes[step[0]])
		}
	}
	p.Transactions = number(most / 60)
	p.AccountShare = fmt.Sprintf("%.2g%%", 100*most/60/AccountTarget)
}

// heatMap returns the values as the address of an image, one pixel for each.
func heatMap(values [][]float64, most float64) template.URL {
	width := 1
	if len(values) > 0 {
		width = len(values[0])
	}
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = shade(i)
	}
	m := image.NewPaletted(image.Rect(0, 0, width, max(len(values), 1)), palette)
	for y, row := range values {
		for x, v := range row {
			m.SetColorIndex(x, y, brightness(v, most))
		}
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m) // to memory: never fails
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
}

// magma are colors of the palette of that name by Smith and van der Walt, whose lightness is
// even: from black over purple and orange to a light yellow.
var magma = [...]color.RGBA{{0, 0, 4, 255}, {28, 16, 68, 255}, {79, 18, 123, 255}, {129, 37, 129, 255}, {181, 54, 122, 255},
	{229, 80, 100, 255}, {251, 135, 97, 255}, {254, 194, 135, 255}, {252, 253, 191, 255}}

// shade returns the color of a brightness.
func shade(brightness int) color.RGBA {
	const apart = 256 / (len(magma) - 1)
	a, b, at := magma[brightness/apart], magma[brightness/apart+1], brightness%apart
	between := func(a, b uint8) uint8 { return uint8((int(a)*(apart-at) + int(b)*at) / apart) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}
}

type legendStop struct {
	Offset int
	Color  string
}

func legend() (stops []legendStop) {
	for i, c := range magma {
		stops = append(stops, legendStop{100 * i / (len(magma) - 1), fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)})
	}
	return stops
}
