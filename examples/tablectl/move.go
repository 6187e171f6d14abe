package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// standard is the argument for the standard input or output.
const standard = "-"

// move is a command that moves rows: export, import or copy.
type move struct {
	*cli
	name     string
	from, to *accountFlags
	where    *filterFlags
	stateFlags
	chunk, parallel int
	total           int64
	dryRun, create  bool
	mode, aside     string

	job       state
	continues bool
	files     []*os.File // to be closed
	asideFile *os.File
	table     *patterns.Table[stored] // that is written
	write     func(ctx context.Context, c *chunk) error
}

func moveCommand(name, defaultState string) func(*cli) action {
	return func(c *cli) action {
		m := &move{cli: c, name: name, where: c.filter()}
		m.from = c.account("", "")
		m.to = m.from
		c.stateFlags(&m.stateFlags, defaultState, " and overwrite files")
		c.flags.IntVar(&m.chunk, "chunk", 10_000, "move so many `rows` between two saves of the state")
		c.flags.IntVar(&m.parallel, "parallel", 8, "the largest `number` of concurrent requests")
		c.flags.Int64Var(&m.total, "total", 0, "the `number` of rows, as count prints it, for the remaining time")
		c.flags.BoolVar(&m.dryRun, "dry-run", false, "read and check everything, and write nothing")
		if name == "copy" {
			m.to = c.account("to-", " that is written, if it is another one")
		}
		if name != "export" {
			c.flags.StringVar(&m.mode, "mode", "replace", "what to do with rows that exist: replace, merge, or insert, which refuses them if their content differs")
			c.flags.BoolVar(&m.create, "create", false, "create the table if it does not exist")
			c.flags.StringVar(&m.aside, "aside", "", "the `file` for rows that are refused (default the first argument and .refused)")
		}
		return m.do
	}
}

