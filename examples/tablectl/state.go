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
	Job    string // what is moved where: a state continues only the same job

	Cursor string // of the scan of a table
	Offset int64  // in the file that is read
	Line   int    // the number of its lines before Offset

	Written int64 // size of the file that is written
	Aside   int64 // size of the file of refused rows

	Rows    int // moved
	Present int // of these: rows that -mode insert found with the same content
	Refused int
}

// loadState returns the state of a job, and whether the job continues from it. path may be empty.
func loadState(path, job string) (s state, continues bool, err error) {
	data, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return state{Format: stateFormat, Job: job}, false, nil
	}
	if err != nil {
		return s, false, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Format != stateFormat || s.Job != job {
		return s, false, usagef("%s is not the state of this command, but of %q: use -force to begin anew", path, s.Job)
	}
	return s, true, nil
}

func (s *state) save(path string) error {
	data, err := json.Marshal(s)
	if path == "" || err != nil {
		return err
	}
	return replaceFile(path, data)
}

// replaceFile replaces a file, so that it has either the old or the new content after a crash.
func replaceFile(path string, data []byte) error {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(writeSynced(f, data), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func writeSynced(f *os.File, text []byte) error {
	_, err := f.Write(text)
	return errors.Join(err, f.Sync())
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
