package patterns

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// span is the keys from From up to, and without, To. The zero To is no bound; it
// could be none otherwise, since nothing comes before it. A span that a request can
// read either begins and ends with whole partitions or lies within one.
type span struct{ From, To keys.Key }

func (s span) before(k keys.Key) bool { return s.To != (keys.Key{}) && k.Compare(s.To) >= 0 }

// single reports whether the span lies within the partition of From.
func (s span) single() bool {
	p := s.From.Partition
	return s.To == afterPartition(p) || s.To.Partition == p && s.To.Row != ""
}

// filter asks for the rows of the span. Partition keys are never joined by or, and
// row keys are bounded in one partition only: the service answers all else by
// reading more.
func (s span) filter() query.Filter {
	if !s.single() {
		return query.PartitionKey.Within(keys.Range{From: s.From.Partition, To: s.To.Partition})
	}
	rows := keys.Range{From: s.From.Row}
	if s.To.Partition == s.From.Partition {
		rows.To = s.To.Row
	}
	return query.And(query.PartitionKey.Eq(s.From.Partition), query.RowKey.Within(rows))
}

// afterPartition is the least key behind partition p: a space is the least
// character that a key may hold.
func afterPartition(p string) keys.Key { return keys.Key{Partition: p + " "} }

// spanOf is the keys of a read. A bound that ends in U+0000, which no key holds, is
// as well one that ends in a space.
func spanOf(r *query.Read) span {
	legal := func(s string) string {
		if head, ok := strings.CutSuffix(s, "\x00"); ok {
			return head + " "
		}
		return s
	}
	p := r.Partition
	if p.To != p.From+"\x00" {
		return span{keys.Key{Partition: legal(p.From)}, keys.Key{Partition: legal(p.To)}}
	}
	s := span{keys.Key{Partition: p.From, Row: legal(r.Row.From)}, afterPartition(p.From)}
	if r.Row.To != "" {
		s.To = keys.Key{Partition: p.From, Row: legal(r.Row.To)}
	}
	return s
}

// segment is a range of keys that is read by itself, page by page.
type segment struct {
	read  int           // the read of the plan that it is a part of
	part  bool          // not the whole read: filter is narrowed to asked
	asked span          // what filter asks for
	to    keys.Key      // where the segment ends now, at or before asked.To
	skip  keys.Key      // rows up to this one were given already; zero = none
	token wire.Position // of the next page

	filter query.Filter
	busy   bool // a page is under way

	// What follows helps to cut, and is not kept in cursors.

	pages int      // received that had a token
	seen  bool     // there was a row; without, last is where the segment began
	first keys.Key // of the last page with rows
	last  keys.Key // of the last page with rows
	ahead keys.Key // a row of the table behind last; zero = unknown

	// blank is how many of the pages, the last ones, had no row. A cut makes them be
	// read again, since nothing tells how far they came; so it has patience for a
	// while, and longer each time.
	blank, patience int

	probes int  // under way
	whole  bool // cannot be cut: there is no filter for a part
}

// newSegment makes the segment that reads the part of the plan's read that lies in
// s. ok is false where the filter for it would be more than the service takes.
func (q *plan[T]) newSegment(read int, part bool, s span) (*segment, bool) {
	g := &segment{read: read, part: part, asked: s, to: s.To, first: s.From, last: s.From, patience: 1}
	f, ok := q.narrowed(read, part, s)
	g.filter = f
	return g, ok
}

func (q *plan[T]) narrowed(read int, part bool, s span) (query.Filter, bool) {
	whole := q.reads[read].Filter
	if !part {
		return whole, true
	}
	f := query.And(s.filter(), whole)
	if reads := query.Explain(f).Reads(); len(reads) == 1 {
		f = reads[0].Filter // without what the narrower bounds imply
	}
	return f, f.Comparisons() <= query.MaxComparisons
}

// restart lets g ask for what is left of it alone. A request that goes on with a
// token has to keep its filter, so that behind a cut it may read empty pages for
// long.
func (q *plan[T]) restart(g *segment) {
	rest := span{g.asked.From, g.to}
	if g.seen {
		if rest.From = g.last; !rest.single() {
			rest.From.Row = ""
		}
		g.skip = g.last
	}
	f, ok := q.narrowed(g.read, true, rest)
	if !ok || g.seen && g.last == (keys.Key{}) {
		return
	}
	g.part, g.asked, g.filter = true, rest, f
	g.token, g.blank = wire.Position{}, 0
}

// cut reports whether the segment ends before its filter does.
func (g *segment) cut() bool { return g.to != g.asked.To }

// take moves the segment behind a page, and gives the rows that belong to it and
// whether it is done.
func take[T any](g *segment, items []Item[T], next wire.Position) (own []Item[T], done bool) {
	g.token = next
	done = next == (wire.Position{})
	for len(items) > 0 && g.skip != (keys.Key{}) && items[0].Key.Compare(g.skip) <= 0 {
		items = items[1:]
	}
	end := span{To: g.to}
	for n := len(items); n > 0 && end.before(items[n-1].Key); n-- {
		items, done = items[:n-1], true
	}
	if !done {
		g.pages++
		g.blank++
	}
	if len(items) > 0 {
		g.first, g.last = items[0].Key, items[len(items)-1].Key
		g.seen, g.blank = true, 0
	}
	return items, done
}
