package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/bench"
)

// rows prints the table of goals: each operation by hand, plain and accelerated.
func (r *report) rows(ctx context.Context) error {
	o := r.options
	o.Slice /= 4 // the operations are short, and replies are replayed
	head := "\n| operation | way | requests | time | times faster | bytes | allocations | goal | |\n|---|---|--:|--:|--:|--:|--:|---|---|\n"
	for _, row := range bench.Rows() {
		if !r.wanted(row.Name) {
			continue
		}
		fmt.Print(head)
		head = ""
		results, err := bench.MeasureRow(ctx, row, o)
		if err != nil {
			return err
		}
		for i, result := range results {
			name, goal, missed := "", "", ""
			if i == 0 {
				name = row.Name + ", per " + row.Unit
			}
			if i == len(results)-1 {
				goal, missed = text(row.Goal), strings.Join(row.Goal.Missed(result), ", ")
			}
			if missed != "" {
				missed = "missed: " + missed
			}
			bytes, allocs := fmt.Sprintf("%.0f", result.Bytes), bench.Rounded(result.Allocs)
			if row.Latency > 0 {
				bytes, allocs = "", "" // not measured
			}
			fmt.Printf("| %s | %s | %.3g | %v | %.1f | %s | %s | %s | %s |\n", name, result.Way, result.Requests,
				result.Time.Round(10*time.Nanosecond), result.Ratio, bytes, allocs, goal, missed)
			r.ratios[row.Name] = result.Ratio
		}
	}
	return nil
}

// figures prints the table of figures.
func (r *report) figures(ctx context.Context) error {
	head := "\n| figure | measured | goal | |\n|---|--:|--:|---|\n"
	for _, f := range bench.Figures() {
		if !r.wanted(f.Name) {
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
