package target

import (
	"hash/maphash"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/query"
)

// shape is a filter without its constants. Programs have few of them, so a filter is parsed
// only once.
type shape struct {
	hash             uint64
	class            query.Class // if it is sent unchanged; 0 if it is invalid
	single, filtered bool
	partition, row   [2]int            // the numbers of the constants that are the lowest and the highest key; 0 for none
	quote            [maxConstants]int // the width of each constant's quotes
	pieces           []string          // before, between and after the constants, with the quotes; none of a long filter
}

// shapes are the shapes of recent filters, by hash.
var (
	shapes [256]atomic.Pointer[shape]
	seed   = maphash.MakeSeed()
)

const (
	// maxConstants is how many constants of a filter are read.
	maxConstants = 8

	// maxKept is how many bytes of a filter a shape keeps.
	maxKept = 1 << 10
)

// constants are those of a filter, in its order.
type constants [maxConstants]constant[string]

// query reads the class and the keys of a query. The shape is most often that of the query
// before.
func (r *Request) query(raw string) {
	var before string
	rest, first := strings.CutPrefix(raw, "%24filter=")
	if !first {
		before, rest, _ = strings.Cut(raw, "filter=")
	}
	text, after, _ := strings.Cut(rest, "&")
	r.Next = strings.Contains(after, "NextPartitionKey=") || strings.Contains(before, "NextPartitionKey=")
	var c constants
	s := r.shape
	if s == nil || !s.match(text, &c) {
		s = shapeOf(text, &c)
		r.shape = s
	}
	r.Class, r.Filtered = s.class, s.filtered
	of, ends := r.Resource, s.partition
	if s.single && ends[0] > 0 {
		r.Partition = r.key(of, &c[ends[0]-1])
		of, ends = r.Partition, s.row
	}
	if r.Low = of; ends[0] > 0 {
		r.Low = r.key(of, &c[ends[0]-1])
	}
	switch {
	case ends[1] == 0:
		r.High = extend(r, of, 1, "")
	case ends[1] == ends[0]:
		r.High = r.Low
	default:
		r.High = r.key(of, &c[ends[1]-1])
	}
	if r.Class == query.Point {
		r.add(r.Low)
	}
}

func (r *Request) key(under Span, c *constant[string]) Span { return below(r, under, *c, inQuery) }

// match reports whether text is a filter of this shape, and reads its constants.
func (s *shape) match(text string, c *constants) bool {
	last := len(s.pieces) - 1
	for i, piece := range s.pieces {
		if i == last {
			return text == piece
		}
		if !strings.HasPrefix(text, piece) {
			return false
		}
		c[i], text = next(text[len(piece):], s.quote[i])
	}
	return false
}

// cut divides a filter after the quote with which its next constant begins. A later piece
// begins with the quote that ends a constant.
func cut(text string, later bool) (piece, rest string, quote int) {
	from := 0
	if later {
		from = quoteAt(text, 0)
	}
	rest, quote = afterQuote(text[from:])
	return text[:len(text)-len(rest)], rest, quote
}

// shapeOf returns the shape of a filter, and reads its constants.
func shapeOf(text string, c *constants) *shape {
	hash := uint64(0)
	for n, rest, quote := 0, text, 1; quote > 0; n++ {
		var piece string
		if piece, rest, quote = cut(rest, n > 0); quote > 0 {
			var found constant[string]
			if found, rest = next(rest, quote); n < maxConstants {
				c[n] = found
			}
		}
		hash = 31*hash + maphash.String(seed, piece)
	}
	slot := &shapes[hash%uint64(len(shapes))]
	s := slot.Load()
	if s == nil || s.hash != hash {
		s = newShape(hash, text)
		if s.hash == hash {
			slot.Store(s)
		}
	}
	return s
}

// mark follows each constant, and the number of the constant follows mark.
const mark = '\x01'

// newShape parses a filter. One that is invalid, or that no row can match because of its
// constants, is not the shape of others.
func newShape(hash uint64, text string) *shape {
	s := &shape{hash: hash}
	var marked []byte
	for n, rest, quote := 0, strings.Clone(text), 1; quote > 0; n++ {
		var piece string
		piece, rest, quote = cut(rest, n > 0)
		s.pieces, marked = append(s.pieces, piece), append(marked, piece...)
		if quote == 0 {
			break
		}
		var found constant[string]
		found, rest = next(rest, quote)
		marked = append(marked, found.text...)
		if n >= maxConstants {
			continue
		}
		s.quote[n] = quote
		before := piece[:len(piece)-quote]
		if typed := before != "" && before[len(before)-1] >= 'A'; !typed {
			marked = append(marked, mark, '1'+byte(n))
		}
	}
	if len(s.pieces) > maxConstants+1 || len(text) > maxKept {
		s.pieces = nil
	}
	unescaped, _ := url.QueryUnescape(string(marked))
	filter, err := query.Parse(unescaped)
	plan := query.Explain(filter)
	reads := plan.Reads()
	if err != nil {
		return &shape{}
	}
	if len(reads) == 0 {
		return &shape{class: plan.Plain, filtered: plan.Comparisons > 1}
	}
	first, last := reads[0], reads[len(reads)-1]
	s.class, s.filtered, s.single = plan.Plain, plan.Comparisons > 1, plan.Plain <= query.PartitionScan
	s.partition = [2]int{marking(first.Partition.From), marking(last.Partition.To)}
	s.row = [2]int{marking(first.Row.From), marking(last.Row.To)}
	return s
}

// marking returns the number of the constant that a key of a plan is, or 0.
func marking(key string) int {
	key = strings.TrimSuffix(key, "\x00") // see [query.Read]
	if i := len(key) - 2; i >= 0 && key[i] == mark {
		return int(key[i+1] - '0')
	}
	return 0
}
