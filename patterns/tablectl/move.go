package tablectl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/patterns"
)

// standard is the argument for the standard input or output.
const standard = "-"

// move is a command that moves rows: export, import or copy.
type move struct {
	*cli
	name string
	stateFlags
	chunk, parallel int
	total           int64
	dryRun, create  bool
	mode, aside     string
	label           string // before the place of a refused row

	job       state
	continues bool
	table     *patterns.Table[stored] // that is written
	write     func(ctx context.Context, c *chunk) error
}

func moveCommand(name, defaultState string) func(*cli) action {
	return func(c *cli) action {
		m := &move{cli: c, name: name}
		if name == "copy" {
			c.accountFlags("to-", "the account that is written, if it is another one")
		}
		c.filterFlags()
		c.where.allowScan = name == "import" // a file is read as a whole anyway
		c.stateFlags(&m.stateFlags, defaultState, " and overwrite files")
		c.flags.IntVar(&m.chunk, "chunk", 10_000, "move so many `rows` between two saves of the state")
		c.flags.IntVar(&m.parallel, "parallel", 8, "the largest `number` of concurrent requests")
		c.flags.Int64Var(&m.total, "total", 0, "the `number` of rows, as count prints it, for the remaining time")
		c.flags.BoolVar(&m.dryRun, "dry-run", false, "read and check everything, and write nothing")
		if name != "export" {
			m.modeFlag("replace")
			c.flags.BoolVar(&m.create, "create", false, "create the table if it does not exist")
			c.flags.StringVar(&m.aside, "aside", "", "the `file` for rows that are refused (default the first argument and .refused)")
		}
		return m.do
	}
}

// modeFlag declares the flag -mode.
func (m *move) modeFlag(mode string) {
	m.flags.StringVar(&m.mode, "mode", mode, "what to do with rows that exist: replace, merge, or insert, which refuses them if their content differs")
}

// check checks the flags.
func (m *move) check() error {
	switch {
	case m.chunk < 1 || m.parallel < 1:
		return usagef("-chunk and -parallel must be positive")
	case !slices.Contains([]string{"", "replace", "merge", "insert"}, m.mode):
		return usagef("-mode is replace, merge or insert")
	}
	return nil
}

func (m *move) do(ctx context.Context, args []string) (err error) {
	if err := m.check(); err != nil {
		return err
	}
	switch {
	case slices.Contains(args, standard) && (m.state != "" || m.name == "import" && m.aside == ""):
		return usagef("the standard input needs -aside, and -state is for files and copies")
	case m.name == "copy" && m.from.name == m.to.name && args[0] == args[1]:
		return usagef("a table cannot be copied to itself")
	}
	m.aside = cmp.Or(m.aside, args[0]+".refused")
	output, file := m.aside, args[0] // that is written; that is moved
	if m.name == "export" {
		output, file = args[1], args[1]
	}
	switch {
	case m.dryRun:
		m.state = ""
	case m.name != "copy" && file != standard:
		m.state = cmp.Or(m.state, file+".state")
	}
	m.job, m.continues, err = m.load(m.name, m.from.name, args[0], m.to.name, args[1], m.mode, m.where.text)
	if err != nil {
		return err
	}
	if info, err := os.Stat(output); err == nil && !m.continues && !m.force && !m.dryRun && info.Mode().IsRegular() && info.Size() > 0 {
		return usagef("%s exists: remove it, or use -force to overwrite it", output)
	}
	chunks, err := m.source(ctx, args[0])
	if err == nil {
		err = m.target(ctx, args[1])
	}
	if err != nil {
		return err
	}
	m.announce(args[0])
	return m.run(ctx, chunks)
}

// source returns what is read.
func (m *move) source(ctx context.Context, name string) (iter.Seq2[chunk, error], error) {
	if m.name != "import" {
		t, err := openTable(m.from.Table(name))
		return m.scan(ctx, t, name), err
	}
	if name == standard {
		return m.lines(io.NopCloser(m.in), sha256.New()), nil
	}
	f, before, err := m.openFile(name)
	return m.lines(f, before), err
}

