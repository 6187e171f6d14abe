package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// The figures are those of virtual time: they do not depend on the speed of this machine.
func TestTheTableGrowsAndSurvivesTheLossOfARegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		all := assert.Must(openAll())(t)
		phases := assert.Must(run(t.Context(), &out, all))(t)
		time.Sleep(time.Minute) // requests that were abandoned end
		t.Log("\n" + out.String())
		check(t, phases)
		readme := assert.Must(os.ReadFile("README.md"))(t)
		if !strings.Contains(shape(string(readme)), shape(out.String())) {
			t.Error("the README shows other lines or columns")
		}
	})
}

var number, space = regexp.MustCompile(`\d+`), regexp.MustCompile(` +`)

// shape returns text without the values of its figures.
func shape(text string) string {
	return space.ReplaceAllString(number.ReplaceAllString(text, "0"), " ")
}

func check(t *testing.T, phases []figures) {
	const ms = time.Millisecond
	for i, want := range []struct {
		name          string
		goodput, most float64
		refused       float64
		p99           time.Duration
		secondary     float64 // share of reads and writes, at most
	}{
		{"one account, 3 clients", 590, 605, 0, 6 * ms, 0},
		{"one account, 24 clients", 1900, 2400, 0.02, 200 * ms, 0.05},
		{"account b is added", 1900, 3000, 0.01, 100 * ms, 0.05},
		{"account c is added", 3000, 4600, 0.01, 100 * ms, 0.05},
		{"three accounts", 4500, 4810, 0.005, 20 * ms, 0.01},
		{"a loses its primary region", 2000, 4810, 0.005, 20 * ms, 0.5},
		{"the region is back", 4500, 4810, 0.005, 20 * ms, 0.3},
	} {
		f := phases[i]
		if f.name != want.name {
			t.Errorf("phase %d is %q, want %q", i, f.name, want.name)
		}
		if f.goodput() < want.goodput || f.goodput() > want.most || f.share() > want.refused || f.p99 > want.p99 {
			t.Errorf("%v: want %v to %v per second, at most %v refused, and %v", f, want.goodput, want.most, want.refused, want.p99)
		}
		if f.failedReads > 0 || float64(f.fromSecondary) > want.secondary*float64(f.done) {
			t.Errorf("%v: reads failed, or too many used the secondary", f)
		}
		down := f.name == "a loses its primary region"
		if down != (f.fromSecondary > f.done/8) && f.name != "the region is back" {
			t.Errorf("%v: the secondary answered the wrong number of reads", f)
		}
	}
}
