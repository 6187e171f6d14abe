package conformance

import (
	"strings"
	"testing"
)

// difference describes a case in which Azurite behaves differently.
type difference struct {
	name string // of the case
	step int    // index of the first step that differs; the following steps are skipped
	got  string // the response of Azurite: status and code; with the prefix "~ " if only the text differs
	doc  string // a quotation or summary of the documentation
	link string // below https://learn.microsoft.com/
}

func (d difference) is(got answer) bool {
	return strings.TrimPrefix(d.got, "~ ") == got.summary
}

// checkDifferences fails for an entry without a case, or without a reason. cases contains the number of steps of each.
func checkDifferences(t *testing.T, differs []difference, cases map[string]int) {
	seen := map[string]bool{}
	for _, d := range differs {
		if d.step >= cases[d.name] {
			t.Errorf("%q: the case or the step does not exist", d.name)
		}
		if d.got == "" || d.doc == "" || d.link == "" || strings.Contains(d.link, "://") {
			t.Errorf("%q: an entry needs Azurite's response, the documentation and a link", d.name)
		}
		if seen[d.name] {
			t.Errorf("%q is listed twice", d.name)
		}
		seen[d.name] = true
	}
}
