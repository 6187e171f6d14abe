// Command report prints Markdown tables that compare azpatterns with code written by hand
// with aztables, and marks each figure that does not reach its goal with the word missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/bench"
)

func main() {
	rounds := flag.Int("rounds", 15, "number of measurements of each way")
	slice := flag.Duration("slice", 200*time.Millisecond, "minimum time of a measurement")
	only := flag.String("only", "", "run only the jobs whose name contains this `text`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := report(ctx, *only, bench.Options{Rounds: max(*rounds, 1), Slice: *slice}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func report(ctx context.Context, only string, o bench.Options) error {
	head := "| job | way | time | times faster | bytes | allocations |\n|---|---|--:|--:|--:|--:|\n"
	for _, job := range bench.Jobs() {
		if !strings.Contains(job.Name, only) {
			continue
		}
		fmt.Print(head)
		head = ""
		results, err := bench.Measure(ctx, job, o)
		if err != nil {
			return err
		}
		for i, r := range results {
			name := ""
			if i == 0 {
				name = job.Name + ", per " + job.Unit
			}
			fmt.Printf("| %s | %s | %v | %.1f | %.0f | %.1f |\n", name, r.Way, r.Time.Round(10*time.Nanosecond), r.Ratio, r.Bytes, r.Allocs)
		}
	}
	if err := floor(ctx, only, o); err != nil {
		return err
	}
	if strings.Contains(pointsName, only) {
		return points(ctx, o.Rounds)
	}
	return nil
}

const pointsName = "500 rows of a partition of 10,000, by their keys"

// points prints the table of reads by key, without and with a latency of requests.
func points(ctx context.Context, rounds int) error {
	for _, latency := range []time.Duration{0, 2 * time.Millisecond} {
		results, err := bench.Points(ctx, latency, rounds)
		if err != nil {
			return err
		}
		fmt.Printf("\n| %s, %v per request | requests | rows scanned | time | times faster |\n|---|--:|--:|--:|--:|\n", pointsName, latency)
		for _, r := range results {
			fmt.Printf("| %s | %d | %d | %v | %.1f |\n", r.Way, r.Requests, r.Scanned, r.Time.Round(100*time.Microsecond), r.Ratio)
		}
	}
	return nil
}
