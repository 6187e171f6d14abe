package target

import (
	"hash/maphash"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/azpatterns/azpatterns/query"
)

// requestShape is a filter without its constants. Programs have few of them, so a filter is parsed
// only once.
type requestShape struct {
	hash             uint64
	class            query.Class // if it is sent unchanged; 0 if it is invalid
	single, filtered bool
	partition, row   [2]int            // the numbers of the constants that are the lowest and the highest key; 0 for none
	order            []order           // of the constants of each property: with another one, the range may have other ends
	quote            [maxConstants]int // the width of each constant's quotes
	pieces           []string          // before, between and after the constants, with the quotes; none of a long filter
}

// order states that the constant low is less than the constant high, or equal to it.
type order struct {
	low, high int
	equal     bool
}

// shapes are the shapes of recent filters, by hash.
var (
	shapes [256]atomic.Pointer[requestShape]
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

func (r *Request) key(under TextSpan, c *constant[string]) TextSpan {
	return below(r, under, *c, inQuery)
}

// match reports whether text is a filter of this shape, and reads its constants.
func (s *requestShape) match(text string, c *constants) bool {
	last := len(s.pieces) - 1
	for i, piece := range s.pieces {
		if i == last {
			return text == piece && s.ordered(c)
		}
		if !strings.HasPrefix(text, piece) {
			return false
		}
		c[i], text = next(text[len(piece):], s.quote[i])
	}
	return false
}

// ordered reports whether the constants have the order with which the shape was parsed.
func (s *requestShape) ordered(c *constants) bool {
	for _, o := range s.order {
		if d := compare(c[o.low], c[o.high], inQuery); d > 0 || (d == 0) != o.equal {
			return false
		}
	}
	return true
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
func shapeOf(text string, c *constants) *requestShape {
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
	if s == nil || s.hash != hash || !s.ordered(c) {
		s = newShape(hash, text, c)
		if s.hash == hash {
			slot.Store(s)
		}
	}
	return s
}

// mark begins the text that the constants are replaced with, see newShape.
const mark = '\x01'

// newShape parses a filter. One that is invalid, that no row can match because of its
// constants, or that has too many of them, is not the shape of others.
//
// It is parsed with a text in place of each constant: mark, the rank of its value among the
// constants of its property, and its number. So the plan states which constants are the ends
// of the range, and is that of every filter whose constants have the same ranks.
func newShape(hash uint64, text string, c *constants) *requestShape {
	s := &requestShape{hash: hash}
	var constants []string // their texts, if they are typed
	for n, rest, quote := 0, strings.Clone(text), 1; quote > 0; n++ {
		var piece string
		if piece, rest, quote = cut(rest, n > 0); quote > 0 {
			var found constant[string]
			found, rest = next(rest, quote)
			constants = append(constants, found.text)
			if n < maxConstants {
				s.quote[n] = quote
			}
		}
		s.pieces = append(s.pieces, piece)
	}
	read := len(constants) <= maxConstants
	if read {
		s.replace(constants, c)
	}
	var marked []byte
	for i, piece := range s.pieces {
		marked = append(marked, piece...)
		if i < len(constants) {
			marked = append(marked, constants[i]...)
		}
	}
	if !read {
		s.hash = 0
	}
	if !read || len(text) > maxKept {
		s.pieces = nil
	}
	unescaped, _ := url.QueryUnescape(string(marked))
	filter, err := query.Parse(unescaped)
	plan := query.Explain(filter)
	reads := plan.Reads()
	if err != nil {
		return &requestShape{}
	}
	if len(reads) == 0 {
		return &requestShape{class: plan.Plain, filtered: plan.Comparisons > 1}
	}
	first, last := reads[0], reads[len(reads)-1]
	s.class, s.filtered, s.single = plan.Plain, plan.Comparisons > 1, plan.Plain <= query.PartitionScan
	if read { // otherwise the range stays open: a constant without a rank could be its end
		s.partition = [2]int{marking(first.Partition.From), marking(last.Partition.To)}
		s.row = [2]int{marking(first.Row.From), marking(last.Row.To)}
	}
	return s
}

// replace replaces the texts of the constants whose values are in c, except those with a type,
// and sets the order of these values.
func (s *requestShape) replace(texts []string, c *constants) {
	properties := make(map[string][]int)
	for n := range min(len(texts), maxConstants) {
		if name, typed := property(s.pieces[n][:len(s.pieces[n])-s.quote[n]]); !typed {
			properties[name] = append(properties[name], n)
		}
	}
	if len(properties[""]) > 0 { // these may be constants of any property
		var all []int
		for _, numbers := range properties {
			all = append(all, numbers...)
		}
		properties = map[string][]int{"": all}
	}
	for _, numbers := range properties {
		slices.SortFunc(numbers, func(i, j int) int { return compare(c[i], c[j], inQuery) })
		first := 0 // the rank of the first of equal values
		for rank, n := range numbers {
			if rank > 0 {
				before := numbers[rank-1]
				equal := compare(c[before], c[n], inQuery) == 0
				s.order = append(s.order, order{before, n, equal})
				if !equal {
					first = rank
				}
			}
			texts[n] = string([]byte{mark, '1' + byte(first), '1' + byte(numbers[first])})
		}
	}
}

var operators = []string{"eq", "ne", "lt", "le", "gt", "ge"}

// property returns the name of the property that the constant after a piece is compared with,
// or "" if the name is not in the piece, and whether the constant has a type.
func property(piece string) (name string, typed bool) {
	piece, _ = url.QueryUnescape(piece)
	words := strings.FieldsFunc(piece, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == ')' || r == '\'' })
	if last := len(words) - 1; last > 0 && slices.Contains(operators, words[last]) {
		name = words[last-1]
	}
	return name, piece != "" && piece[len(piece)-1] >= 'A'
}

// marking returns the number of the constant that a key of a plan is, or 0.
func marking(key string) int {
	key = strings.TrimSuffix(key, "\x00") // see [query.Read]
	if len(key) == 3 && key[0] == mark {
		return int(key[2] - '0')
	}
	return 0
}
