package reindex

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Options are the options of all functions of this package. nil and the zero value mean the
// defaults.
type Options struct {
	// Views names the views to verify. nil means all of the store. Backfill ignores it.
	Views []string

	// DryRun makes Repair report what it would do, and change nothing. Backfill ignores it.
	DryRun bool

	// Parallel is the largest number of concurrent requests of a scan, and of primaries that
	// are checked or repaired concurrently. Zero means 8.
	Parallel int

	// RequestsPerSecond limits the average number of requests. A scan reads up to 1000 rows
	// with each. Zero means no limit.
	RequestsPerSecond int

	// Differences is how many differences a pass can hold, rows that are written during the
	// scan included. If there are more, the run makes further passes, each of which reads all
	// rows again and verifies half as many. A difference takes about 1.5 × (100 bytes + the
	// keys of row and primary), three times as much if there are primaries that do not list the views.
	// Zero means 4096: about 1 MB if keys are short. A run that continues keeps the number that it began with.
	Differences int

	// Grace leaves a primary alone that was changed less than Grace ago, by the clock of the
	// service. It is for tables that programs without a Store change, which write the derived
	// rows some time after the primary. Zero means none: an operation of a Store in
	// progress is recognized without it.
	Grace time.Duration

	// Strict compares copies and merged properties exactly: their types and texts, properties
	// with the zero value, those that neither T nor the view names, and those by which a copy states
	// its primary, unless the view is Plain. Repair then stores what
	// the Store would store if the row did not exist. A run that continues must have the same
	// Strict.
	Strict bool

	// Segments is the largest number of segments of each table, for [Runs] only. Zero means
	// 64. A job that is interrupted begins its segment again. Each job of a scan reads and
	// stores about as much as Differences takes.
	Segments int

	// Checkpoint, if set, is called after each page, and after each thousand rows or fewer that
	// were confirmed. save returns the cursor of the run, a JSON text about as large as Differences
	// takes; it is valid during the call only. A run that continues from a cursor is one of the same
	// function, with the same views; others fail with [patterns.ErrBadCursor] before their first
	// request. It repeats at most what came after Checkpoint. An error ends the run.
	Checkpoint func(save func() (string, error)) error `json:"-"`

	// Found, if set, is called with each finding: of Backfill, with each entity that has the unique
	// value of another one, among others. Verify returns its findings, and ignores Found.
	// [Runs.Findings] returns those of a shared run.
	Found func(Finding) `json:"-"`

	// Report, if set, receives the counts so far before each call of Progress, and before Checkpoint
	// would be called: Verify does not return them.
	Report *Report `json:"-"`

	// Progress, if set, is called with the counts so far when Checkpoint would be: Found are the rows
	// that were read, each of them once, Done the findings that were repaired and the primaries for which
	// Backfill stored rows, Skipped is [Report.Undecided]. It has no Cursor, which is large: see Checkpoint.
	Progress func(patterns.Progress) `json:"-"`
}

// Kind is what is wrong with a derived row.
type Kind string

const (
	Missing   Kind = "missing"   // a primary implies it, and it is not there
	Wrong     Kind = "wrong"     // its content is not what the primary implies
	Orphan    Kind = "orphan"    // the primary that it belongs to does not exist, or does not imply it
	Duplicate Kind = "duplicate" // a primary implies it, but it belongs to another that implies it too, or to no view

	// Superfluous is no error: a lookup row that no primary names has no effect, see [secondaryindex.Lookup]. Rows that
	// are younger than the Store's Expiry may be those of an operation in progress; they are no findings, but [Report.Undecided].
	Superfluous Kind = "superfluous"
)

// Finding is a row that is not what the primaries imply.
type Finding struct {
	Kind Kind
	View string

	// Row is the key of the row, and Primary that of the primary which implies it or to
	// which it belongs. A list is a row of each of its members.
	Row, Primary keys.Key

	// Owner, of a Duplicate, is the primary that has the row, and so the value, as Primary does. It
	// is zero if the row belongs to no view.
	Owner keys.Key
}

// Report counts what a run found and did, including the runs that it continued. It may be read
// concurrently.
type Report struct {
	Rows      int // that were read, each of them once
	Primaries int // of these

	Missing, Wrong, Orphan, Duplicate int // findings
	Superfluous                       int `json:",omitzero"` // likewise, but no errors

	Repaired int // findings that were repaired
	Failed   int // findings that were not, duplicates among them, entities that cannot be read, and rows that cannot be checked
	Filled   int // primaries for which Backfill stored rows

	// Undecided are rows that differed, and that an operation was about to write, or that
	// changed whenever they were read. Verify them later, after a Sweep of the store. So are rows of entities
	// that cannot be read, each of which is counted once by Failed.
	Undecided int

	// Passes is how often the tables were read.
	Passes int

	Requests Requests

	// Unverified names the views that cannot be verified: their rows are in blobs, or in a
	// list whose [patterns.List] has no method Members.
	Unverified []string

	// Failures are the first 100 of those that Failed counts, without errors if another process
	// has met them.
	Failures []Failure
}

