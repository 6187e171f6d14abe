package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Result is the cost of one way of a job per unit, as the median of all rounds.
type Result struct {
	Way    string
	Time   time.Duration
	Bytes  float64
	Allocs float64
	Ratio  float64 // time of the first way divided by the time of this one

	Requests float64 // per unit, if the service of the job counts them
}

// Options are the options of [Measure].
type Options struct {
	Rounds int           // number of measurements of each way
	Slice  time.Duration // minimum time of a measurement, which has at least one run
}

// Measure measures the ways of job alternately, so that other load of the machine affects
// all of them equally.
func Measure(ctx context.Context, job Job, o Options) ([]Result, error) {
	s, err := job.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", job.Name, err)
	}
	defer s.close()
	runs := make([]func(context.Context) error, len(job.Ways))
	for i, w := range job.Ways {
		if runs[i], err = w.make(s); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", job.Name, w.Name, err)
		}
		if err := runs[i](ctx); err != nil { // warms up pools and caches
			return nil, fmt.Errorf("%s, %s: %w", job.Name, w.Name, err)
		}
	}
	clock := job.clock
	if clock == nil {
		clock = wallTime
	}
	requests := make([]float64, len(runs))
	if s.requests != nil {
		for i, run := range runs {
			s.requests()
			if err := run(ctx); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", job.Name, job.Ways[i].Name, err)
			}
			requests[i] = float64(s.requests()) / float64(job.Per)
		}
	}
	turns := make([][]Result, len(runs))
	for range o.Rounds {
		for i, run := range runs {
			r, err := turn(ctx, run, clock, o.Slice, job.Per)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", job.Name, job.Ways[i].Name, err)
			}
			turns[i] = append(turns[i], r)
		}
	}
	results := medians(turns)
	for i := range results {
		results[i].Way, results[i].Requests = job.Ways[i].Name, requests[i]
	}
	return results, nil
}

// medians returns the medians of the rounds of each way. The first way is the baseline of
// the ratios, which are those of the rounds.
func medians(turns [][]Result) []Result {
	results := make([]Result, len(turns))
	for i, t := range turns {
		for round := range t {
			t[round].Ratio = float64(turns[0][round].Time) / float64(t[round].Time)
		}
		results[i] = Result{
			Time:     time.Duration(median(t, func(r Result) float64 { return float64(r.Time) })),
			Bytes:    median(t, func(r Result) float64 { return r.Bytes }),
			Allocs:   median(t, func(r Result) float64 { return r.Allocs }),
			Ratio:    median(t, func(r Result) float64 { return r.Ratio }),
			Requests: median(t, func(r Result) float64 { return r.Requests }),
		}
	}
	return results
}

var started = time.Now()

func wallTime() time.Duration { return time.Since(started) }

func turn(ctx context.Context, run func(context.Context) error, clock func() time.Duration, slice time.Duration, per int) (Result, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, from, n := time.Now(), clock(), 0
	for n == 0 || time.Since(start) < slice {
		if err := run(ctx); err != nil {
			return Result{}, err
		}
		n++
	}
	elapsed := clock() - from
	runtime.ReadMemStats(&after)
	units := float64(n * per)
	return Result{
		Time:   time.Duration(float64(elapsed) / units),
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) / units,
		Allocs: float64(after.Mallocs-before.Mallocs) / units,
	}, nil
}

func median(results []Result, of func(Result) float64) float64 {
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
