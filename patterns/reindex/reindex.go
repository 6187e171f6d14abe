package reindex

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/reindex"
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
	Failures []Failure
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
		s, o, err := engine(store, opts)
		if err == nil {
			_, err = reindex.Run(ctx, s, o, func(f reindex.Finding) bool { return yield(finding(f), nil) })
		}
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
	s, o, err := engine(store, opts)
	var r reindex.Report
	if err == nil {
		o.Repair = opts == nil || !opts.DryRun
		r, err = reindex.Run(ctx, s, o, func(reindex.Finding) bool { return true })
	}
	return opts.report(r), failed("repair", err)
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
	s, o, err := engine(store, opts)
	var r reindex.Report
	if err == nil {
		r, err = reindex.Backfill(ctx, s, view, o)
	}
	return opts.report(r), failed("backfill", err)
}

func engine(store any, opts *Options) (*outbox.Store, reindex.Options, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	eo := reindex.Options{
		Views: o.Views, Parallel: o.Parallel, PerSecond: o.RequestsPerSecond, Differences: o.Differences, Grace: o.Grace,
		Cursor: o.Cursor, Checkpoint: o.Checkpoint,
	}
	s := outbox.EngineOf(store)
	if s == nil {
		return nil, eo, fmt.Errorf("store: %w", patterns.ErrNil)
	}
	if o.Progress != nil {
		eo.Progress = func(r reindex.Report) { o.Progress(o.report(r)) }
		eo.Progress(reindex.Report{})
	}
	return s, eo, nil
}

// report returns r in its public form. o may be nil.
func (o *Options) report(r reindex.Report) Report {
	p := report(r)
	if o != nil && o.Previous != nil {
		p.Estimate = o.Previous.Requests
		p.Estimate.Scan = max(p.Estimate.Scan, o.Previous.Rows*105/100/1000+1)
	}
	return p
}

func finding(f reindex.Finding) Finding {
	return Finding{Kind: Kind(f.Kind), View: f.View, Row: f.Row, Primary: f.Primary}
}

func report(r reindex.Report) Report {
	p := Report{
		Rows: r.Rows, Primaries: r.Primaries, Missing: r.Missing, Wrong: r.Wrong, Orphan: r.Orphan, Duplicate: r.Duplicate,
		Repaired: r.Repaired, Failed: r.Failed, Filled: r.Filled, Undecided: r.Undecided, Passes: r.Passes,
		Requests: Requests(r.Requests), Unverified: r.Unverified,
	}
	for _, f := range r.Failures {
		p.Failures = append(p.Failures, Failure(f))
	}
	return p
}

func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}
