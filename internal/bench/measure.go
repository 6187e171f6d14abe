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

	Requests int // of one run, if the service of the job counts them
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
	requests := make([]int, len(runs))
	if s.requests != nil {
		for i, run := range runs {
			s.requests()
			if err := run(ctx); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", job.Name, job.Ways[i].Name, err)
			}
			requests[i] = s.requests()
		}
	}
	turns := make([][]Result, len(runs))
	for range o.Rounds {
		for i, run := range runs {
			r, err := turn(ctx, run, o.Slice, job.Per)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", job.Name, job.Ways[i].Name, err)
			}
			turns[i] = append(turns[i], r)
		}
		for i := range runs {
			last := len(turns[i]) - 1
			turns[i][last].Ratio = float64(turns[0][last].Time) / float64(turns[i][last].Time)
		}
	}
	results := make([]Result, len(runs))
	for i, t := range turns {
		results[i] = Result{
			Way:    job.Ways[i].Name,
			Time:   time.Duration(median(t, func(r Result) float64 { return float64(r.Time) })),
			Bytes:  median(t, func(r Result) float64 { return r.Bytes }),
			Allocs: median(t, func(r Result) float64 { return r.Allocs }),
			Ratio:  median(t, func(r Result) float64 { return r.Ratio }),

			Requests: requests[i],
		}
	}
	return results, nil
}

func turn(ctx context.Context, run func(context.Context) error, slice time.Duration, per int) (Result, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, n := time.Now(), 0
	for n == 0 || time.Since(start) < slice {
		if err := run(ctx); err != nil {
			return Result{}, err
		}
		n++
	}
	elapsed := time.Since(start)
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
