package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

// saveHeat writes the page of a snapshot, or the snapshot itself.
func saveHeat(s *heat.Snapshot, path string) error {
	var b bytes.Buffer
	write := s.Save
	if filepath.Ext(path) == ".html" {
		write = func(w io.Writer) error { return s.Page(w, nil) }
	}
	if err := write(&b); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes())
}

func heatCommand(c *cli) action {
	output := c.flags.String("o", "", "write the merged snapshots to this `file`: a page if it ends in .html, otherwise a snapshot")
	return func(_ context.Context, args []string) error {
		var all []*heat.Snapshot
		for _, path := range args {
			data, err := os.ReadFile(path)
			if err != nil {
				return usagef("%w", err)
			}
			s, err := heat.Load(bytes.NewReader(data), nil)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			all = append(all, s)
		}
		s := heat.Merge(all...)
		if *output != "" {
			if err := saveHeat(s, *output); err != nil {
				return err
			}
		}
		findings := s.Findings()
		for _, f := range findings {
			if err := c.print(f, f.String()); err != nil {
				return err
			}
		}
		return c.summary(len(findings) > 0, s.String(), figure{len(findings), "findings"})
	}
}
