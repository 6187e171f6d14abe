package tablectl

import (
	"cmp"
	"context"
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
	name            string
	chunk, parallel int
	total           int64
	create          bool
	mode, aside     string
	label           string // before the place of a refused row

	shown *progress
	table *patterns.Table[stored] // that is written
	write func(ctx context.Context, rows []row) error
}

func moveCommand(defaultState string) func(*cli) action {
	return func(c *cli) action {
		m := &move{cli: c, name: c.flags.Name()}
		if m.name == "copy" {
			c.accountFlags("to-", "the account that is written, if it is another one")
		}
		c.filterFlags()
		c.allowScan = m.name == "import" // a file is read as a whole anyway
		c.stateFlags(defaultState, " and overwrite files")
		c.flags.IntVar(&m.chunk, "chunk", 10_000, "move so many `rows` between two saves of the state")
		c.flags.IntVar(&m.parallel, "parallel", 8, "the largest `number` of concurrent requests")
		c.flags.Int64Var(&m.total, "total", 0, "the `number` of rows, as count prints it, for the remaining time")
		c.flags.BoolVar(&m.dryRun, "dry-run", false, "read and check everything, and write nothing")
		if m.name != "export" {
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
	case m.name != "export" && modes[m.mode] == nil:
		return usagef("-mode is replace, merge or insert")
	}
	return nil
}

func (m *move) do(ctx context.Context, args []string) error {
	if err := m.check(); err != nil {
		return err
	}
	switch {
	case slices.Contains(args, standard) && (m.job.path != "" || m.name == "import" && m.aside == ""):
		return usagef("the standard input needs -aside, and -state is for files and copies")
	case m.name == "copy" && m.from.account.Name == m.to.account.Name && sameTable(args[0], args[1]):
		return usagef("a table cannot be copied to itself")
	}
	output, file := args[1], args[1] // that is written; that is moved
	if m.name != "export" {
		m.aside = cmp.Or(m.aside, args[0]+".refused")
		output, file = m.aside, args[0]
	}
	defaultState := file + ".state"
	if m.name == "copy" || file == standard {
		defaultState = ""
	}
	if err := m.begin(defaultState, args[0], m.to.account.Name, args[1], m.mode, m.where); err != nil {
		return err
	}
	if err := m.spare(output, m.job.saved); err != nil {
		return err
	}
	steps, err := m.source(ctx, args[0])
	if err == nil {
		err = m.target(ctx, args[1])
	}
	if err != nil {
		return err
	}
	m.announce(args[0])
	if err := m.end(m.run(ctx, steps)); err != nil {
		return err
	}
	return m.moved(m.aside)
}

// begin loads the state of a job, and begins to show the progress.
func (m *move) begin(defaultState string, job ...string) (err error) {
	if m.job.path = cmp.Or(m.job.path, defaultState); m.dryRun {
		m.job.path = ""
	}
	err = m.load(job...)
	unit := "rows"
	if m.name == "import" {
		unit = "bytes"
	}
	m.shown = m.progress(unit, m.done())
	return err
}

// done is how much was moved: bytes of a file whose number of rows is unknown, otherwise rows.
func (m *move) done() int64 {
	if m.name == "import" {
		return m.job.Offset
	}
	return int64(m.job.Rows)
}

// spare refuses to overwrite a file that this job has not written.
func (m *move) spare(path string, written bool) error {
	info, err := os.Stat(path)
	if err == nil && !written && !m.force && !m.dryRun && info.Mode().IsRegular() && info.Size() > 0 {
		return usagef("%s exists: remove it, or use -force to overwrite it", path)
	}
	return nil
}

// source returns what is read.
func (m *move) source(ctx context.Context, name string) (iter.Seq2[step, error], error) {
	switch {
	case m.name != "import":
		return m.scan(ctx, name), nil
	case name == standard:
		return newLines(io.NopCloser(m.in)).steps(m.filter), nil
	}
	l, err := m.openFile(name)
	return l.steps(m.filter), err
}

// announce prints where the command begins.
func (m *move) announce(source string) {
	if source == standard {
		source = "the standard input"
	}
	begins := "begins at the start"
	if m.job.saved {
		begins = fmt.Sprintf("continues after %d rows", m.job.Rows+m.job.Refused)
		if m.name == "import" {
			begins = fmt.Sprintf("continues at line %d", m.job.Line+1)
		}
	}
	fmt.Fprintf(m.err, "%s of %s\n", begins, source)
}

// target opens what is written. A file is created with the first chunk, if the table can be read.
func (m *move) target(ctx context.Context, name string) error {
	if m.name != "export" {
		m.write = func(ctx context.Context, rows []row) error { return inTable(name, m.store(ctx, rows)) }
		return inTable(name, m.openTable(ctx, m.to.rows(name)))
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
	m.write = func(_ context.Context, rows []row) error {
		text := textOfRows(rows)
		err := write(text)
		m.job.Written += int64(len(text))
		return err
	}
	return nil
}

// maxChunkBytes ends a chunk early if its rows are long.
const maxChunkBytes = 16 << 20

// run moves what is read, in chunks. The state is saved after each, except the last: then it is removed. If a chunk fails, the
// state that is saved is not changed.
func (m *move) run(ctx context.Context, steps iter.Seq2[step, error]) error {
	if _, missing := os.Stat(m.aside); m.job.saved && missing == nil {
		if err := writeAt(m.aside, m.job.Aside, nil); err != nil {
			return err
		}
	}
	var chunk []row
	read, size := 0, 0
	for s, err := range steps {
		if err != nil {
			return err
		}
		chunk, read = append(chunk, s.rows...), read+s.read
		for _, r := range s.rows {
			size += len(r.text)
		}
		if !s.last && read < m.chunk && size < maxChunkBytes {
			continue
		}
		if err = m.write(ctx, chunk); err == nil {
			err = m.keepAside(chunk)
		}
		if m.job.position = s.after(); err == nil && !s.last {
			err = m.job.save()
		}
		if err != nil {
			return err
		}
		m.shown.update(m.done(), m.total)
		chunk, read, size = nil, 0, 0
	}
	return nil
}

// keepAside counts the rows of a chunk, reports those that were refused, and appends them to their file.
func (m *move) keepAside(chunk []row) (err error) {
	m.endProgress()
	var text []byte
	for _, r := range chunk {
		if r.refused == nil {
			m.job.Rows++
			continue
		}
		m.job.Refused++
		where := fmt.Sprintf("line %d", r.line)
		if r.line == 0 {
			where = "row " + keyText(r.Key)
		}
		m.warn("%s%s: %v", m.label, where, r.refused)
		text = append(append(text, r.text...), '\n')
	}
	if len(text) > 0 && !m.dryRun {
		err = writeAt(m.aside, m.job.Aside, text)
	}
	m.job.Aside += int64(len(text))
	return err
}

// moved prints what was moved, after other figures.
func (m *move) moved(aside string, before ...figure) error {
	note := ""
	if m.job.Refused > 0 {
		note = "refused rows are in " + aside
	}
	return m.summary(m.job.Refused > 0, note, append(before, figure{m.job.Rows, "rows"}, figure{m.job.Present, "present"}, figure{m.job.Refused, "refused"})...)
}
