package patterns

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// The position of a page's cursor is
//
//	number of the read (uvarint)
//	continuation token: two texts

// cursor encodes pos. It is called when a request has shown the table's address.
func (q *plan[T]) cursor(pos position) (string, error) {
	return q.seal("page", appendToken(binary.AppendUvarint(nil, uint64(pos.read)), pos.token))
}

// resume decodes a cursor and checks that it is of this query. Whether it is of
// this table shows in check.
func (q *plan[T]) resume(text string) (position, error) {
	if text == "" {
		return position{}, nil
	}
	p, err := q.unseal("page", text)
	if err != nil {
		return position{}, err
	}
	pos := position{read: p.number(len(q.reads)), token: p.token()}
	return pos, p.end("page")
}

// seal makes a cursor for a read of the kind that op names.
func (q *plan[T]) seal(op string, position []byte) (string, error) {
	a, known := q.rows.wire.Address()
	if !known {
		return "", fmt.Errorf("%s: %w: the address of the table did not show", op, ErrBadReply)
	}
	return cursor.Seal(position, a.Base, q.bounds(op)...), nil
}

func (q *plan[T]) unseal(op, text string) (*packed, error) {
	c, ok := cursor.Open(text, q.bounds(op)...)
	if !ok || text == "" {
		return nil, fmt.Errorf("%s: %w", op, ErrBadCursor)
	}
	q.resumed = c
	return &packed{rest: c.Position}, nil
}

// bounds tell the query from all others, and its reads from those that another
// version of this package would make of it: a position holds for them alone.
func (q *plan[T]) bounds(op string) []string {
	h := sha256.New()
	for i := range q.reads {
		fmt.Fprintf(h, "%v %s\n", q.reads[i].Point, q.reads[i].Filter)
	}
	return []string{op, q.filter.String(), q.selectList, string(h.Sum(nil))}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendToken(b []byte, p wire.Position) []byte {
	return appendText(appendText(b, p.PartitionKey), p.RowKey)
}

// packed reads the numbers and texts of a position. After the first that is not
// there all are zero, and end tells.
type packed struct {
	rest []byte
	bad  bool
}

// number is the next one, which must be less than limit.
func (p *packed) number(limit int) int {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 || v >= uint64(limit) {
		p.rest, p.bad = nil, true
		return 0
	}
	p.rest = p.rest[n:]
	return int(v)
}

func (p *packed) text() string {
	n := p.number(len(p.rest) + 1)
	if n > len(p.rest) {
		p.rest, p.bad = nil, true
		return ""
	}
	s := string(p.rest[:n])
	p.rest = p.rest[n:]
	return s
}

func (p *packed) token() wire.Position {
	pk := p.text()
	return wire.Position{PartitionKey: pk, RowKey: p.text()}
}

// end reports whether all was there, and nothing else.
func (p *packed) end(op string) error {
	if p.bad || len(p.rest) != 0 {
		return fmt.Errorf("%s: %w", op, ErrBadCursor)
	}
	return nil
}
