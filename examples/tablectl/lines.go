package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/azpatterns/azpatterns/query"
)

// maxLine is more than the JSON of any row takes.
const maxLine = 16 << 20

// lines reads lines, without the ends of them.
type lines struct {
	in     *bufio.Reader
	offset int64 // of the next line
	number int   // of the last line, from 1
}

func newLines(in io.Reader, offset int64, number int) *lines {
	return &lines{bufio.NewReaderSize(in, 64<<10), offset, number}
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

// row returns the row of the next line that has one, with its text. A text without a row is refused;
// the error is that of reading.
func (l *lines) row() (r row, text []byte, refused, err error) {
	for {
		text, tooLong, err := l.next()
		if err != nil {
			return r, nil, nil, err
		}
		if l.number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if tooLong {
			return r, text, fmt.Errorf("longer than %d MiB", maxLine>>20), nil
		}
		r, refused = parseRow(text)
		return r, text, refused, nil
	}
}

// maxChunkBytes ends a chunk of a file early if its lines are long.
const maxChunkBytes = 16 << 20

// readChunks returns the chunks of a file, from the position of a state on, with the rows that match
// the filter.
func readChunks(in io.Reader, f query.Filter, from state, size int) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		l := newLines(in, from.Offset, from.Line)
		for last := false; !last; {
			var c chunk
			for bytes := 0; len(c.rows)+len(c.refused) < size && bytes < maxChunkBytes; {
				r, text, refused, err := l.row()
				if last = err == io.EOF; last {
					break
				}
				if err != nil {
					yield(c, err)
					return
				}
				bytes += len(text)
				switch {
				case refused != nil:
					c.refused = append(c.refused, refusal{line: l.number, text: text, err: refused})
				case f.Match(&r):
					c.rows, c.lines = append(c.rows, r), append(c.lines, l.number)
				}
			}
			c.last, c.offset, c.line = last, l.offset, l.number
			if !yield(c, nil) {
				return
			}
		}
	}
}
