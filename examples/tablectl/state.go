package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// stateFormat is the version of the state files.
const stateFormat = 1

// state is how far a moving command has come. It is saved after each chunk, when everything before
// it is stored, so a command that continues from it repeats at most one chunk.
type state struct {
	Format int
	Job    []string // what is moved where: a state continues only the same job

	Cursor string `json:",omitempty"` // of the scan of a table
	Offset int64  `json:",omitempty"` // in the file that is read
	Line   int    `json:",omitempty"` // the number of its lines before Offset

	Written int64 `json:",omitempty"` // size of the file that is written
	Aside   int64 `json:",omitempty"` // size of the file of refused rows

	Rows    int // moved
	Present int `json:",omitempty"` // of these: with the mode insert, rows that existed with the same content
	Refused int `json:",omitempty"`
}

// loadState returns the state of a job, and whether the job continues from it. path may be empty.
func loadState(path string, force bool, job ...string) (s state, continues bool, err error) {
	fresh := state{Format: stateFormat, Job: job}
	if path == "" || force {
		return fresh, false, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, false, nil
	}
	if err != nil {
		return s, false, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Format != stateFormat {
		return s, false, usagef("%s is not a state of this program", path)
	}
	if fmt.Sprintf("%q", s.Job) != fmt.Sprintf("%q", job) {
		return s, false, usagef("%s is the state of another job, %q: remove it, or use -force to begin anew", path, s.Job)
	}
	return s, true, nil
}

func (s *state) save(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(path, data)
}

// replaceFile replaces a file, so that it has either the old or the new content after a crash.
func replaceFile(path string, data []byte) error {
	temporary := path + ".tmp"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// vacant returns an error if the file exists and is not empty.
func vacant(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return usagef("%s exists: remove it, or use -force to overwrite it", path)
	}
	return nil
}

// openOutput opens a file to write from an offset on. What follows the offset was written after the
// state was saved, and is removed.
func openOutput(path string, offset int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size < offset {
		err = fmt.Errorf("%s is shorter than when the state was saved", path)
	}
	if err == nil {
		err = f.Truncate(offset)
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
