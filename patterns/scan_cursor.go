package patterns

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/azpatterns/azpatterns/keys"
)

// The position of a scan's cursor is
//
//	rows, requests and segments so far
//	number of the first read that has not begun
//	number of segments, and for each
//	    number of its read
//	    what follows: bits of the constants below
//	    the keys that its filter asks for: from, to    (hasPart)
//	    the key where it ends                          (hasCut)
//	    the last row given                             (hasLast)
//	    continuation token                             (hasToken)
//
// with all numbers as uvarint and a key as two texts.
const (
	hasPart = 1 << iota
	hasCut
	hasLast
	hasToken
	hasAll = 1<<iota - 1
)

const maxCount = math.MaxInt

// cursor encodes where the scan stands: behind all pages received.
func (s *scan[T]) cursor() (string, error) {
	b := make([]byte, 0, 64+128*len(s.segments))
	for _, n := range []int{s.progress.Rows, s.progress.Requests, s.progress.Segments, s.next, len(s.segments)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, g := range s.segments {
		b = g.append(b)
	}
	return s.seal("scan", b)
}

func (g *segment) append(b []byte) []byte {
	last := g.skip
	if g.seen {
		last = g.last
	}
	bits := 0
	for _, f := range []struct {
		has bool
		bit int
	}{{g.part, hasPart}, {g.cut(), hasCut}, {last != keys.Key{}, hasLast}, {g.token.PartitionKey != "" || g.token.RowKey != "", hasToken}} {
		if f.has {
			bits |= f.bit
		}
	}
	b = binary.AppendUvarint(b, uint64(g.read))
	b = binary.AppendUvarint(b, uint64(bits))
	if bits&hasPart != 0 {
		b = appendKey(appendKey(b, g.asked.From), g.asked.To)
	}
	if bits&hasCut != 0 {
		b = appendKey(b, g.to)
	}
	if bits&hasLast != 0 {
		b = appendKey(b, last)
	}
	if bits&hasToken != 0 {
		b = appendToken(b, g.token)
	}
	return b
}

func appendKey(b []byte, k keys.Key) []byte { return appendText(appendText(b, k.Partition), k.Row) }

func (p *packed) key() keys.Key {
	pk := p.text()
	return keys.Key{Partition: pk, Row: p.text()}
}

// resume decodes a cursor; "" is the beginning.
func (s *scan[T]) resume(text string) error {
	if text == "" {
		return nil
	}
	p, err := s.unseal("scan", text)
	if err != nil {
		return err
	}
	s.progress = ScanProgress{p.number(maxCount), p.number(maxCount), p.number(maxCount)}
	s.next = p.number(len(s.reads) + 1)
	for range p.number(len(p.rest) + 1) {
		g := s.unpack(p)
		if g == nil {
			return fmt.Errorf("scan: %w", ErrBadCursor)
		}
		s.segments = append(s.segments, g)
	}
	return p.end("scan")
}

// unpack reads one segment, nil where it is not one of this scan.
func (s *scan[T]) unpack(p *packed) *segment {
	read := p.number(len(s.reads))
	bits := p.number(hasAll + 1)
	if p.bad {
		return nil
	}
	asked := spanOf(&s.reads[read])
	if bits&hasPart != 0 {
		asked = span{p.key(), p.key()}
	}
	g, ok := s.newSegment(read, bits&hasPart != 0, asked)
	if bits&hasCut != 0 {
		g.to = p.key()
	}
	if bits&hasLast != 0 {
		g.skip = p.key()
		g.first, g.last, g.seen = g.skip, g.skip, true
	}
	if bits&hasToken != 0 {
		g.token = p.token()
	}
	if !ok || p.bad {
		return nil
	}
	return g
}
