package tablectl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// step is what is read together: a page of a table, or a line.
type step struct {
	rows  []row
	read  int             // rows that were read for it: of a page as many as a full one has, whatever the filter leaves
	after func() position // of the step
	last  bool
}

// scan returns the pages of a table from the cursor of the state on, in no order.
func (m *move) scan(ctx context.Context, name string) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		size := min(m.chunk, 1000)
		for page, err := range m.from.rows(name).Scan(ctx, m.filter, m.job.Cursor, &patterns.QueryOptions{PageSize: size, Parallel: m.parallel}) {
			s := step{read: size, after: func() position { return position{Cursor: page.Cursor} }, last: page.Cursor == ""}
			for _, item := range page.Items {
				r, err2 := encoded(item)
				err = cmp.Or(err, err2)
				s.rows = append(s.rows, r)
			}
			if !yield(s, inTable(name, err)) || err != nil {
				return
			}
		}
	}
}

// openFile opens the file that is imported at the position of the state. It refuses a file that has changed: rows of its earlier
// content are stored already, and would be mixed with those of the new one.
func (m *move) openFile(path string) (*lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	l := newLines(f)
	info, err := f.Stat()
	if err == nil {
		err = l.skip(m.job.position, path)
	}
	if err == nil && m.job.saved && (info.Size() != m.job.Size || info.ModTime().UnixNano() != m.job.Modified) {
		err = usagef("%s has changed, but not before line %d, where the command would continue: use -force to begin anew", path, m.job.Line+1)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	m.total, m.job.Size, m.job.Modified = info.Size(), info.Size(), info.ModTime().UnixNano()
	return l, nil
}

// maxLine is more than the JSON of any row takes.
const maxLine = 16 << 20

// lines reads lines, without the ends of them.
type lines struct {
	io.Closer
	in   *bufio.Reader
	at   position  // of the next line, with another hash
	hash hash.Hash // of what is before it
}

func newLines(in io.ReadCloser) *lines {
	return &lines{Closer: in, in: bufio.NewReaderSize(in, 64<<10), hash: sha256.New()}
}

// skip continues at a position. It refuses other content before it than that of the position.
func (l *lines) skip(to position, name string) error {
	_, err := io.CopyN(l.hash, l.in, to.Offset)
	l.at = to
	if err == io.EOF || err == nil && to.Offset > 0 && l.position().Hash != to.Hash {
		return usagef("%s has changed before line %d, where the command would continue: use -force to begin anew", name, to.Line+1)
	}
	return err
}

// position returns the position of the next line.
func (l *lines) position() position {
	p := l.at
	p.Hash = hashText(l.hash)
	return p
}

// next returns a line, which has at most maxLine bytes: tooLong reports that it was cut. At the end it
// returns io.EOF.
func (l *lines) next() (text []byte, tooLong bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		l.at.Offset += int64(len(part))
		l.hash.Write(part)
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
		l.at.Line++
		return bytes.TrimRight(text, "\r\n"), tooLong, nil
	}
}

// rows returns the rows of the lines that have one. A line without a row is refused. It closes what is read.
func (l *lines) rows() iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		defer l.Close()
		for {
			text, tooLong, err := l.next()
			if l.at.Line == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			r := row{line: l.at.Line, text: text}
			switch {
			case err == io.EOF:
				return
			case err == nil && len(bytes.TrimSpace(text)) == 0:
				continue
			case tooLong:
				r.refused = fmt.Errorf("longer than %d MiB", maxLine>>20)
			case err == nil:
				r.Item, r.refused = patterns.DecodeJSON[stored](text)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// steps returns the rows that match a filter, and the lines that have none.
func (l *lines) steps(f query.Filter) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		for r, err := range l.rows() {
			if err == nil && r.refused == nil && !f.Match(&r) {
				continue
			}
			if !yield(step{[]row{r}, 1, l.position, false}, err) {
				return
			}
		}
		yield(step{after: l.position, last: true}, nil)
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
		for r, err := range newLines(f).rows() {
			if r.refused != nil {
				err = fmt.Errorf("line %d: %w", r.line, r.refused)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// filterFlags declares the flags that select rows.
func (c *cli) filterFlags() {
	c.flags.StringVar(&c.where, "where", "", "only the rows that match this `filter` of the Table service")
	c.flags.BoolVar(&c.allowScan, "allow-scan", false, "permit a -where for which the service reads the whole table")
}

// parseFilter parses the filter, and refuses one that costs too much. Without -where the whole table is read, which needs no
// permission.
func (c *cli) parseFilter() (err error) {
	if c.where == "" {
		return nil
	}
	if c.filter, err = query.Parse(c.where); err == nil && !c.allowScan {
		err = query.Explain(c.filter).Check(query.PartitionRange)
	}
	switch {
	case errors.Is(err, query.ErrScan):
		return usagef("-where: %w -allow-scan permits it.", err)
	case err != nil:
		return usagef("-where: %w", err)
	}
	return nil
}