func (m *move) do(ctx context.Context, args []string) (err error) {
	m.where.allowScan = m.where.allowScan || m.name == "import" // a file is read as a whole anyway
	f, err := m.where.filter()
	switch {
	case err != nil:
		return err
	case m.chunk < 1 || m.parallel < 1:
		return usagef("-chunk and -parallel must be positive")
	case !slices.Contains([]string{"", "replace", "merge", "insert"}, m.mode):
		return usagef("-mode is replace, merge or insert")
	case slices.Contains(args, standard) && (m.state != "" || m.name == "import" && m.aside == ""):
		return usagef("the standard input and output have no state, and the former needs -aside")
	}
	a, b, err := m.openTwo(ctx, m.from, m.to)
	if err != nil {
		return err
	}
	m.aside = cmp.Or(m.aside, args[0]+".refused")
	job, output, file := []string{m.name, a.name, args[0], b.name, args[1], m.mode, m.where.where}, m.aside, ""
	switch m.name {
	case "export":
		output, file = args[1], args[1]
	case "import":
		file = args[0]
	case "copy":
		if a.name == b.name && args[0] == args[1] {
			return usagef("a table cannot be copied to itself")
		}
	}
	if file != "" && file != standard {
		m.state = cmp.Or(m.state, file+".state")
	}
	if m.dryRun {
		m.state = ""
	}
	if m.job, m.continues, err = m.load(job...); err != nil {
		return err
	}
	if info, err := os.Stat(output); err == nil && !m.continues && !m.force && !m.dryRun && info.Mode().IsRegular() && info.Size() > 0 {
		return usagef("%s exists: remove it, or use -force to overwrite it", output)
	}
	chunks, size, err := m.source(ctx, a, args[0], f)
	if err == nil {
		err = m.target(ctx, b, args[1])
	}
	if err == nil {
		err = m.run(ctx, chunks, size)
	}
	for _, f := range m.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// source opens what is read, and returns its size, 0 if that is unknown.
func (m *move) source(ctx context.Context, a *account, name string, f query.Filter) (chunks iter.Seq2[chunk, error], size int64, err error) {
	switch {
	case m.name != "import":
		t, err := openTable(a.tables.NewClient(name))
		return m.scan(ctx, t, f), m.total, err
	case name == standard:
		return readChunks(m.in, f, position{}, m.chunk), 0, nil
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, 0, usagef("%w", err)
	}
	m.files = append(m.files, in)
	size, err1 := in.Seek(0, io.SeekEnd)
	_, err2 := in.Seek(m.job.Offset, io.SeekStart)
	return readChunks(in, f, m.job.position, m.chunk), size, errors.Join(err1, err2)
}

// target opens what is written.
func (m *move) target(ctx context.Context, a *account, name string) (err error) {
	if m.name != "export" {
		m.write = m.store
		return m.openTable(ctx, a, name)
	}
	write := func(text []byte) error { return nil }
	switch {
	case m.dryRun:
	case name == standard: // the summary goes to the standard output for errors
		out := m.cli.out
		m.cli.out = m.cli.err
		write = func(text []byte) error { _, err := out.Write(text); return err }
	default:
		f, err := openOutput(name, m.job.Written)
		if err != nil {
			return err
		}
		m.files = append(m.files, f)
		write = func(text []byte) error { return writeSynced(f, text) }
	}
	m.write = func(_ context.Context, c *chunk) error {
		var text []byte
		for _, r := range c.rows {
			text = append(append(text, r.text...), '\n')
		}
		m.job.Written += int64(len(text))
		return write(text)
	}
	return nil
}

// run moves the chunks. The state is saved after each, except the last: then it is removed.
func (m *move) run(ctx context.Context, chunks iter.Seq2[chunk, error], size int64) error {
	err := m.job.save()
	if _, missing := os.Stat(m.aside); m.continues && missing == nil && err == nil {
		err = m.openAside()
	}
	if err != nil {
		return err
	}
	unit, done := "rows", func() int64 { return int64(m.job.Rows) }
	if m.name == "import" {
		unit, done = "bytes", func() int64 { return m.job.Offset }
	}
	p := m.progress(unit, done())
	for c, failed := range chunks {
		if err = failed; err == nil {
			err = m.move(ctx, &c)
		}
		if err != nil {
			break
		}
		p.update(done(), size)
	}
	p.end()
	if err := m.job.end(err); err != nil {
		return err
	}
	note := noteOf(m.dryRun)
	if m.job.Refused > 0 && !m.dryRun {
		note = "refused rows are in " + m.aside
	}
	return m.summary(m.job.Refused > 0, note, figure{m.job.Rows, "rows"}, figure{m.job.Present, "present"}, figure{m.job.Refused, "refused"})
}

// move moves a chunk. If that fails, the state that is saved is not changed.
func (m *move) move(ctx context.Context, c *chunk) error {
	err := m.write(ctx, c)
	if err == nil {
		err = m.keepAside(c)
	}
	m.job.Rows += len(c.rows)
	m.job.position = c.position
	if err != nil || c.last {
		return err
	}
	return m.job.save()
}

// keepAside reports what was refused, and appends it to the file of refused rows.
func (m *move) keepAside(c *chunk) error {
	slices.SortStableFunc(c.refused, func(a, b refusal) int { return a.line - b.line })
	var text []byte
	for _, r := range c.refused {
		where := fmt.Sprintf("line %d", r.line)
		if r.line == 0 {
			where = "row " + keyText(r.Key)
		}
		fmt.Fprintf(m.err, "%s: %v\n", where, r.err)
		text = append(append(text, r.text...), '\n')
	}
	m.job.Refused += len(c.refused)
	if len(c.refused) == 0 || m.dryRun {
		return nil
	}
	if m.asideFile == nil {
		if err := m.openAside(); err != nil {
			return err
		}
	}
	m.job.Aside += int64(len(text))
	return writeSynced(m.asideFile, text)
}

func (m *move) openAside() (err error) {
	if m.asideFile, err = openOutput(m.aside, m.job.Aside); err == nil {
		m.files = append(m.files, m.asideFile)
	}
	return err
}
