package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
)

func importCommand(c *cli) action {
	to, t := c.account("", ""), c.target("FILE.state")
	return func(ctx context.Context, args []string) error {
		t.where.allowScan = true // a file is read as a whole anyway
		f, err := t.check()
		if err != nil {
			return err
		}
		path := args[0]
		if path != standard {
			t.state, t.aside = cmp.Or(t.state, path+".state"), cmp.Or(t.aside, path+".refused")
		} else if t.state != "" || t.aside == "" {
			return usagef("the standard input has no state, and needs -aside")
		}
		a, err := c.open(ctx, to)
		if err != nil {
			return err
		}
		if err := t.begin(t.aside, "import", path, a.name, args[1], t.mode); err != nil {
			return err
		}
		in, size, err := c.input(path, t.job.Offset)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := t.open(ctx, a, args[1]); err != nil {
			return err
		}
		return t.run(ctx, "bytes", size, readChunks(in, f, t.job, t.chunk), t.write)
	}
}

func copyCommand(c *cli) action {
	from, to, t := c.account("", ""), c.account("to-", " that is written, if it is another one"), c.target("none")
	return func(ctx context.Context, args []string) error {
		f, err := t.check()
		if err != nil {
			return err
		}
		a, b, err := c.openTwo(ctx, from, to)
		if err != nil {
			return err
		}
		if a.name == b.name && args[0] == args[1] {
			return usagef("a table cannot be copied to itself")
		}
		source, err := openTable(a.tables.NewClient(args[0]))
		if err != nil {
			return err
		}
		t.aside = cmp.Or(t.aside, args[0]+".refused")
		if err := t.begin(t.aside, "copy", a.name, args[0], b.name, args[1], t.mode); err != nil {
			return err
		}
		if err := t.open(ctx, b, args[1]); err != nil {
			return err
		}
		return t.run(ctx, "rows", t.total, scanTable(ctx, source, f, t.job.Cursor, &t.moveFlags), t.write)
	}
}

// input opens a file at an offset, and returns its size, 0 if that is unknown.
func (c *cli) input(path string, offset int64) (in io.ReadCloser, size int64, err error) {
	if path == standard {
		return io.NopCloser(c.in), 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, usagef("%w", err)
	}
	size, err1 := f.Seek(0, io.SeekEnd)
	_, err2 := f.Seek(offset, io.SeekStart)
	return f, size, errors.Join(err1, err2)
}
