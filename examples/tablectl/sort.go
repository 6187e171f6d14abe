package main

import (
	"bufio"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/patterns"
)

// partSize is how many bytes of a file are sorted in memory.
const partSize = 16 << 20

// sortedFile returns the rows of a file in the order of their keys, with their texts as EncodeJSON returns
// them. An export is in no order, so parts of the file are written in order to a temporary file, which is
// as large as the file, and merged.
func sortedFile(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if err := mergeFile(path, yield); err != nil {
			yield(row{}, err)
		}
	}
}

// mergeFile returns an error, unless it has yielded it.
func mergeFile(path string, yield func(row, error) bool) error {
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
	for same, err := range join(parts...) {
		i := slices.IndexFunc(same, func(r *row) bool { return r != nil })
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(same[i+1:], func(r *row) bool { return r != nil }):
			return errKeyTwice
		case !yield(*same[i], nil):
			return nil
		}
	}
	return nil
}

// writeParts writes the rows of a file in parts that are in order, and returns where each ends.
func writeParts(f *os.File, in io.Reader) (ends []int64, err error) {
	var held []row
	size, end := 0, int64(0)
	out := bufio.NewWriter(f)
	flush := func() {
		slices.SortFunc(held, func(a, b row) int { return compareKeys(a.Key, b.Key) })
		for _, r := range held {
			out.Write(r.text) // Flush returns the error
			end += int64(len(r.text))
		}
		held, size, ends = nil, 0, append(ends, end)
	}
	for r, err := range fileRows(in) {
		if err != nil {
			return nil, err
		}
		text, err := patterns.EncodeJSON(r.Item)
		if err != nil {
			return nil, err
		}
		held = append(held, row{Item: patterns.Item[stored]{Key: r.Key}, text: append(text, '\n')})
		if size += len(text); size >= partSize {
			flush()
		}
	}
	flush()
	return ends, out.Flush()
}
