package heat_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

// draw returns a snapshot as a text: a line for each key range, a column for each minute of
// the last hour, and the findings.
func draw(s *heat.Snapshot) string {
	const shades = " .:-=+*#%@"
	var b strings.Builder
	last := s.Taken.Unix() / 60
	most := 1.0
	for _, r := range s.Ranges {
		for _, step := range r.Steps[0] {
			most = max(most, step[1]+step[2])
		}
	}
	for _, r := range s.Ranges {
		line := []byte(strings.Repeat(" ", 60))
		for _, step := range r.Steps[0] {
			if i := int64(step[0]) - last + 59; i >= 0 {
				line[i] = shades[int(9*math.Log1p(step[1]+step[2])/math.Log1p(most))]
			}
		}
		fmt.Fprintf(&b, "%-28.28q |%s|\n", r.From, line)
	}
	for _, f := range s.Findings() {
		fmt.Fprintln(&b, f)
	}
	for name, counted := range s.Resources {
		fmt.Fprintln(&b, name, counted)
	}
	return b.String()
}

// wantFindings compares the kinds of the findings, and draws the picture if they differ.
func wantFindings(t *testing.T, m *heat.Meter, want ...heat.Kind) {
	t.Helper()
	s := m.Snapshot()
	var got []heat.Kind
	for _, f := range s.Findings() {
		got = append(got, f.Kind)
		if f.Observed == "" || f.Reason == "" || f.Remedy == "" || len(f.Figures) == 0 {
			t.Errorf("incomplete: %+v", f)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %q, want %q\n%s", got, want, draw(s))
	}
}
