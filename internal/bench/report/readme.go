package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/azpatterns/azpatterns/internal/bench"
)

// tasks are the jobs and rows of the short table, and what a program does in them.
var tasks = []struct{ job, task string }{
	{"page read", "reads 1,000 rows"},
	{"batch of 100", "inserts 100 rows in one transaction"},
	{"point read", "reads a row by its key"},
	{"insert", "inserts a row"},
	{"delete where", "deletes 1,000 rows that match a filter"},
	{"Store insert (2 local indexes)", "inserts an entity with two indexes in its partition"},
	{"Store update", "changes such an entity"},
	{"index range of 500", "finds 500 entities by an index"},
	{"list add", "adds an entity to a list"},
	{"denormalized count", "counts an entity in another"},
	{"log tail of 100 over 8 buckets", "reads the newest 100 entries of a log in 8 partitions"},
	{"range of 5,000 rows, Azurite", "reads 5,000 rows from Azurite"},
}

// shortTable returns the table of README.md.
func (r *report) shortTable() string {
	table := shortHead + "\n|---|--:|\n"
	for _, t := range tasks {
		if ratio, measured := r.ratios[t.job]; measured {
			table += fmt.Sprintf("| %s | %s |\n", t.task, bench.Rounded(ratio))
		}
	}
	return table
}

const shortHead = "| what a program does | times faster |"

// updateReadme replaces the short table of a file.
func (r *report) updateReadme(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), shortHead)
	_, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		return fmt.Errorf("%s has no table %s", file, shortHead)
	}
	return os.WriteFile(file, []byte(before+r.shortTable()+"\n"+after), 0o644)
}
