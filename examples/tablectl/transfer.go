package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/keys"
)

// standard is the argument for the standard input or output.
const standard = "-"

// moveFlags are the flags of the commands that move rows.
type moveFlags struct {
	where    *filterFlags
	chunk    int
	parallel int
	state    string
	total    int64
	force    bool
	dryRun   bool
}

// chunk is what is moved between two saves of the state.
type chunk struct {
	rows    []row
	lines   []int // their numbers, if they come from a file
	refused []refusal
	last    bool // no chunk follows

	// The position after the chunk, as in state.
	cursor string
	offset int64
	line   int
}

// refusal is a line, or a row, that is kept aside.
type refusal struct {
	line int
	key  keys.Key // if line is 0
	text []byte
	err  error
}

// refuse adds a row that cannot be stored.
func (c *chunk) refuse(i int, err error) {
	r := refusal{key: c.rows[i].key, text: appendRow(nil, &c.rows[i]), err: err}
	if c.lines != nil {
		r.line = c.lines[i]
	}
	c.refused = append(c.refused, r)
}

// transfer is a command that moves rows.
type transfer struct {
	*cli
	moveFlags
	job       state
	continues bool
	aside     string // the name of the file for refused rows
	asideFile *os.File
}

// transfer adds the flags of the commands that move rows.
func (c *cli) transfer(defaultState string) *transfer {
	m := &transfer{cli: c}
	m.where = c.filter()
	c.flags.IntVar(&m.chunk, "chunk", 10_000, "move so many `rows` between two saves of the state")
	c.flags.IntVar(&m.parallel, "parallel", 8, "the largest `number` of concurrent requests")
	c.flags.StringVar(&m.state, "state", "", "the `file` from which the command continues if it was interrupted (default "+defaultState+")")
	c.flags.Int64Var(&m.total, "total", 0, "the `number` of rows, as count prints it, for the remaining time")
	c.flags.BoolVar(&m.force, "force", false, "begin anew: ignore the state and overwrite files")
	c.flags.BoolVar(&m.dryRun, "dry-run", false, "read and check everything, and write nothing")
	return m
}

// begin loads the state of a job that writes a file. A dry run has no state, and writes none.
func (m *transfer) begin(file string, job ...string) (err error) {
	if m.chunk < 1 || m.parallel < 1 {
		return usagef("-chunk and -parallel must be positive")
	}
	path := m.state
	if m.dryRun {
		m.state = ""
	}
	if m.dryRun || m.force {
		path = ""
	}
	if m.job, m.continues, err = loadState(path, fmt.Sprintf("%q", append(job, m.where.where))); err != nil || m.continues || m.force || m.dryRun {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return usagef("%s exists: remove it, or use -force to overwrite it", file)
	}
	return nil
}

// run moves the chunks. The state is saved after each, except the last: then it is removed.
func (m *transfer) run(ctx context.Context, unit string, total int64, chunks iter.Seq2[chunk, error], write func(context.Context, *chunk) error) error {
	err := m.job.save(m.state)
	if _, missing := os.Stat(m.aside); m.continues && missing == nil && err == nil {
		m.asideFile, err = openOutput(m.aside, m.job.Aside)
	}
	if err != nil {
		return err
	}
	done := func() int64 {
		if unit == "bytes" {
			return m.job.Offset
		}
		return int64(m.job.Rows)
	}
	p := m.progress(unit, done())
	for c, failed := range chunks {
		if err = failed; err == nil {
			err = m.move(ctx, &c, write)
		}
		if err != nil {
			break
		}
		p.update(done(), total)
	}
	p.end()
	if m.asideFile != nil {
		err = errors.Join(err, m.asideFile.Close())
	}
	switch {
	case err != nil && m.state != "":
		return fmt.Errorf("%w\nthe same command continues from %s", err, m.state)
	case err != nil:
		return err
	}
	if err := os.Remove(m.state); m.state != "" && !errors.Is(err, fs.ErrNotExist) && err != nil {
		return err
	}
	note := noteOf(m.dryRun)
	if m.job.Refused > 0 && !m.dryRun {
		note = "refused rows are in " + m.aside
	}
	return m.summary(m.job.Refused > 0, note, figure{m.job.Rows, "rows"}, figure{m.job.Present, "present"}, figure{m.job.Refused, "refused"})
}

// move moves a chunk. If that fails, the state that is saved is not changed.
func (m *transfer) move(ctx context.Context, c *chunk, write func(context.Context, *chunk) error) error {
	err := write(ctx, c)
	if err == nil {
		err = m.keepAside(c)
	}
	m.job.Rows += len(c.rows)
	m.job.Cursor, m.job.Offset, m.job.Line = c.cursor, c.offset, c.line
	if err != nil || c.last {
		return err
	}
	return m.job.save(m.state)
}

// keepAside reports what was refused, and appends it to the file of refused rows.
func (m *transfer) keepAside(c *chunk) (err error) {
	slices.SortStableFunc(c.refused, func(a, b refusal) int { return a.line - b.line })
	var text []byte
	for _, r := range c.refused {
		where := fmt.Sprintf("line %d", r.line)
		if r.line == 0 {
			where = "row " + keyText(r.key)
		}
		fmt.Fprintf(m.err, "%s: %v\n", where, r.err)
		text = append(append(text, r.text...), '\n')
	}
	m.job.Refused += len(c.refused)
	if len(c.refused) == 0 || m.dryRun {
		return nil
	}
	if m.asideFile == nil {
		if m.asideFile, err = openOutput(m.aside, m.job.Aside); err != nil {
			return err
		}
	}
	m.job.Aside += int64(len(text))
	return writeSynced(m.asideFile, text)
}
