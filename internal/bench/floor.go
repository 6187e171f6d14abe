package bench

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
)

// Row is an operation in the table of goals. It compares the cost of the client when an
// operation is written by hand with aztables, by a competent user and with the same
// guarantees while replies arrive, with that of azpatterns.
//
// Each way runs once on an in-process account of its own, and its replies are recorded. Then
// it runs again and again with these replies, so it must send the same requests in every run.
type Row struct {
	Name string
	Unit string // what the figures are for, such as "entry"
	Per  int    // units per run; 0 means 1
	Goal Goal

	// Setup stores what the operation needs, without being measured. It may be nil.
	Setup func(context.Context, *Clients) error

	// Hand and Ours return the function that does the operation. It returns an error if the
	// result is wrong. Ours is called with plain and with accelerated clients. Hand is nil if
	// there is nothing to compare with.
	Hand func(*Clients) (Run, error)
	Ours func(*Clients) (Run, error)

	// Check returns an error if the account is not as one run must leave it. It may be nil.
	Check func(context.Context, *Clients) error

	// Latency makes a row of elapsed time and of requests instead: each run gets an account of
	// its own, which delays every request by Latency, and nothing is replayed.
	Latency time.Duration
}

// Run does an operation once.
type Run = func(context.Context) error

// Goal is what the accelerated way must reach. Zero means that there is no goal.
type Goal struct {
	Ratio    float64       // at least that many times faster than by hand
	Allocs   float64       // at most, per unit
	Bytes    float64       // at most, allocated per unit
	Requests float64       // at most, per unit
	Time     time.Duration // at most, per unit
}

// Rows returns the operations, area by area.
func Rows() []Row {
	return slices.Concat(
		rowRows(),
		storeRows(),
		familyRows(),
		seriesRows(),
		logRows(),
		wideRows(),
		[]Row{entityTypes()},
		logDataRows(),
		workerRows(),
	)
}

// Missed returns the figures of r that do not reach the goal. Figures are compared as
// they are printed.
func (g Goal) Missed(r Result) []string {
	var missed []string
	add := func(name string, ok bool) {
		if !ok {
			missed = append(missed, name)
		}
	}
	add("ratio", g.Ratio == 0 || printed(r.Ratio) >= g.Ratio)
	add("allocations", g.Allocs == 0 || printed(r.Allocs) <= g.Allocs)
	add("bytes", g.Bytes == 0 || r.Bytes <= g.Bytes)
	add("requests", g.Requests == 0 || math.Round(r.Requests*100)/100 <= g.Requests)
	add("time", g.Time == 0 || r.Time <= g.Time)
	return missed
}

// printed rounds a figure to what [Rounded] returns.
func printed(v float64) float64 {
	if v >= 20 {
		return math.Round(v)
	}
	return math.Round(v*10) / 10
}

// Rounded returns a figure as it is printed and compared: from 20 as a whole number, below
// with one decimal.
func Rounded(v float64) string { return strconv.FormatFloat(printed(v), 'f', -1, 64) }

// MeasureRow measures the ways of a row: by hand, plain, accelerated. Times are CPU times of
// the process on one processor, or elapsed times if the row has a latency.
func MeasureRow(ctx context.Context, row Row, o Options) ([]Result, error) {
	row.Per = max(row.Per, 1)
	if row.Latency > 0 {
		return row.measureLive(ctx, o)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return Measure(ctx, row.job(), o)
}

// job returns the job whose ways replay their recorded replies.
func (row Row) job() Job {
	requests := 0
	job := Job{Name: row.Name, Unit: row.Unit, Per: row.Per, clock: cpuTime, open: func(context.Context) (*service, error) {
		return &service{close: func() {}, requests: func() int { n := requests; requests = 0; return n }}, nil
	}}
	for _, w := range row.ways() {
		job.Ways = append(job.Ways, Way{w.name, func(*service) (Run, error) {
			ctx := context.Background()
			c, err := newClients(ctx, row, w.accelerated)
			if err != nil {
				return nil, err
			}
			run, err := w.make(c)
			if err != nil {
				return nil, err
			}
			if err := run(ctx); err != nil {
				return nil, fmt.Errorf("recording: %w", err)
			}
			if row.Check != nil {
				if err := row.Check(ctx, c.direct()); err != nil {
					return nil, fmt.Errorf("check: %w", err)
				}
			}
			return func(ctx context.Context) error {
				c.tape.rewind()
				err := run(ctx)
				requests += c.tape.sent
				return err
			}, nil
		}})
	}
	return job
}

// measureLive measures a row with a latency. Setup and the clients are new for each run, and
// are not measured.
func (row Row) measureLive(ctx context.Context, o Options) ([]Result, error) {
	ways := row.ways()
	turns := make([][]Result, len(ways))
	for range o.Rounds {
		for i, w := range ways {
			r, err := row.live(ctx, w)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", row.Name, w.name, err)
			}
			turns[i] = append(turns[i], r)
		}
	}
	results := medians(turns)
	for i := range results {
		results[i].Way = ways[i].name
	}
	return results, nil
}

func (row Row) live(ctx context.Context, w rowWay) (Result, error) {
	c, err := newClients(ctx, row, w.accelerated)
	if err != nil {
		return Result{}, err
	}
	c.tape = nil
	run, err := w.make(c)
	if err != nil {
		return Result{}, err
	}
	c.delayed(row.Latency)
	start := time.Now()
	if err := run(ctx); err != nil {
		return Result{}, err
	}
	per := float64(row.Per)
	r := Result{Time: time.Duration(float64(time.Since(start)) / per), Requests: float64(len(c.account.Log())) / per}
	if row.Check != nil {
		err = row.Check(ctx, c.direct())
	}
	return r, err
}

type rowWay struct {
	name        string
	accelerated bool
	make        func(*Clients) (Run, error)
}

func (row Row) ways() []rowWay {
	ways := []rowWay{{handWay, false, row.Hand}, {plainWay, false, row.Ours}, {acceleratedWay, true, row.Ours}}
	if row.Hand == nil {
		ways = ways[1:]
	}
	return ways
}

const handWay = "by hand"

// with returns a way of a [Row]: it opens something with the clients, and does the operation with it.
func with[X any](open func(*Clients) (X, error), do func(context.Context, X) error) func(*Clients) (Run, error) {
	return func(c *Clients) (Run, error) {
		x, err := open(c)
		return func(ctx context.Context) error { return do(ctx, x) }, err
	}
}

// onTable is a way by hand, with the client of the table that exists.
func onTable(do func(context.Context, *aztables.Client) error) func(*Clients) (Run, error) {
	return with(func(c *Clients) (*aztables.Client, error) { return c.Table(), nil }, do)
}

// employees opens the table that exists.
func employees(c *Clients) (*patterns.Table[Employee], error) { return table(c.Table()) }

// leaves is the Check of a row that leaves this many rows in the table.
func leaves(rows int) func(context.Context, *Clients) error {
	return func(ctx context.Context, c *Clients) error {
		n, err := handRange[aztables.Entity](ctx, c.Table(), "PartitionKey ge ''")
		return wantCount(n, rows, err)
	}
}

// wantAll reads a sequence, and returns an error unless it has this many values.
func wantAll[V any](seq iter.Seq2[V, error], want int) error {
	n := 0
	for _, err := range seq {
		if err != nil {
			return err
		}
		n++
	}
	return wantCount(n, want, nil)
}

func wantCount(n, want int, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("%d, want %d", n, want)
	}
	return err
}
