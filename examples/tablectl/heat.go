package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

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
	address := c.flags.String("listen", "", "serve the page at this `address`, such as localhost:8080, until the command is interrupted")
	return func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return usagef("at least one snapshot is needed")
		}
		var all []*heat.Snapshot
		for _, path := range args {
			s, err := loadHeat(path)
			if err != nil {
				return err
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
		if c.json {
			if err := printJSON(c.out, append([]heat.Finding{}, findings...)); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(c.out, s)
			for _, f := range findings {
				fmt.Fprintln(c.out, f)
			}
		}
		if *address != "" {
			return c.serve(ctx, *address, s.Handler())
		}
		return nil
	}
}

func loadHeat(path string) (*heat.Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	defer f.Close()
	s, err := heat.Load(f, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// serve serves a page until ctx ends.
func (c *cli) serve(ctx context.Context, address string, page http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "http://%s\n", listener.Addr())
	server := &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
