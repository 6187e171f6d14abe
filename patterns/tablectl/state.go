package tablectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// stateFormat is the version of the state files. Those of version 1 do not contain what is needed to
// detect that a file has changed.
const stateFormat = 2

// position is how far something was read.
type position struct {
	Cursor string // of a scan
	Offset int64  // in a file
	Line   int    // the number of its lines before Offset
	Hash   string // of what is before Offset
}

// state is how far a command has come. It is saved when everything before it is stored, or printed, so
// a command that continues from it repeats only what came after.
type state struct {
	Format int
	Job    string // what is moved where: a state continues only the same job
	position

	Size     int64 // of the file that is read, when the command began
	Modified int64 // its time, in nanoseconds

	Tables  int   // that were restored; the position is in the file of the next one
	Written int64 // size of the file that is written
	Aside   int64 // size of the file of refused rows

	Rows    int // that were moved
	Present int // of these: rows that -mode insert found with the same content
	Refused int
	Found   int // findings of verify

	path  string // "" if it is not saved
	saved bool   // there is something from which the command can continue
}

// stateFlags declares the flags of the commands that can continue.
func (c *cli) stateFlags(defaultState, force string) {
	c.flags.StringVar(&c.job.path, "state", "", "the `file` from which the command continues if it was interrupted (default "+defaultState+")")
	c.flags.BoolVar(&c.force, "force", false, "begin anew: ignore the state"+force)
}

// load loads the state, if there is one and the job is the same. Then it is saved, otherwise the job begins at the start.
func (c *cli) load(job ...string) error {
	s := &c.job
	name := fmt.Sprintf("%q", append([]string{c.flags.Name(), c.from.account.Name}, job...))
	data, err := os.ReadFile(s.path)
	if s.path == "" || c.force || errors.Is(err, fs.ErrNotExist) {
		s.Format, s.Job = stateFormat, name
		return nil
	}
	switch err := json.Unmarshal(data, s); {
	case err != nil || min(s.Offset, int64(s.Line), int64(s.Tables), s.Size, s.Written, s.Aside, int64(s.Rows), int64(s.Present), int64(s.Refused), int64(s.Found)) < 0:
		return usagef("%s is not a state: use -force to begin anew", s.path)
	case s.Format != stateFormat:
		return usagef("%s is the state of another version of tablectl, which this one cannot verify: use -force to begin anew", s.path)
	case s.Job != name:
		return usagef("%s is not the state of this command, but of %q: use -force to begin anew", s.path, s.Job)
	}
	s.saved = true
	return nil
}

func (s *state) save() error {
	if s.path == "" {
		return nil
	}
	err := folder("").create(context.Background(), s.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
	s.saved = s.saved || err == nil
	return err
}

// end removes the state of a command that has ended without an error, and returns its error.
func (c *cli) end(err error) error {
	switch {
	case c.job.path == "":
	case err == nil:
		return os.RemoveAll(c.job.path) // which need not exist
	case c.job.saved:
		c.advice = "\nthe same command continues from " + c.job.path
	}
	return err
}

// writeAt writes to the end of a file, which is at an offset. What follows the offset was written after
// the state was saved, and is removed.
func writeAt(path string, offset int64, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < offset {
		err = fmt.Errorf("%s is shorter than when the state was saved", path)
	}
	if err == nil {
		err = f.Truncate(offset)
	}
	if err == nil {
		_, err = f.WriteAt(text, offset)
	}
	return errors.Join(err, f.Sync(), f.Close())
}
