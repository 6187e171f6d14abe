package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// A verdict is a row of testdata/verdicts.tsv: a finding in a public repository, or a mistake that is not found, judged by reading.
type verdict struct {
	repository, commit, place, rule string
	first, now                      bool   // reported by the first run, before the rules were changed for this repository; reported now
	is                              string // true, false, repeat (of a finding), missed, or none for a repository without findings
	seen                            bool   // by reading, before the first run
}

func verdicts(t *testing.T) (all []verdict) {
	for line := range strings.Lines(read(t, "testdata/verdicts.tsv")) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 8 || len(f[1]) != 12 || f[3] != "-" && f[3] != "maporder" && Named(f[3]) == nil || !slices.Contains([]string{"true", "false", "repeat", "missed", "none"}, f[6]) {
			t.Fatalf("no verdict: %s", line)
		}
		all = append(all, verdict{f[0], f[1], f[2], f[3], f[4] == "yes", f[5] == "yes", f[6], f[7] == "read"})
	}
	return all
}

// heldOut are the findings that were of the mistake in programs that were held out, of the rules whose whole interval was below 80 % and
// which were not changed for these programs afterwards: the first two in testdata/cases, the others in testdata/services.
var heldOut = map[string]share{"retried": {1, 4}, "quotedkey": {0, 4}, "anyerror": {1, 3}, "onebyone": {2, 5}, "transfer": {1, 3}}

// share is the number of cases for which something holds, with the 95 % interval of Wilson.
type share struct{ holds, of int }

func (s *share) add(holds bool) {
	s.of++
	if holds {
		s.holds++
	}
}

func (s share) interval() (low, high float64) {
	if s.of == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(s.of), float64(s.holds)/float64(s.of)
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (middle - half) / (1 + z*z/n), (middle + half) / (1 + z*z/n)
}

func (s share) String() string {
	if s.of == 0 {
		return "no case"
	}
	low, high := s.interval()
	return fmt.Sprintf("%d of %d (%.0f-%.0f %%)", s.holds, s.of, 100*low, 100*high)
}

// The figures of the README: go test -run Figures -v ./rules
func TestFigures(t *testing.T) {
	type figures struct{ first, now, recallFirst, recall share }
	byRule := map[string]*figures{"all": {}}
	repositories := map[string]bool{}
	for _, v := range verdicts(t) {
		repositories[v.repository] = true
		if byRule[v.rule] == nil {
			byRule[v.rule] = &figures{}
		}
		for _, f := range []*figures{byRule["all"], byRule[v.rule]} {
			if v.first {
				f.first.add(v.is == "true")
			}
			if v.now {
				f.now.add(v.is == "true")
			}
			if v.seen {
				f.recallFirst.add(v.first)
				f.recall.add(v.now)
			}
		}
	}
	text := fmt.Sprintf("%d repositories; 95 %% intervals\n%-14s %-22s %-22s %-22s %s\n", len(repositories), "rule", "precision, first run", "precision, now", "recall, first run", "recall, now")
	for _, r := range append(All(), &Rule{Name: "all"}) {
		f := byRule[r.Name]
		if f == nil {
			f = &figures{}
		}
		text += fmt.Sprintf("%-14s %-22v %-22v %-22v %v\n", r.Name, f.first, f.now, f.recallFirst, f.recall)
		_, high := f.first.interval()
		_, independent := heldOut[r.Name].interval()
		off := high < 0.8 && f.now.holds == 0 || independent < 0.8
		if r.Name != "all" && r.Off != off {
			t.Errorf("%s: off by default is %v, and its figures demand %v", r.Name, r.Off, off)
		}
		if readme := read(t, "../README.md"); r.Name != "all" && !strings.Contains(readme, "\n| "+r.Name+" | ") {
			t.Errorf("the README has no line for %s", r.Name)
		}
	}
	t.Log(text)
	if len(repositories) < 15 || byRule["all"].now.of < 50 {
		t.Error("there are fewer verdicts than the README names")
	}
}

func TestTheIntervalIsThatOfWilson(t *testing.T) {
	if low, high := (share{9, 10}).interval(); math.Abs(low-0.5958) > 0.0001 || math.Abs(high-0.9821) > 0.0001 {
		t.Errorf("the interval of 9 of 10 is %.4f to %.4f", low, high)
	}
}
