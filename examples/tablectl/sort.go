package main

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/azpatterns/azpatterns/patterns"
)

// partSize is how many bytes of a file are sorted in memory.
const partSize = 16 << 20

// sortedFile returns the rows of a file in the order of their keys, with their texts as EncodeJSON returns
// them. An export is in no order, so parts of the file are written in order to temporary files, together
// as large as the file, and merged.
func sortedFile(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		dir, err := os.MkdirTemp("", "tablectl")
		defer os.RemoveAll(dir)
		var parts []iter.Seq2[row, error]
		if err == nil {
			parts, err = sortParts(path, dir)
		}
		if err != nil {
			yield(row{}, err)
			return
		}
		for same, err := range join(parts...) {
			var r row
			for _, x := range same {
				if x != nil && r.text != nil {
					err = errKeyTwice
				}
				if x != nil {
					r = *x
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// sortParts writes the rows of a file to files that are in order.
func sortParts(path, dir string) (parts []iter.Seq2[row, error], err error) {
	var held []row
	size := 0
	flush := func() error {
		slices.SortFunc(held, func(a, b row) int { return compareKeys(a.Key, b.Key) })
		part := filepath.Join(dir, strconv.Itoa(len(parts)))
		parts = append(parts, fileRows(part))
		text := textOfRows(held)
		held, size = nil, 0
		return os.WriteFile(part, text, 0o600)
	}
	for r, err := range fileRows(path) {
		if err == nil {
			r.text, err = patterns.EncodeJSON(r.Item)
		}
		r.Value.Properties = nil
		held = append(held, r)
		if size += len(r.text); err == nil && size >= partSize {
			err = flush()
		}
		if err != nil {
			return nil, err
		}
	}
	err = flush()
	return parts, err
}
