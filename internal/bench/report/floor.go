package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/bench"
)

// floor prints the table of goals: each operation by hand, plain and accelerated.
func floor(ctx context.Context, only string, o bench.Options) error {
	o.Slice /= 4 // the operations are short, and replies are replayed
	head := "\n| operation | way | requests | time | times faster | bytes | allocations | goal | |\n|---|---|--:|--:|--:|--:|--:|---|---|\n"
	for _, row := range bench.Rows() {
		if !strings.Contains(row.Name, only) {
			continue
		}
		fmt.Print(head)
		head = ""
		results, err := bench.MeasureRow(ctx, row, o)
		if err != nil {
			return err
		}
		for i, r := range results {
			name, goal, missed := "", "", ""
			if i == 0 {
				name = row.Name + ", per " + row.Unit
			}
			if i == len(results)-1 {
				goal, missed = text(row.Goal), strings.Join(row.Goal.Missed(r), ", ")
			}
			if missed != "" {
				missed = "missed: " + missed
			}
			fmt.Printf("| %s | %s | %.3g | %v | %.1f | %.0f | %s | %s | %s |\n",
				name, r.Way, r.Requests, r.Time.Round(10*time.Nanosecond), r.Ratio, r.Bytes, bench.Rounded(r.Allocs), goal, missed)
		}
	}
	return figures(ctx, only)
}

func figures(ctx context.Context, only string) error {
	head := "\n| figure | measured | goal | |\n|---|--:|--:|---|\n"
	for _, f := range bench.Figures() {
		if !strings.Contains(f.Name, only) {
			continue
		}
		fmt.Print(head)
		head = ""
		v, err := f.Measure(ctx)
		if err != nil {
			return err
		}
		missed := ""
		if v > f.Goal {
			missed = "missed"
		}
		fmt.Printf("| %s | %s %s | %v | %s |\n", f.Name, bench.Rounded(v), f.Unit, f.Goal, missed)
	}
	return nil
}

func text(g bench.Goal) string {
	var parts []string
	add := func(set bool, part string) {
		if set {
			parts = append(parts, part)
		}
	}
	add(g.Ratio > 0, fmt.Sprintf("%vx", g.Ratio))
	add(g.Allocs > 0, fmt.Sprintf("%v allocations", g.Allocs))
	add(g.Bytes > 0, fmt.Sprintf("%v bytes", g.Bytes))
	add(g.Requests > 0, fmt.Sprintf("%v requests", g.Requests))
	add(g.Time > 0, g.Time.String())
	return strings.Join(parts, ", ")
}
