package reindex

import (
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// Options are the options of a run; patterns/reindex documents them.
type Options struct {
	Views       []string
	Parallel    int
	PerSecond   int
	Differences int
	Grace       time.Duration
	Cursor      []byte
	Checkpoint  func(save func() ([]byte, error)) error
	Progress    func(Report)

	Repair bool // correct what is found
}

// Kind is what is wrong with a row.
type Kind int

const (
	Missing Kind = iota
	Wrong
	Orphan
	Duplicate
)

// Finding is a row that is not what the primaries imply.
type Finding struct {
	Kind     Kind
	View     string
	Row      keys.Key
	Primary  keys.Key
	Repaired bool
	Err      error // why it was not repaired
}

// Report counts what a run has found and done.
type Report struct {
	Rows      int
	Primaries int

	Missing, Wrong, Orphan, Duplicate int

	Repaired, Failed int
	Filled           int
	Undecided        int
	Passes           int

	Requests   Requests
	Unverified []string
	Failures   []Failure
}

// Requests counts requests by their purpose.
type Requests struct{ Scan, Confirm, Repair, Fill int }

// Failure is a primary that could not be checked or repaired.
type Failure struct {
	Primary keys.Key
	Err     error
}

const maxFailures = 100 // that a report lists

func (r *Report) fail(primary keys.Key, err error) {
	r.Failed++
	if len(r.Failures) < maxFailures {
		r.Failures = append(r.Failures, Failure{primary, err})
	}
}

// Count counts a finding.
func (r *Report) Count(f *Finding) {
	*[...]*int{&r.Missing, &r.Wrong, &r.Orphan, &r.Duplicate}[f.Kind]++
	switch {
	case f.Repaired:
		r.Repaired++
	case f.Err != nil:
		r.fail(f.Primary, f.Err)
	}
}
