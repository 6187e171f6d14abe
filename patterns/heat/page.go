package heat

import (
	"bytes"
	_ "embed" // page.html
	"encoding/base64"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/url"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"number": number}).Parse(pageText))

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

// magma are colors of the palette of that name by Smith and van der Walt, whose lightness is
// even: from black over purple and orange to a light yellow.
var magma = [...]color.RGBA{{0, 0, 4, 255}, {28, 16, 68, 255}, {79, 18, 123, 255}, {129, 37, 129, 255}, {181, 54, 122, 255},
	{229, 80, 100, 255}, {251, 135, 97, 255}, {254, 194, 135, 255}, {252, 253, 191, 255}}

// shade returns the color of a brightness from 0 to 255.
func shade(brightness int) color.RGBA {
	const apart = 256 / (len(magma) - 1)
	a, b, at := magma[brightness/apart], magma[brightness/apart+1], brightness%apart
	between := func(a, b uint8) uint8 { return uint8((int(a)*(apart-at) + int(b)*at) / apart) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}
}

// Legend returns the address of an image of all colors.
func (v *view) Legend() template.URL {
	return picture(256, 1, func(x, _ int) uint8 { return uint8(x) })
}

// Image returns the address of the heat map: a pixel for each key range and step, on a
// logarithmic scale.
func (v *view) Image() template.URL {
	return picture(int(v.steps[1]-v.steps[0]), v.keys[1]-v.keys[0], func(x, y int) uint8 {
		if value := v.values[y][x]; value > 0 {
			return uint8(255 * math.Log1p(value) / math.Log1p(v.Max))
		}
		return 0
	})
}

func picture(width, height int, brightness func(x, y int) uint8) template.URL {
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = shade(i)
	}
	m := image.NewPaletted(image.Rect(0, 0, width, max(height, 1)), palette)
	for y := range height {
		for x := range width {
			m.SetColorIndex(x, y, brightness(x, y))
		}
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m) // to memory: never fails
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
}
