package query

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// String returns the OData text of f, not URL-encoded. Equal filters have equal text,
// and [Parse] returns the same tree for it. The zero Filter returns "": send no $filter
// in this case, which returns every row.
//
// The text of an invalid filter begins with "!". The service and [Parse] reject it.
func (f Filter) String() string {
	if f.err != nil {
		return "!(" + f.err.Error() + ")"
	}
	if f.root == nil {
		return ""
	}
	var buf [256]byte
	return string(appendNode(buf[:0], f.root, false))
}

// shape returns the text of n with a question mark in place of each value, so that it
// can be logged.
func shape(n *node) string {
	if n == nil {
		return "every row"
	}
	return string(appendNode(nil, n, true))
}

func appendNode(dst []byte, n *node, masked bool) []byte {
	switch n.op {
	case opNot:
		dst = append(dst, "not ("...)
		dst = appendNode(dst, n.kids[0], masked)
		return append(dst, ')')
	case opAnd, opOr:
		for i, k := range n.kids {
			if i > 0 {
				dst = append(dst, ' ')
				dst = append(dst, opWords[n.op]...)
				dst = append(dst, ' ')
			}
			group := k.op == opAnd || k.op == opOr
			if group {
				dst = append(dst, '(')
			}
			dst = appendNode(dst, k, masked)
			if group {
				dst = append(dst, ')')
			}
		}
		return dst
	}
	dst = append(dst, n.name...)
	dst = append(dst, ' ')
	dst = append(dst, opWords[n.op]...)
	dst = append(dst, ' ')
	if masked {
		return append(dst, '?')
	}
	return appendLiteral(dst, n.lit)
}

func appendLiteral(dst []byte, l literal) []byte {
	switch l.typ {
	case String:
		return appendQuoted(dst, l.text)
	case Int32:
		return strconv.AppendInt(dst, l.int(), 10)
	case Int64:
		return append(strconv.AppendInt(dst, l.int(), 10), 'L')
	case Double:
		return appendDouble(dst, l.float())
	case Bool:
		return strconv.AppendBool(dst, l.num != 0)
	case DateTime:
		dst = append(dst, "datetime'"...)
		dst = timeOf(l.int()).AppendFormat(dst, "2006-01-02T15:04:05.0000000Z")
		return append(dst, '\'')
	case Binary:
		dst = append(dst, "X'"...)
		dst = hex.AppendEncode(dst, []byte(l.text))
		return append(dst, '\'')
	default:
		dst = append(dst, "guid'"...)
		for i := range len(l.text) {
			if i == 4 || i == 6 || i == 8 || i == 10 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, []byte{l.text[i]})
		}
		return append(dst, '\'')
	}
}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for {
		i := strings.IndexByte(s, '\'')
		if i < 0 {
			break
		}
		dst = append(dst, s[:i]...)
		dst = append(dst, "''"...)
		s = s[i+1:]
	}
	dst = append(dst, s...)
	return append(dst, '\'')
}

// appendDouble always writes a point or an exponent, because digits alone are an Int32.
// It writes an exponent only for very small and very large numbers, because some
// emulators do not support it, and never a plus sign, which is a space in a URL that is
// not encoded.
func appendDouble(dst []byte, v float64) []byte {
	start := len(dst)
	if a := math.Abs(v); a != 0 && (a < 1e-7 || a >= 1e21) {
		dst = strconv.AppendFloat(dst, v, 'e', -1, 64)
		if i := bytes.IndexByte(dst[start:], '+'); i >= 0 {
			dst = append(dst[:start+i], dst[start+i+1:]...)
		}
		return dst
	}
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}
