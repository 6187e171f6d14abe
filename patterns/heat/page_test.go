package heat_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/heat"
)

var monthOnce struct {
	sync.Once
	s *heat.Snapshot
}

// month returns the snapshot of a synthetic load of 28 days: office hours, a nightly export,
// a hot partition, and a log whose keys grow.
func month(t *testing.T) *heat.Snapshot {
	monthOnce.Do(func() {
		synctest.Test(t, func(*testing.T) {
			m := newMeter(t, nil)
			heat.FillMonth(m, time.Now())
			monthOnce.s = m.Snapshot()
		})
	})
	return monthOnce.s
}

func get(h http.Handler, query string) (*http.Response, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+query, nil))
	return w.Result(), w.Body.String()
}

var links = regexp.MustCompile(`href="(\?[^"]*)"`)

func TestEveryLinkOfThePageLeadsToASmallPageWithoutScripts(t *testing.T) {
	h := month(t).Handler()
	_, first := get(h, "")
	seen := map[string]bool{}
	for _, match := range links.FindAllStringSubmatch(first, -1) {
		link := strings.ReplaceAll(match[1], "&amp;", "&")
		if seen[link] {
			continue
		}
		seen[link] = true
		resp, page := get(h, link)
		if resp.StatusCode != http.StatusOK || len(page) > 500_000 || !strings.Contains(page, "Hottest partitions") {
			t.Fatalf("%s: status %d, %d bytes", link, resp.StatusCode, len(page))
		}
		for _, forbidden := range []string{"<script", "http://", "https://", "@import", "onload"} {
			if strings.Contains(page, forbidden) {
				t.Errorf("%s contains %q", link, forbidden)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("%d links", len(seen))
	}
	for _, hostile := range []string{"?m=x&t=9", "?t=-1", "?k=5-3", "?k=0-99999&s=1-2", "?s=-1--9", "?k=127-128&s=0-1", "?k=a-b"} {
		if resp, _ := get(h, hostile); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", hostile, resp.StatusCode)
		}
	}
}

func TestAMeterWithoutDataHasAPage(t *testing.T) {
	if _, page := get(newMeter(t, nil).Handler(), ""); !strings.Contains(page, "No partition was read or written") {
		t.Error(page)
	}
	var s heat.Snapshot
	if _, page := get(s.Handler(), ""); !strings.Contains(page, "No partition was read or written") {
		t.Error(page)
	}
}

// chromium returns the command of a headless Chromium, or skips the test if there is none.
// The environment variable AZPATTERNS_CHROMIUM is like AZPATTERNS_AZURITE.
func chromium(t *testing.T, args ...string) []byte {
	t.Helper()
	mode := os.Getenv("AZPATTERNS_CHROMIUM")
	path, err := exec.LookPath("chromium")
	switch {
	case mode == "off", err != nil && mode != "require":
		t.Skip("no Chromium")
	case err != nil:
		t.Fatal(err)
	}
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1240,1400", "--user-data-dir=" + t.TempDir()}, args...)
	out := assert.Must(exec.CommandContext(t.Context(), path, args...).Output())(t)
	return out
}

func TestChromiumShowsLabelsAndABrightBandAtTheHotKey(t *testing.T) {
	s := month(t)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	for _, scheme := range []string{"light", "dark"} {
		address, shot := server.URL+"/?t=0", filepath.Join(t.TempDir(), "page.png")
		args := []string{"--screenshot=" + shot}
		if scheme == "dark" {
			args = append(args, "--force-dark-mode")
		}
		chromium(t, append(args, address)...)
		file := assert.Must(os.ReadFile(shot))(t)
		picture := assert.Must(png.Decode(bytes.NewReader(file)))(t)
		// The page is 1,240 pixels wide, of which 1,150 are those of the drawing.
		light := func(x, y int) int {
			r, g, b, _ := picture.At(x, y).RGBA()
			return int(r+g+b) >> 8
		}
		if background := light(4, 4); (background > 384) != (scheme == "light") {
			t.Errorf("%s: the background has the lightness %d", scheme, background)
		}
		at := bandOf(t, s)
		bright, most := 0, 0         // of bands of 30 pixels, which is more than a line between tables
		for y := 210; y < 600; y++ { // below the bars over the map, which can be brighter
			sum := 0
			for x := 1040; x < 1140; x++ {
				for dy := range 30 {
					sum += light(x, y+dy)
				}
			}
			if sum > most {
				bright, most = y, sum
			}
		}
		const top, scale = 168, 0.975 // of the drawing
		if want := top + int(at*480*scale); bright < want-30 || bright > want+150 {
			t.Errorf("%s: the brightest band starts at %d, the hot partition starts at %d", scheme, bright, want)
		}
	}
	dom := string(chromium(t, "--dump-dom", server.URL+"/?t=2"))
	for _, want := range []string{"Orders", "Events", "Catalog", "customer_#", "entities/min", "27 Dec", "one hot partition"} {
		assert.Contains(t, dom, want, "the page does not show")
	}
}

// bandOf returns how far down in the picture the first range of the hottest partition is.
func bandOf(t *testing.T, s *heat.Snapshot) float64 {
	t.Helper()
	for i, r := range s.Ranges {
		if strings.HasPrefix(r.From, "tOrders\x00customer_31415") {
			return float64(i-1) / float64(len(s.Ranges)-1)
		}
	}
	t.Fatal("the hot partition has no range")
	return 0
}

func TestNoKeyIsOnThePage(t *testing.T) {
	s := month(t)
	h := s.Handler()
	for _, link := range []string{"", "?t=1", "?t=2", "?m=latency"} {
		_, page := get(h, link)
		for _, key := range []string{"31415", "1999120", "2000010"} {
			if strings.Contains(page, key) {
				t.Errorf("%q shows a key with %s", link, key)
			}
		}
	}
	for _, f := range s.Findings() {
		if text := fmt.Sprintf("%+v", f); strings.Contains(text, "31415") {
			t.Error(text)
		}
	}
}
