package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Result is what one way of a job took, each figure for one unit: medians over the
// rounds.
type Result struct {
	Way    string
	Time   time.Duration
	Bytes  float64
	Allocs float64
	Ratio  float64 // of the first way's time to this one's, median over the rounds

	Requests int // of one run, where the job's service counts them
}

// Options of [Measure].
type Options struct {
	Rounds int           // turns that each way gets
	Slice  time.Duration // how long a turn lasts, at least one run
}

// Measure runs the ways of job in turns: the noise of a busy machine then falls on
// all of them alike.
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
		if err := runs[i](ctx); err != nil { // also fills pools and caches
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
