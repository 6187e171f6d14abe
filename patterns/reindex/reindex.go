package reindex

import (
	"context"
	"errors"
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

	// DryRun makes Repair report what it would do, and change nothing.
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
	// keys of row and primary). Zero means 4096: about 1 MB if keys are short. A run that continues keeps
	// the number that it began with.
	Differences int

	// Grace leaves a primary alone that was changed less than Grace ago, by the clock of the
	// service. It is for tables that programs without a Store change, which write the derived
	// rows some time after the primary. Zero means none: an operation of a Store in
	// progress is recognized without it.
	Grace time.Duration

	// Cursor continues a run from a state that Checkpoint saved: of the same function, with
	// the same views. Otherwise the run fails with [patterns.ErrBadCursor] before its first
	// request. nil is the beginning.
	Cursor []byte

	// Checkpoint, if set, is called after each page and after the findings of each primary.
	// save returns the state of the run as JSON, about as large as Differences takes; it is valid
	// during the call only. A run that continues repeats at most what came after
	// Checkpoint. An error ends the run.
	Checkpoint func(save func() ([]byte, error)) error

	// Progress, if set, is called before the first request, and then with the counts so far
	// when Checkpoint would be.
	Progress func(Report)

	// Previous is the report of an earlier run, or one with nothing but the number of Rows. It
	// is what the run estimates its requests by, in [Report.Estimate].
	Previous *Report
}

// Kind is what is wrong with a derived row.
type Kind int

const (
	Missing   Kind = iota // a primary implies it, and it is not there
	Wrong                 // its content is not what the primary implies
	Orphan                // the primary that it belongs to does not exist, or does not imply it
	Duplicate             // a primary implies it, but it belongs to another that implies it too, or to no view
)

var kindNames = [...]string{"missing", "wrong", "orphan", "duplicate"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Finding is a row that is not what the primaries imply.
type Finding struct {
	Kind Kind
	View string

	// Row is the key of the row, and Primary that of the primary which implies it or to
	// which it belongs. A list is a row of each of its members.
	Row, Primary keys.Key
}

// Report counts what a run found and did, including the runs that it continued.
type Report struct {
	Rows      int // that were read, each of them once
	Primaries int // of these

	Missing, Wrong, Orphan, Duplicate int // findings

	Repaired int // findings that were repaired
	Failed   int // findings that were not, duplicates among them, and primaries that could not be checked
	Filled   int // primaries for which Backfill stored rows

	// Undecided are rows that differed, and that an operation was about to write, or that
	// changed whenever they were read. Verify them later, after a Sweep of the store.
	Undecided int

	// Passes is how often the tables were read.
	Passes int

	Requests Requests

	// Estimate is what the whole run will take if it reads as many rows, and finds as much, as
	// [Options.Previous]. It does not include the extra passes and short pages that Previous
	// does not show. It is zero without Previous.
	Estimate Requests

	// Unverified names the views that cannot be verified: their rows are in blobs, or in a
	// list whose [patterns.List] has no method Members.
	Unverified []string

	// Failures are the first 100 of those that Failed counts, since the run was continued.
	Failures []Failure `json:"-"`
}

const maxFailures = 100 // that a report lists

func (r *Report) fail(primary keys.Key, err error) {
	r.Failed++
	if len(r.Failures) < maxFailures {
		r.Failures = append(r.Failures, Failure{primary, err})
	}
}

// ofKind returns the count of findings of a kind.
func (r *Report) ofKind(k Kind) *int {
	return [...]*int{&r.Missing, &r.Wrong, &r.Orphan, &r.Duplicate}[k]
}

// add adds the counts of o.
func (r *Report) add(o *Report) {
	a, b := r.counts(), o.counts()
	for i := range a {
		*a[i] += *b[i]
	}
	r.Failures = append(r.Failures, o.Failures...)
	r.Failures = r.Failures[:min(len(r.Failures), maxFailures)]
}

func (r *Report) counts() []*int {
	q := &r.Requests
	return []*int{&r.Rows, &r.Primaries, &r.Missing, &r.Wrong, &r.Orphan, &r.Duplicate, &r.Repaired, &r.Failed, &r.Filled, &r.Undecided,
		&q.Scan, &q.Confirm, &q.Repair, &q.Fill}
}

// estimate sets the Estimate of r, if there is a previous report.
func (r *Report) estimate(previous *Report) {
	if previous != nil {
		r.Estimate = previous.Requests
		r.Estimate.Scan = max(r.Estimate.Scan, previous.Rows*105/100/1000+1)
	}
}

// Requests counts requests by their purpose, without the retries of the SDK. It may be read
// concurrently.
type Requests struct {
	Scan    int // to read the tables
	Confirm int // to confirm findings

	// Repair is what the repairs take if no other client interferes. After a dry run, and in
	// Progress, it is what they would take.
	Repair int

	Fill int // of Backfill, to change the primaries, if no other client interferes
}

// Total is the sum.
func (r Requests) Total() int { return r.Scan + r.Confirm + r.Repair + r.Fill }

// Failure is a primary that could not be checked or repaired.
type Failure struct {
	Primary keys.Key
	Err     error
}

// Verify yields each derived row that is not what the primaries imply, and changes nothing.
// After an error the sequence ends.
func Verify[T any](ctx context.Context, store *patterns.Store[T], opts *Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		_, err := runAlone(ctx, store, plan{}, opts, func(f Finding) bool { return yield(f, nil) })
		if err != nil {
			yield(Finding{}, fmt.Errorf("verify: %w", err))
		}
	}
}

// Repair verifies as Verify does, and corrects what it finds, except duplicates. Afterwards
// the rows are those that [patterns.Store.Repair] would store.
//
// The error is that of reading, or of a service that refuses requests. Continue such a run
// from its last checkpoint. Failures of single primaries are in the report.
func Repair[T any](ctx context.Context, store *patterns.Store[T], opts *Options) (Report, error) {
	r, err := runAlone(ctx, store, plan{Repair: opts == nil || !opts.DryRun}, opts, nil)
	return r, failed("repair", err)
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
func Backfill[T any](ctx context.Context, store *patterns.Store[T], view string, opts *Options) (Report, error) {
	r, err := runAlone(ctx, store, plan{Repair: true, Fill: view, Views: []string{view}}, opts, nil)
	return r, failed("backfill", err)
}

// errStopped ends a run because the caller wants no more findings.
var errStopped = azerr.Sentinel("stopped")

// runAlone executes a run in this process.
func runAlone(ctx context.Context, store any, p plan, opts *Options, yield func(Finding) bool) (Report, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	p.use(&o)
	r, err := newRun(store, p)
	if err != nil {
		return Report{}, err
	}
	if r.checkpoint, r.yield = o.checkpoint, yield; o.Cursor != nil {
		err = r.resume(o.Cursor)
	}
	r.report.estimate(o.Previous)
	if o.Progress != nil {
		o.Progress(Report{Estimate: r.report.Estimate, Unverified: r.Unverified})
	}
	if err == nil {
		err = r.alone(ctx)
	}
	if errors.Is(err, errStopped) {
		err = nil
	}
	return r.report, err
}

// checkpoint calls what the caller wants to be called after a step of the run.
func (o *Options) checkpoint(r *run) error {
	if o.Progress != nil {
		o.Progress(r.report)
	}
	if o.Checkpoint == nil {
		return nil
	}
	return o.Checkpoint(r.save)
}

func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}
