package types

import (
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// SweepOptions are the options of every method Sweep, of patterns.Store, wideentity.Table,
// largeentity.Table and eventual.Claims, and of every method Reencrypt. nil and the zero value select the defaults.
type SweepOptions struct {
	// OlderThan is the age, by the clock of the service, that a thing must have before the
	// sweep acts on it: younger ones may be in use. Each method documents its default, which
	// zero selects.
	OlderThan time.Duration

	// DryRun counts what a sweep would do, and changes nothing.
	DryRun bool

	// Deadline ends the sweep: when so much time has passed, no further step begins, the
	// report has the Cursor of the next one, and the error is nil. A sweep makes progress
	// however short the Deadline is, so a program that calls it again with the Cursor of the
	// last report, for example at each tick of a timer, comes to the end. Zero means none.
	Deadline time.Duration

	// Cursor continues the sweep of the same table and Partitions that returned it, in another
	// process too. One that is damaged, or of another sweep, is patterns.ErrBadCursor before
	// anything is changed, and before the first request unless its table must be compared and
	// the name of this one is not known yet. "" is the beginning.
	Cursor string

	// RequestsPerSecond limits the average number of requests. Zero means no limit.
	RequestsPerSecond int

	// Partitions restricts the sweep to these partition keys. nil means all. Sweeps of blobs
	// refuse any other value with patterns.ErrBadOption.
	Partitions []string

	// Progress, if set, is called with the counts so far after each step. Calls do not overlap.
	Progress func(Progress)
}

// SweepReport is what a sweep found and did; after a dry run, what it would do. It counts this
// call only: the reports of the calls that continue each other add up to that of one sweep.
type SweepReport struct {
	Progress

	// Of a Store. The rest of Done are records of completed operations that were removed.
	Drained  int // operations whose remote rows were brought up to date
	Released int // abandoned reservations
	Lookups  int // lookup rows that no entity names

	// Of large entities: those of Done that were marked, to be deleted by a later sweep.
	Marked int

	// Failures are the rows that Failed counts, of a Store and of Reencrypt. Other sweeps end at the first one.
	Failures []SweepFailure
}

// SweepFailure is a row that could not be processed.
type SweepFailure struct {
	Key keys.Key
	Err error
}
