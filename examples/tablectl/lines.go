package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/azpatterns/azpatterns/patterns"
)

// maxLine is more than the JSON of any row takes.
const maxLine = 16 << 20

// lines reads lines, without the ends of them.
type lines struct {
	in     *bufio.Reader
	offset int64 // of the next line
	number int   // of the last line, from 1
}

func newLines(in io.Reader, from position) *lines {
	return &lines{bufio.NewReaderSize(in, 64<<10), from.Offset, from.Line}
}

// next returns a line, which has at most maxLine bytes: tooLong reports that it was cut. At the end it
// returns io.EOF.
func (l *lines) next() (text []byte, tooLong bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		l.offset += int64(len(part))
		if len(text)+len(part) > maxLine {
			part, tooLong = part[:maxLine-len(text)], true
		}
		text = append(text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (err != io.EOF || len(text) == 0) {
			return nil, false, err
		}
		l.number++
		return bytes.TrimRight(text, "\r\n"), tooLong, nil
	}
}

// row returns the row of the next line that has one. A line without a row is refused.
func (l *lines) row() (r row, err error) {
	for {
		text, tooLong, err := l.next()
		if l.number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		switch {
		case err != nil:
			return r, err
		case len(bytes.TrimSpace(text)) == 0:
			continue
		case tooLong:
			r.refused = fmt.Errorf("longer than %d MiB", maxLine>>20)
		default:
			r.Item, r.refused = patterns.DecodeJSON[stored](text)
		}
		r.line, r.text = l.number, text
		return r, nil
	}
}

// fileRows returns the rows of a file. A line that is not a row is an error.
func fileRows(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(row{}, usagef("%w", err))
			return
		}
		defer f.Close()
		l := newLines(f, position{})
		for {
			r, err := l.row()
			if r.refused != nil {
				err = fmt.Errorf("line %d: %w", r.line, r.refused)
			}
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}
