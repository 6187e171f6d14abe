package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/keys"
)

// partSize is how many bytes of a file are sorted in memory.
const partSize = 16 << 20

// sortedFile returns the rows of a file in the order of their keys. An export is in no order, so parts
// of the file are written in order to a temporary file, which is as large as the file, and merged.
func sortedFile(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		err := withParts(path, func(parts []iter.Seq2[row, error]) {
			for r, err := range merged(parts) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		})
		if err != nil {
			yield(row{}, err)
		}
	}
}

// withParts calls use with the parts of a file, each of them in order.
func withParts(path string, use func([]iter.Seq2[row, error])) error {
	in, err := os.Open(path)
	if err != nil {
		return usagef("%w", err)
	}
	defer in.Close()
	f, err := os.CreateTemp("", "tablectl")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	ends, err := writeParts(f, in)
	if err != nil {
		return err
	}
	var parts []iter.Seq2[row, error]
	from := int64(0)
	for _, end := range ends {
		parts = append(parts, fileRows(io.NewSectionReader(f, from, end-from)))
		from = end
	}
	use(parts)
	return nil
}

// fileRows returns the rows of a file. A line that is not a row is an error.
func fileRows(in io.Reader) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		l := newLines(in, 0, 0)
		for {
			r, _, refused, err := l.row()
			if refused != nil {
				err = fmt.Errorf("line %d: %w", l.number, refused)
			}
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// merged merges parts in pairs.
func merged(parts []iter.Seq2[row, error]) iter.Seq2[row, error] {
	switch n := len(parts); n {
	case 0:
		return func(func(row, error) bool) {}
	case 1:
		return parts[0]
	default:
		return func(yield func(row, error) bool) {
			for pair, err := range join(merged(parts[:n/2]), merged(parts[n/2:])) {
				var r row
				switch {
				case err != nil:
				case pair[0] != nil && pair[1] != nil:
					err = errors.New("two lines have the same key")
				case pair[0] != nil:
					r = *pair[0]
				default:
					r = *pair[1]
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// writeParts writes the rows of a file in parts that are in order, and returns where each ends.
func writeParts(f *os.File, in io.Reader) (ends []int64, err error) {
	type line struct {
		key  keys.Key
		text []byte
	}
	var held []line
	size, end := 0, int64(0)
	out := bufio.NewWriter(f)
	flush := func() {
		slices.SortFunc(held, func(a, b line) int { return compareKeys(a.key, b.key) })
		for _, l := range held {
			out.Write(l.text) // Flush returns the error
			end += int64(len(l.text))
		}
		held, size, ends = nil, 0, append(ends, end)
	}
	for r, err := range fileRows(in) {
		if err != nil {
			return nil, err
		}
		text := append(appendRow(nil, &r), '\n')
		held = append(held, line{r.key, text})
		if size += len(text); size >= partSize {
			flush()
		}
	}
	flush()
	return ends, out.Flush()
}
