package conformance

import (
	"strings"
	"testing"
)

// difference describes how Azurite differs in one case.
type difference struct {
	name string // of the case
	step int    // the first that differs, from 0; later steps are not run
	got  string // Azurite's reply: status and code, or "~" and the status and code if only the text differs
	doc  string // quotation of the documentation that the script follows
	link string // below https://learn.microsoft.com/
}

func (d difference) is(got reply) bool {
	return strings.TrimPrefix(d.got, "~ ") == got.summary
}

// checkDifferences fails the test for an entry without a case or a reason. cases contains the number of steps of each case.
func checkDifferences(t *testing.T, differs []difference, cases map[string]int) {
	seen := map[string]bool{}
	for _, d := range differs {
		if d.step >= cases[d.name] {
			t.Errorf("%q: no such case, or no such step", d.name)
		}
		if d.got == "" || d.doc == "" || d.link == "" || strings.Contains(d.link, "://") {
			t.Errorf("%q: an entry needs Azurite's reply, a quotation of the documentation and a link", d.name)
		}
		if seen[d.name] {
			t.Errorf("%q is listed twice", d.name)
		}
		seen[d.name] = true
	}
}
