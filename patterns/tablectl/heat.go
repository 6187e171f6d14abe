package tablectl

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
func saveHeat(ctx context.Context, s *heat.Snapshot, path string) error {
	write := s.Save
	if filepath.Ext(path) == ".html" {
		write = func(w io.Writer) error { return s.Page(w, nil) }
	}
	return folder("").create(ctx, path, write)
}

func heatCommand(c *cli) action {
	output := c.flags.String("o", "", "write the merged snapshots to this `file`: a page if it ends in .html, otherwise a snapshot")
	address := c.flags.String("serve", "", "then serve the page at this `address`, such as localhost:8080, until the command is interrupted")
	return func(ctx context.Context, args []string) error {
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
			if err := saveHeat(ctx, s, *output); err != nil {
				return err
			}
		}
		findings := s.Findings()
		for _, f := range findings {
			if err := c.print(f, f.String()); err != nil {
				return err
			}
		}
		if err := c.summary(len(findings) > 0, s.String(), figure{len(findings), "findings"}); err != nil || *address == "" {
			return err
		}
		return c.serve(ctx, *address, s.Handler())
	}
}

// serve serves a page until the context ends.
func (c *cli) serve(ctx context.Context, address string, h http.Handler) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return usagef("-serve: %w", err)
	}
	fmt.Fprintf(c.err, "the page is at http://%s\n", l.Addr())
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
