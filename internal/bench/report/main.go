// Command report measures azpatterns against code written by hand with aztables, and prints
// README.md of package bench: Markdown tables in which each figure that does not reach its goal
// is marked with the word missed. With -readme it also writes the short table of the README of
// the module. Run it on an idle machine, in the root of the module:
//
//	go run ./internal/bench/report -readme README.md > internal/bench/README.md
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
	readme := flag.String("readme", "", "replace the short table of this `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := &report{only: *only, options: bench.Options{Rounds: max(*rounds, 1), Slice: *slice}, ratios: map[string]float64{}}
	err := r.run(ctx)
	if err == nil && *readme != "" {
		err = r.updateReadme(*readme)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// report prints the tables.
type report struct {
	only    string // part of the names of the jobs to run
	options bench.Options
	ratios  map[string]float64 // by the names of the jobs and rows
}

// The texts of README.md before its tables.
const (
	intro = `# How fast

Against code written by hand with aztables, one run on two cores, medians of interleaved rounds. This file is the output of

    go run ./internal/bench/report

## Rows, pages and transactions

In process and over loopback HTTP the service costs almost nothing, so these rows show the cost of the client.
`
	patternsIntro = `
## Operations of the patterns

The replies of an in-process account are recorded once and replayed. The code written by hand has the same guarantees while replies
arrive. Times are CPU times of the process on one processor, but elapsed times for the worker. Clients of blobs cannot be accelerated:
the last two ways of log data are the same. Allocations and requests are exact. The last column names the figures that do not reach
the goal.
`
	pointsIntro = `
## Reads by key

The in-process account reads rows faster than the service, so ways that make it read many rows have better results here.
`
	elsewhereIntro = `
## Changes with rows in other partitions

Each request takes 100 ms; a round trip is what a call takes in time. With a Finisher, those after the call are made for the operations of a
partition together: with many, a hundredth of the deletes of outbox rows, a 14th of the reads, and fewer messages. The recipe of the guide keeps no
value unique. The last column is what the call took while it read rows after its transaction.
`
)

func (r *report) run(ctx context.Context) error {
	for _, section := range []struct {
		intro string
		print func(context.Context) error
	}{{intro, r.jobs}, {patternsIntro, r.rows}, {"", r.figures}, {elsewhereIntro, r.elsewhere}, {pointsIntro, r.points}} {
		if r.only == "" {
			fmt.Print(section.intro)
		}
		if err := section.print(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a job of that name is to be run.
func (r *report) wanted(name string) bool { return strings.Contains(name, r.only) }

// jobs prints the table of reads and transactions with each kind of service.
func (r *report) jobs(ctx context.Context) error {
	head := "\n| job | way | time | times faster | bytes | allocations |\n|---|---|--:|--:|--:|--:|\n"
	for _, job := range bench.Jobs() {
		if !r.wanted(job.Name) {
			continue
		}
		fmt.Print(head)
		head = ""
		results, err := bench.Measure(ctx, job, r.options)
		if err != nil {
			return err
		}
		for i, result := range results {
			name := ""
			if i == 0 {
				name = job.Name + ", per " + job.Unit
			}
			fmt.Printf("| %s | %s | %v | %.1f | %.0f | %.1f |\n", name, result.Way, result.Time.Round(10*time.Nanosecond), result.Ratio, result.Bytes, result.Allocs)
			r.ratios[job.Name] = result.Ratio
		}
	}
	return nil
}

// elsewhere prints the table of changes with rows in other partitions.
func (r *report) elsewhere(ctx context.Context) error {
	if !r.wanted("elsewhere") {
		return nil
	}
	results, err := bench.Elsewhere(ctx)
	if err != nil {
		return err
	}
	fmt.Print("\n| change | way | requests of the call | round trips | requests afterwards | formerly, requests / round trips |\n|---|---|--:|--:|--:|--:|\n")
	for _, e := range results {
		fmt.Printf("| %s | %s | %d | %d | %d | %s |\n", e.Change, e.Way, e.Requests, e.Trips, e.After, e.Former)
	}
	return nil
}

// points prints the tables of reads by key, without and with a latency of requests.
func (r *report) points(ctx context.Context) error {
	const name = "500 rows of a partition of 10,000, by their keys"
	if !r.wanted(name) {
		return nil
	}
	for _, latency := range []time.Duration{0, 2 * time.Millisecond} {
		results, err := bench.Points(ctx, latency, r.options.Rounds)
		if err != nil {
			return err
		}
		fmt.Printf("\n| %s, %v per request | requests | rows scanned | time | times faster |\n|---|--:|--:|--:|--:|\n", name, latency)
		for _, p := range results {
			fmt.Printf("| %s | %d | %d | %v | %.1f |\n", p.Way, p.Requests, p.Scanned, p.Time.Round(100*time.Microsecond), p.Ratio)
		}
	}
	return nil
}
