package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// The position in the cursor of a page is
//
//	number of the read
//	continuation token
//
// and in the cursor of a scan
//
//	rows, requests and segments so far
//	number of the first read that has not begun
//	number of segments, and for each
//	    number of its read
//	    what follows: bits of the constants below
//	    the keys that its filter asks for: from, to    (hasSpan)
//	    the key at which it ends                       (hasEnd)
//	    the last row returned                          (hasLast)
//	    continuation token                             (hasToken)
//
// Numbers are uvarints, keys and tokens two texts each, a text its length and its bytes.
// If a token is not the first of its read, the two numbers of its Loop follow it: in the
// cursor of a page at the end, in that of a scan if hasLoop is set.
const (
	hasSpan = 1 << iota
	hasEnd
	hasLast
	hasToken
	hasLoop
	hasAll = 1<<iota - 1
)

// The names of the reads that a cursor is valid for.
const (
	pageCursor = "page"
	scanCursor = "scan"
)

const maxCount = math.MaxInt

// sealCursor makes a cursor for a read of the given kind. It needs the table's address,
// and is called when a reply has shown it.
func (p *ReadPlan) sealCursor(kind string, position []byte) (string, error) {
	a, known := p.source.client.Address()
	if !known {
		return "", fmt.Errorf("%s: %w: the address of the table did not show", kind, azerr.ErrBadReply)
	}
	return pages.SealCursor(position, a.Base, p.identity(kind)...), nil
}

// openCursor checks that a cursor is of this kind of read, and of this plan. checkTable
// compares the table, whose address may be unknown yet.
func (p *ReadPlan) openCursor(kind, text string) (pages.Cursor, *positionReader, error) {
	c, ok := pages.OpenCursor(text, p.identity(kind)...)
	if !ok || text == "" {
		return pages.Cursor{}, nil, badCursor(kind)
	}
	return c, &positionReader{rest: c.Position}, nil
}

func badCursor(kind string) error { return fmt.Errorf("%s: %w", kind, azerr.ErrBadCursor) }

// identity distinguishes the plan from all others, including the plans that another
// version of this package would make of the same filter: a position means nothing in
// other reads.
func (p *ReadPlan) identity(kind string) []string {
	h := sha256.New()
	for i := range p.reads {
		fmt.Fprintf(h, "%v %s\n", p.reads[i].Point, p.reads[i].Filter)
	}
	return []string{kind, p.filter.String(), selectText(p.source.system, p.selected), string(h.Sum(nil))}
}

func (p *ReadPlan) sealPageCursor(pos planPosition) (string, error) {
	return p.sealCursor(pageCursor, appendToken(binary.AppendUvarint(nil, uint64(pos.read)), pos.token))
}

// openPageCursor decodes the cursor of a page; "" is the beginning.
func (p *ReadPlan) openPageCursor(text string) (pages.Cursor, planPosition, error) {
	if text == "" {
		return pages.Cursor{}, planPosition{}, nil
	}
	c, r, err := p.openCursor(pageCursor, text)
	if err != nil {
		return c, planPosition{}, err
	}
	pos := planPosition{read: r.number(len(p.reads))}
	pos.token = r.token(func() bool { return len(r.rest) > 0 })
	return c, pos, r.end(pageCursor)
}

