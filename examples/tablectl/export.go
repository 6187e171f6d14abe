package main

import (
	"cmp"
	"context"
	"errors"
	"io"
)

func exportCommand(c *cli) action {
	from, m := c.account("", ""), c.transfer("FILE.state")
	return func(ctx context.Context, args []string) (err error) {
		f, err := m.where.filter()
		if err != nil {
			return err
		}
		path := args[1]
		if path != standard {
			m.state = cmp.Or(m.state, path+".state")
		} else if m.state != "" {
			return usagef("the standard output has no state")
		}
		a, t, err := c.table(ctx, from, args[0])
		if err != nil {
			return err
		}
		if err := m.begin(path, "export", a.name, args[0], path); err != nil {
			return err
		}
		write, end, err := m.output(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		return m.run(ctx, "rows", m.total, scanTable(ctx, t, f, m.job.Cursor, &m.moveFlags), func(_ context.Context, ch *chunk) error {
			var text []byte
			for i := range ch.rows {
				text = append(appendRow(text, &ch.rows[i]), '\n')
			}
			m.job.Written += int64(len(text))
			return write(text)
		})
	}
}

// output opens what export writes to. If that is the standard output, the summary goes to that of errors.
func (m *transfer) output(path string) (write func([]byte) error, end func() error, err error) {
	out := io.Discard
	switch {
	case m.dryRun:
	case path == standard:
		out, m.cli.out = m.cli.out, m.cli.err
	default:
		f, err := openOutput(path, m.job.Written)
		if err != nil {
			return nil, nil, err
		}
		return func(text []byte) error { return writeSynced(f, text) }, f.Close, nil
	}
	return func(text []byte) error { _, err := out.Write(text); return err }, func() error { return nil }, nil
}
