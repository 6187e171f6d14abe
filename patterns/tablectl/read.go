package tablectl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// chunk is what is moved between two saves of the state.
type chunk struct {
	rows    []row
	refused []row // lines and rows that are kept aside

	position      // after the chunk
	last     bool // no chunk follows
}

// scan returns the chunks of a table from the cursor of the state on, in no order. A chunk ends after as
// many pages as full ones would take, so its size is limited as that of a page is: 4 MiB.
func (m *move) scan(ctx context.Context, t *patterns.Table[stored], name string) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		size := min(m.chunk, 1000)
		var c chunk
		pages := 0
		for page, err := range t.Scan(ctx, m.filter, m.job.Cursor, &patterns.QueryOptions{PageSize: size, Parallel: m.parallel}) {
			for _, item := range page.Items {
				r, err2 := encoded(item)
				err = cmp.Or(err, err2)
				c.rows = append(c.rows, r)
			}
			c.Cursor, c.last = page.Cursor, page.Cursor == ""
			if pages++; err == nil && !c.last && pages*size < m.chunk {
				continue
			}
			if !yield(c, inTable(name, err)) || err != nil {
				return
			}
			c, pages = chunk{}, 0
		}
	}
}

// maxChunkBytes ends a chunk of a file early if its lines are long.
const maxChunkBytes = 16 << 20

// openFile opens a file at the position of the state. It refuses a file that has changed: rows of its earlier
// content are stored already, and would be mixed with those of the new one.
func (m *move) openFile(path string) (*os.File, hash.Hash, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	info, err := f.Stat()
	before := sha256.New()
	if err == nil && m.continues {
		err = m.skip(f, before, path)
		if err == nil && (info.Size() != m.job.Size || info.ModTime().UnixNano() != m.job.Modified) {
			err = usagef("%s has changed, but not before line %d, where the command would continue: use -force to begin anew", path, m.job.Line+1)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	m.total = info.Size()
	m.job.Size, m.job.Modified = info.Size(), info.ModTime().UnixNano()
	m.job.Hash = hex.EncodeToString(before.Sum(nil))
	return f, before, nil
}

// skip reads what precedes the position of the state, and refuses other content than that of the state.
func (m *move) skip(in io.Reader, before hash.Hash, path string) error {
	_, err := io.CopyN(before, in, m.job.Offset)
	if err == io.EOF || err == nil && hex.EncodeToString(before.Sum(nil)) != m.job.Hash {
		return usagef("%s has changed before line %d, where the command would continue: use -force to begin anew", path, m.job.Line+1)
	}
	return err
}

// lines returns the chunks of what is read from the position of the state on, with the rows that match the
// filter. before is the hash of what precedes it. It closes in.
func (m *move) lines(in io.ReadCloser, before hash.Hash) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		defer in.Close()
		l := newLines(in, m.job.position)
		l.hash = before
		for last := false; !last; {
			var c chunk
			for bytes := 0; len(c.rows)+len(c.refused) < m.chunk && bytes < maxChunkBytes; {
				r, err := l.row()
				if last = err == io.EOF; last {
					break
				}
				if err != nil {
					yield(c, err)
					return
				}
				bytes += len(r.text)
				if r.refused != nil {
					c.refused = append(c.refused, r)
				} else if m.filter.Match(&r) {
					c.rows = append(c.rows, r)
				}
			}
			c.last, c.Offset, c.Line = last, l.offset, l.number
			c.Hash = hex.EncodeToString(l.hash.Sum(nil))
			if !yield(c, nil) {
				return
			}
		}
	}
}

// maxLine is more than the JSON of any row takes.
const maxLine = 16 << 20

// lines reads lines, without the ends of them.
type lines struct {
	in     *bufio.Reader
	offset int64     // of the next line
	number int       // of the last line, from 1
	hash   hash.Hash // of what is before offset; may be nil
}

func newLines(in io.Reader, from position) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), offset: from.Offset, number: from.Line}
}

// next returns a line, which has at most maxLine bytes: tooLong reports that it was cut. At the end it
// returns io.EOF.
func (l *lines) next() (text []byte, tooLong bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		l.offset += int64(len(part))
		if l.hash != nil {
			l.hash.Write(part)
		}
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

// where are the flags that select rows.
type where struct {
	text      string
	allowScan bool
}

func (c *cli) filterFlags() {
	c.flags.StringVar(&c.where.text, "where", "", "only the rows that match this `filter` of the Table service")
	c.flags.BoolVar(&c.where.allowScan, "allow-scan", false, "permit a -where for which the service reads the whole table")
}

// parse returns the filter, or an error if it is malformed or costs too much. Without -where the whole
// table is read, which needs no permission.
func (w where) parse() (query.Filter, error) {
	if w.text == "" {
		return query.Filter{}, nil
	}
	f, err := query.Parse(w.text)
	if err == nil && !w.allowScan {
		err = query.Explain(f).Check(query.PartitionRange)
	}
	if err != nil {
		if errors.Is(err, query.ErrScan) {
			return f, usagef("-where: %w -allow-scan permits it.", err)
		}
		return f, usagef("-where: %w", err)
	}
	return f, nil
}
