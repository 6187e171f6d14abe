package types

import (
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// SweepOptions are the options of Sweep of a patterns.Store. nil and the zero value select the
// defaults.
type SweepOptions struct {
	// Partitions restricts the sweep to outbox rows of primaries with these partition
	// keys. nil means all partitions, and abandoned reservations too.
	Partitions []string

	// OlderThan leaves younger rows to their own operations and messages. Zero, and
	// anything less than the store's Grace, means twice the Grace. Records of completed
	// operations must be older than the store's Expiry as well.
	OlderThan time.Duration

	// DryRun counts what a sweep would do, and changes nothing.
	DryRun bool

	// Progress, if set, is called with the counts so far after each row. Calls do not
	// overlap.
	Progress func(SweepReport)
}

// SweepReport is what a sweep found and did; after a dry run, what it would do.
type SweepReport struct {
	Young    int // rows left to their operations and messages, or deleted by now
	Drained  int // operations whose remote rows were brought up to date
	Released int // abandoned reservations
	Removed  int // records of completed operations

	Failures []SweepFailure
}

// SweepFailure is a row that could not be processed.
type SweepFailure struct {
	Key keys.Key
	Err error
}