// announce prints where the command begins.
func (m *move) announce(source string) {
	switch {
	case source == standard:
		source = "the standard input"
		fallthrough
	case !m.continues:
		fmt.Fprintf(m.err, "begins at the start of %s\n", source)
	case m.name == "import":
		fmt.Fprintf(m.err, "continues at line %d of %s\n", m.job.Line+1, source)
	default:
		fmt.Fprintf(m.err, "continues after %d rows of %s\n", m.job.Rows+m.job.Refused, source)
	}
}

// target opens what is written.
func (m *move) target(ctx context.Context, name string) error {
	if m.name != "export" {
		m.write = func(ctx context.Context, c *chunk) error { return inTable(name, m.store(ctx, c)) }
		return inTable(name, m.openTable(ctx, m.to.Table(name), m.create && !m.dryRun))
	}
	write := func(text []byte) error { return writeAt(name, m.job.Written, text) }
	switch {
	case m.dryRun:
		write = func([]byte) error { return nil }
	case name == standard: // the summary goes to the standard output for errors
		out := m.out
		m.out = m.err
		write = func(text []byte) error { _, err := io.WriteString(out, printable(string(text))); return err }
	}
	m.write = func(_ context.Context, c *chunk) error {
		text := textOfRows(c.rows)
		err := write(text)
		m.job.Written += int64(len(text))
		return err
	}
	if m.continues {
		return write(nil)
	}
	return nil // the file is created with the first chunk, if the table can be read
}

// run moves the chunks. The state is saved after each, except the last: then it is removed.
func (m *move) run(ctx context.Context, chunks iter.Seq2[chunk, error]) error {
	if _, missing := os.Stat(m.aside); m.continues && missing == nil {
		if err := writeAt(m.aside, m.job.Aside, nil); err != nil {
			return err
		}
	}
	unit, done := "rows", func() int64 { return int64(m.job.Rows) }
	if m.name == "import" {
		unit, done = "bytes", func() int64 { return m.job.Offset }
	}
	p := m.progress(unit, done())
	err := m.moveAll(ctx, chunks, func() { p.update(done(), m.total) })
	if err := m.job.end(err); err != nil {
		return err
	}
	return m.moved(m.aside)
}

// moved prints what was moved, after other figures.
func (m *move) moved(aside string, before ...figure) error {
	note := noteOf(m.dryRun)
	if m.job.Refused > 0 && !m.dryRun {
		note = "refused rows are in " + aside
	}
	return m.summary(m.job.Refused > 0, note, append(before, figure{m.job.Rows, "rows"}, figure{m.job.Present, "present"}, figure{m.job.Refused, "refused"})...)
}

// moveAll moves chunks and calls after each of them.
func (m *move) moveAll(ctx context.Context, chunks iter.Seq2[chunk, error], after func()) error {
	for c, err := range chunks {
		if err == nil {
			err = m.moveChunk(ctx, &c)
		}
		if err != nil {
			return err
		}
		after()
	}
	return nil
}

// moveChunk moves a chunk. If that fails, the state that is saved is not changed.
func (m *move) moveChunk(ctx context.Context, c *chunk) error {
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
func (m *move) keepAside(c *chunk) (err error) {
	slices.SortStableFunc(c.refused, func(a, b row) int { return a.line - b.line })
	m.endProgress()
	text := textOfRows(c.refused)
	for _, r := range c.refused {
		where := fmt.Sprintf("line %d", r.line)
		if r.line == 0 {
			where = "row " + keyText(r.Key)
		}
		m.warn("%s%s: %v", m.label, where, r.refused)
	}
	if len(text) > 0 && !m.dryRun {
		err = writeAt(m.aside, m.job.Aside, text)
	}
	m.job.Refused += len(c.refused)
	m.job.Aside += int64(len(text))
	return err
}
