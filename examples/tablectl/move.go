package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/keys"
)

// moveFlags are the flags of the commands that move rows.
type moveFlags struct {
	filter   filterFlags
	chunk    int
	parallel int
	state    string
	aside    string
	total    int64
	force    bool
	dryRun   bool
}

func (o *moveFlags) register(c *cli, state string) {
	o.filter.register(c.flags)
	c.flags.IntVar(&o.chunk, "chunk", 10_000, "move so many `rows`, or 16 MiB, between two saves of the state")
	c.flags.IntVar(&o.parallel, "parallel", 8, "the largest `number` of concurrent requests")
	c.flags.StringVar(&o.state, "state", "", "the `file` from which the command continues if it was interrupted (default "+state+")")
	c.flags.Int64Var(&o.total, "total", 0, "the `number` of rows, for the remaining time")
	c.flags.BoolVar(&o.force, "force", false, "begin anew: ignore the state and overwrite files")
	c.flags.BoolVar(&o.dryRun, "dry-run", false, "read and check everything, and write nothing")
}

// chunk is what is moved between two saves of the state.
type chunk struct {
	rows     []row
	lines    []int // their numbers, if they come from a file
	refused  []refusal
	position func(*state) // sets the position after the chunk
	done     int64        // the position in the unit of the progress: bytes or rows
	last     bool         // no chunk follows
}

// line returns the number of the line of a row, 0 if it does not come from a file.
func (c *chunk) line(i int) int {
	if i < len(c.lines) {
		return c.lines[i]
	}
	return 0
}

// refuse adds a row that cannot be stored.
func (c *chunk) refuse(i int, err error) {
	r := &c.rows[i]
	c.refused = append(c.refused, refusal{c.line(i), r.key, appendRow(nil, r), err})
}

// refusal is a line, or a row, that is kept aside.
type refusal struct {
	line int
	key  keys.Key // if line is 0
	text []byte
	err  error
}

func (r *refusal) String() string {
	if r.line > 0 {
		return fmt.Sprintf("line %d: %v", r.line, r.err)
	}
	return fmt.Sprintf("row %s: %v", keyText(r.key), r.err)
}

func keyText(k keys.Key) string {
	return string(appendText(append(appendText(nil, k.Partition), ' '), k.Row))
}

// moved is the result of a moving command.
type moved struct {
	Rows      int    `json:"rows"`
	Present   int    `json:"present,omitempty"`
	Refused   int    `json:"refused,omitempty"`
	Aside     string `json:"aside,omitempty"` // the file with the refused rows
	DryRun    bool   `json:"dryRun,omitempty"`
	Continued bool   `json:"continued,omitempty"`
}

// mover is a moving command.
type mover struct {
	*cli
	moveFlags
	job       state
	continues bool
	asideFile *os.File
}

// begin loads the state of a job that writes these files. A dry run has no state, and writes none.
func (m *mover) begin(files []string, job ...string) (err error) {
	if m.chunk < 1 || m.parallel < 1 {
		return usagef("-chunk and -parallel must be positive")
	}
	if m.dryRun {
		m.state = ""
	}
	if m.job, m.continues, err = loadState(m.state, m.force, append(job, m.filter.where)...); err != nil {
		return err
	}
	for _, file := range files {
		if err := vacant(file); err != nil && !m.continues && !m.force && !m.dryRun {
			return err
		}
	}
	return nil
}

// run moves the chunks. The state is saved after each, except the last: then it is removed.
func (m *mover) run(ctx context.Context, unit string, total int64, chunks iter.Seq2[chunk, error], write func(context.Context, *chunk) error) (err error) {
	if err := m.job.save(m.state); err != nil {
		return err
	}
	p := m.progress(unit, m.job.done(unit))
	defer p.end()
	defer func() {
		if m.asideFile != nil {
			err = errors.Join(err, m.asideFile.Close())
		}
	}()
	for c, err := range chunks {
		if err == nil {
			err = write(ctx, &c)
		}
		if err == nil {
			err = m.keepAside(&c)
		}
		if err != nil {
			return m.interrupted(err)
		}
		m.job.Rows += len(c.rows)
		c.position(&m.job)
		if !c.last {
			if err := m.job.save(m.state); err != nil {
				return err
			}
		}
		p.update(m.job.Rows, c.done, total)
	}
	p.end()
	if m.state != "" {
		if err := os.Remove(m.state); err != nil {
			return err
		}
	}
	return m.report()
}

// done returns how much was done before this run.
func (s *state) done(unit string) int64 {
	if unit == "rows" {
		return int64(s.Rows)
	}
	return s.Offset
}

func (m *mover) interrupted(err error) error {
	if m.state == "" {
		return err
	}
	return fmt.Errorf("%w\n%d rows are done; the same command continues from %s", err, m.job.Rows, m.state)
}

// keepAside reports what was refused, and appends it to the file of refused rows.
func (m *mover) keepAside(c *chunk) (err error) {
	slices.SortStableFunc(c.refused, func(a, b refusal) int { return a.line - b.line })
	for i := range c.refused {
		fmt.Fprintln(m.err, &c.refused[i])
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
	var text []byte
	for _, r := range c.refused {
		text = append(append(text, r.text...), '\n')
	}
	m.job.Aside += int64(len(text))
	return writeSynced(m.asideFile, text)
}

func writeSynced(f *os.File, text []byte) error {
	_, err := f.Write(text)
	return errors.Join(err, f.Sync())
}

func (m *mover) report() error {
	r := moved{Rows: m.job.Rows, Present: m.job.Present, Refused: m.job.Refused, DryRun: m.dryRun, Continued: m.continues}
	text := fmt.Sprintf("%d rows", r.Rows)
	if r.Present > 0 {
		text += fmt.Sprintf(", %d of them existed already", r.Present)
	}
	if r.Refused > 0 {
		text += fmt.Sprintf(", %d refused", r.Refused)
		if !m.dryRun {
			r.Aside = m.aside
			text += ": see " + m.aside
		}
	}
	if m.dryRun {
		text += " (dry run: nothing was written)"
	}
	if err := m.print(r, text); err != nil {
		return err
	}
	if r.Refused > 0 {
		return errFound
	}
	return nil
}

// twoArguments returns the arguments of a command that has two.
func twoArguments(args []string) (a, b string, err error) {
	if len(args) != 2 {
		return "", "", usagef("two arguments are needed, not %d", len(args))
	}
	return args[0], args[1], nil
}

// standard is the argument for the standard input or output.
const standard = "-"
