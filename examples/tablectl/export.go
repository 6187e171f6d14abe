package main

import (
	"cmp"
	"context"
	"errors"
	"io"
)

// writer is what export writes to.
type writer struct {
	io.Writer
	sync func() error
}

func exportCommand(c *cli) action {
	var from accountFlags
	m := &mover{cli: c}
	from.register(c, "", "")
	m.register(c, "FILE.state")
	ordered := c.flags.Bool("ordered", false, "write the rows in the order of their keys, with one request after the other")
	return func(ctx context.Context, args []string) (err error) {
		table, path, err := twoArguments(args)
		if err != nil {
			return err
		}
		f, err := m.filter.filter()
		if err != nil {
			return err
		}
		if path == standard && (m.state != "" || c.json) {
			return usagef("the standard output has no state, and no room for -json")
		}
		if path != standard {
			m.state = cmp.Or(m.state, path+".state")
		}
		a, err := c.open(ctx, from)
		if err != nil {
			return err
		}
		t, err := openTable(a.tables.NewClient(table))
		if err != nil {
			return err
		}
		if err := m.begin([]string{path}, "export", a.name, table, path); err != nil {
			return err
		}
		out, end, err := m.output(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		return m.run(ctx, "rows", m.total, scanTable(ctx, t, f, m.job, m.moveFlags, *ordered), func(_ context.Context, ch *chunk) error {
			var text []byte
			for i := range ch.rows {
				text = append(appendRow(text, &ch.rows[i]), '\n')
			}
			m.job.Written += int64(len(text))
			_, err := out.Write(text)
			return errors.Join(err, out.sync())
		})
	}
}

// output opens what export writes to. If that is the standard output, the report goes to that of errors.
func (m *mover) output(path string) (out writer, end func() error, err error) {
	end = func() error { return nil }
	switch {
	case m.dryRun:
		return writer{io.Discard, end}, end, nil
	case path == standard:
		out = writer{m.out, end}
		m.cli.out = m.err
		return out, end, nil
	}
	f, err := openOutput(path, m.job.Written)
	if err != nil {
		return out, nil, err
	}
	return writer{f, f.Sync}, f.Close, nil
}
