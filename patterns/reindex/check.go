package reindex

import (
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/keys"
)

// maxDifferences limits the memory of a sketch.
const maxDifferences = 1 << 24

// validState reports whether a run can continue from its state. A cursor can come from anyone to
// whom the program has given one, and anyone who can write the table of the runs can have
// written a state: it names tables, views and rows by what this process knows of them.
func (r *run) validState() bool {
	s := &r.state
	inTable := func(p part) bool { return p.Table >= 0 && p.Table < len(r.tables) }
	counted := func(job int) bool { return job >= 0 && job < s.Jobs }
	return s.Stage >= 1 && s.Jobs == s.jobs() &&
		len(s.Parts) > 0 && s.Parts[0].Table == 0 && !slices.ContainsFunc(s.Parts, func(p part) bool { return !inTable(p) }) && inTable(s.Part) &&
		len(s.Done) <= s.Jobs && !slices.ContainsFunc(s.Done, func(job int) bool { return !counted(job) }) &&
		len(s.Class) <= maxDepth && strings.Trim(s.Class, "01") == "" &&
		!slices.ContainsFunc(s.Groups, func(g []outbox.Checked) bool { return !r.validGroup(g) })
}

// jobs returns the number of jobs of the stage, -1 if no run has such a stage.
func (s *state) jobs() int {
	switch {
	case s.Kind == filling && s.Fill != "":
		return len(slices.DeleteFunc(slices.Clone(s.Parts), func(p part) bool { return p.Table != 0 }))
	case s.Kind == scanning:
		return len(s.Parts)
	case s.Kind == confirming:
		return (len(s.Groups) + perJob - 1) / perJob
	case s.Kind == finishing && s.Fill != "":
		return 1
	case s.Kind == complete:
		return 0
	}
	return -1
}

// validGroup reports whether the rows can be confirmed together.
func (r *run) validGroup(g []outbox.Checked) bool {
	return len(g) > 0 && len(g) <= maxRows && !slices.ContainsFunc(g, func(c outbox.Checked) bool {
		return c.Primary.Partition != g[0].Primary.Partition || !r.knows(c.Ref.View, c.Ref.Key(), c.Primary)
	})
}

// validFindings reports whether a job can have recorded the findings.
func (r *run) validFindings(all []Finding) bool {
	return !slices.ContainsFunc(all, func(f Finding) bool {
		return !slices.Contains([]Kind{Missing, Wrong, Orphan, Duplicate, Superfluous}, f.Kind) || !r.knows(f.View, f.Row, f.Primary)
	})
}

// knows reports whether this process verifies the view, and the keys are valid.
func (r *run) knows(view string, row, primary keys.Key) bool {
	return r.views[view] != nil && row.Validate() == nil && primary.Validate() == nil
}