// sealCursor encodes the state of the scan after all pages received.
func (s *scan) sealCursor() (string, error) {
	b := make([]byte, 0, 64+128*len(s.segments))
	for _, n := range []int{s.progress.Rows, s.progress.Requests, s.progress.Segments, s.nextRead, len(s.segments)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, g := range s.segments {
		b = g.append(b)
	}
	return s.ReadPlan.sealCursor(scanCursor, b)
}

func (g *segment) append(b []byte) []byte {
	last, hasRow := g.resumedAfter, g.resumed
	if g.seen {
		last, hasRow = g.last, true
	}
	bits := 0
	for _, f := range []struct {
		has bool
		bit int
	}{{g.narrowed, hasSpan}, {g.isCut(), hasEnd}, {hasRow, hasLast}, {g.token != wire.Position{}, hasToken}, {storesLoop(g.token), hasLoop}} {
		if f.has {
			bits |= f.bit
		}
	}
	b = binary.AppendUvarint(b, uint64(g.read))
	b = binary.AppendUvarint(b, uint64(bits))
	if bits&hasSpan != 0 {
		b = appendKey(appendKey(b, g.requested.From), g.requested.To)
	}
	if bits&hasEnd != 0 {
		b = appendKey(b, g.end)
	}
	if bits&hasLast != 0 {
		b = appendKey(b, last)
	}
	if bits&hasToken != 0 {
		b = appendToken(b, g.token)
	}
	return b
}

// resume continues from a cursor; "" is the beginning.
func (s *scan) resume(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	c, r, err := s.openCursor(scanCursor, text)
	if err != nil {
		return err
	}
	s.resumed = c
	s.progress = Progress{r.number(maxCount), r.number(maxCount), r.number(maxCount)}
	s.nextRead = r.number(len(s.reads) + 1)
	for range r.number(len(r.rest) + 1) {
		g := s.readSegment(r)
		if g == nil {
			return badCursor(scanCursor)
		}
		if ctx.Value(byKey{}) != nil && g.token != (wire.Position{}) {
			s.restart(g)
			g.token = wire.Position{} // also if the filter stayed the same: rows are not returned twice
		}
		s.segments = append(s.segments, g)
	}
	return r.end(scanCursor)
}

// readSegment decodes one segment. It returns nil if it is not one of this scan.
func (s *scan) readSegment(r *positionReader) *segment {
	read := r.number(len(s.reads))
	bits := r.number(hasAll + 1)
	if r.bad {
		return nil
	}
	requested := spanOf(&s.reads[read])
	if bits&hasSpan != 0 {
		requested = keyRange{r.key(), r.key()}
	}
	g, ok := s.newSegment(read, bits&hasSpan != 0, requested)
	if bits&hasEnd != 0 {
		g.end = r.key()
	}
	if bits&hasLast != 0 {
		g.resumedAfter, g.resumed = r.key(), true
		g.first, g.last, g.seen = g.resumedAfter, g.resumedAfter, true
	}
	if bits&hasToken != 0 {
		g.token = r.token(func() bool { return bits&hasLoop != 0 })
	}
	if !ok || r.bad {
		return nil
	}
	return g
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendKey(b []byte, k keys.Key) []byte { return appendText(appendText(b, k.Partition), k.Row) }

func appendToken(b []byte, p wire.Position) []byte {
	b = appendText(appendText(b, p.PartitionKey), p.RowKey)
	if storesLoop(p) {
		b = binary.AppendUvarint(binary.AppendUvarint(b, p.Loop.Tokens), p.Loop.Mark)
	}
	return b
}

// storesLoop reports whether a cursor has the Loop of p. Without it, a token that is not
// "" is the first of its read.
func storesLoop(p wire.Position) bool {
	return p.Loop.Tokens > 1 || p.Loop.Tokens == 1 && p.PartitionKey == "" && p.RowKey == ""
}

// positionReader decodes a position. After the first value that is missing or out of
// range, all values are zero and bad is set.
type positionReader struct {
	rest []byte
	bad  bool
}

// number is the next number, which must be less than limit.
func (r *positionReader) number(limit int) int {
	v := r.uint64()
	if v >= uint64(limit) {
		r.rest, r.bad = nil, true
		return 0
	}
	return int(v)
}

// uint64 is the next number.
func (r *positionReader) uint64() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *positionReader) text() string {
	n := r.number(len(r.rest) + 1)
	if n > len(r.rest) {
		r.rest, r.bad = nil, true
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *positionReader) key() keys.Key {
	partition := r.text()
	return keys.Key{Partition: partition, Row: r.text()}
}

func (r *positionReader) token(loop func() bool) wire.Position {
	var p wire.Position
	p.PartitionKey, p.RowKey = r.text(), r.text()
	switch {
	case loop():
		p.Loop.Tokens, p.Loop.Mark = r.uint64(), r.uint64()
		r.bad = r.bad || p.Loop.Tokens == 0
	case p != wire.Position{}:
		p.Loop, _ = p.Loop.Next(p.PartitionKey, p.RowKey) // the first token is no circle
	}
	return p
}

// end checks that every value was present, and that nothing follows.
func (r *positionReader) end(kind string) error {
	if r.bad || len(r.rest) != 0 {
		return badCursor(kind)
	}
	return nil
}