// Estimate returns what the next run will take if it reads as many rows, and finds as much:
// of r, or of a Report with nothing but the number of Rows. It does not include the extra
// passes and short pages that r does not show.
func (r Report) Estimate() Requests {
	q := r.Requests
	if q.Scan == 0 {
		q.Scan = r.Rows*105/100/1000 + 1
	}
	return q
}

func (r *Report) fail(primary keys.Key, err error) {
	r.add(&Report{Failed: 1, Failures: []Failure{{primary, err.Error(), err}}})
}

// add adds the counts of o.
func (r *Report) add(o *Report) {
	a, b := r.counts(), o.counts()
	for i := range a {
		*a[i] += *b[i]
	}
	r.Failures = append(r.Failures, o.Failures...)
	r.Failures = r.Failures[:min(len(r.Failures), 100)]
}

func (r *Report) counts() []*int {
	q := &r.Requests
	return []*int{&r.Rows, &r.Primaries, &r.Missing, &r.Wrong, &r.Orphan, &r.Duplicate, &r.Superfluous, &r.Repaired, &r.Failed, &r.Filled, &r.Undecided,
		&q.Owners, &q.Scan, &q.Confirm, &q.Repair, &q.Fill}
}

// Requests counts requests by their purpose, without the retries of the SDK. It may be read
// concurrently.
type Requests struct {
	// Owners is to find out whose the views in other tables are, see [patterns.View]: one for each of
	// these tables, and one if the Store has made no request to its own. A Store that called Create
	// makes none. One whose views no Store has recorded makes them again before each job.
	Owners int `json:",omitzero"`

	Scan    int // to read the tables
	Confirm int // to confirm findings

	// Repair is what the repairs take if no other client interferes. After a dry run, and in
	// [Options.Report], it is what they would take.
	Repair int

	Fill int // of Backfill, to change the primaries, if no other client interferes
}

// Total is the sum.
func (r Requests) Total() int { return r.Owners + r.Scan + r.Confirm + r.Repair + r.Fill }

// Failure is a primary that could not be checked or repaired.
type Failure struct {
	Primary keys.Key
	Text    string
	Err     error `json:"-"` // nil if another process has met it
}

// Verify yields each derived row that is not what the primaries imply, and changes nothing.
// After an error the sequence ends.
//
// If entities cannot be read, for example because the type of a property is not that of its field, or
// other rows cannot be checked, the last pair has an error, after all findings. It contains their number, and wraps that of the
// first, for example a [*patterns.PropertyError]. [Report.Failures], in Options.Report, names the first 100.
//
// cursor continues a run from what [Options.Checkpoint] saved. "" is the beginning.
func Verify[T any](ctx context.Context, store *patterns.Store[T], cursor string, opts *Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		if _, err := runAlone(ctx, "verify", store, cursor, newState(opts, true, ""), yield); err != nil {
			yield(Finding{}, err)
		}
	}
}

// Repair verifies as Verify does, and corrects what it finds, except duplicates. Afterwards
// the rows are those that [patterns.Store.Repair] would store.
//
// The error is that of reading, or of a service that refuses requests. Continue such a run
// from its last checkpoint, by the cursor. Failures of single primaries are in the report.
func Repair[T any](ctx context.Context, store *patterns.Store[T], cursor string, opts *Options) (Report, error) {
	return runAlone(ctx, "repair", store, cursor, newState(opts, false, ""), found(opts))
}

// Backfill stores the rows of a view that was added to the store, for all entities that a
// program without the view has written. Then it repairs the rows of the view. If the view is
// retired, Backfill removes its rows instead.
//
// Backfill records the state of the view: [patterns.ViewBuilding] before it changes anything,
// and [patterns.ViewReady] at the end, if nothing failed. For a retired view it records
// [patterns.ViewRetiring], and removes the record at the end. The state is true if all programs
// that write follow the procedure of the package documentation. Backfill fails as
// [patterns.Store.SetViewState] does.
//
// Entities of one partition are changed in transactions of up to 49, which change their
// ETags. Other errors are those of Repair.
func Backfill[T any](ctx context.Context, store *patterns.Store[T], view, cursor string, opts *Options) (Report, error) {
	return runAlone(ctx, "backfill", store, cursor, newState(opts, false, view), found(opts))
}

// found returns the function that gets the findings of a run, nil if there is none.
func found(opts *Options) func(Finding, error) bool {
	if opts == nil || opts.Found == nil {
		return nil
	}
	return func(f Finding, _ error) bool {
		opts.Found(f)
		return true
	}
}

// errStopped ends a run because the caller wants no more findings.
var errStopped = azerr.Sentinel("stopped")

func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}
