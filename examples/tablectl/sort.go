package main

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// sortedFile returns the rows of a file in the order of their keys. A file that is not in order is
// sorted: parts of it, as large as a chunk, are written in order to a temporary file and merged.
// Memory holds one part, or a row and a buffer of each.
func sortedFile(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(row{}, usagef("%w", err))
			return
		}
		defer f.Close()
		inOrder, err := isOrdered(f)
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			yield(row{}, err)
			return
		}
		rows := fileRows(f)
		if !inOrder {
			rows = merged(rows)
		}
		for r, err := range rows {
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// fileRows returns the rows of a file. A line that is not a row is an error.
func fileRows(in io.Reader) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		l := newLines(in, 0, 0)
		for {
			r, _, refused, err := l.row()
			if err == io.EOF {
				return
			}
			if refused != nil {
				err = fmt.Errorf("line %d: %w", l.number, refused)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func isOrdered(in io.Reader) (bool, error) {
	var last row
	first := true
	for r, err := range fileRows(in) {
		if err != nil {
			return false, err
		}
		if !first && compareKeys(last.key, r.key) > 0 {
			return false, nil
		}
		last, first = r, false
	}
	return true, nil
}

// merged sorts rows by a temporary file, which it removes.
func merged(rows iter.Seq2[row, error]) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		f, err := os.CreateTemp("", "tablectl")
		if err != nil {
			yield(row{}, err)
			return
		}
		defer os.Remove(f.Name())
		defer f.Close()
		ends, err := writeParts(f, rows)
		if err != nil {
			yield(row{}, err)
			return
		}
		var parts parts
		from := int64(0)
		for _, end := range ends {
			p := &part{lines: newLines(io.NewSectionReader(f, from, end-from), 0, 0)}
			from = end
			if err := p.advance(); err != nil {
				yield(row{}, err)
				return
			}
			parts = append(parts, p)
		}
		for heap.Init(&parts); len(parts) > 0; {
			p := parts[0]
			if !yield(p.row, nil) {
				return
			}
			switch err := p.advance(); {
			case err == io.EOF:
				heap.Pop(&parts)
			case err != nil:
				yield(row{}, err)
				return
			default:
				heap.Fix(&parts, 0)
			}
		}
	}
}

// writeParts writes rows in parts that are in order, and returns where each ends.
func writeParts(f *os.File, rows iter.Seq2[row, error]) (ends []int64, err error) {
	out := bufio.NewWriter(f)
	var held []row
	size, end := 0, int64(0)
	flush := func() error {
		slices.SortFunc(held, func(a, b row) int { return compareKeys(a.key, b.key) })
		var text []byte
		for i := range held {
			text = append(appendRow(text[:0], &held[i]), '\n')
			if _, err := out.Write(text); err != nil {
				return err
			}
			end += int64(len(text))
		}
		held, size = held[:0], 0
		ends = append(ends, end)
		return nil
	}
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		held = append(held, r)
		if size += r.size(); size >= maxChunkBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if len(held) > 0 {
		err = flush()
	}
	return ends, errors.Join(err, out.Flush())
}

// part is a part of the temporary file, at its next row.
type part struct {
	row   row
	lines *lines
}

func (p *part) advance() error {
	r, _, refused, err := p.lines.row()
	p.row = r
	if refused != nil {
		return refused
	}
	return err
}

// parts is a heap by the next rows.
type parts []*part

func (p parts) Len() int           { return len(p) }
func (p parts) Less(i, j int) bool { return compareKeys(p[i].row.key, p[j].row.key) < 0 }
func (p parts) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *parts) Push(x any)        { *p = append(*p, x.(*part)) }
func (p *parts) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
