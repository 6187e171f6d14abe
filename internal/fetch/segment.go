package fetch

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// keyRange is the keys from From up to, and without, To. A zero To is no bound; as a bound
// it would exclude every key. A span that one request can read either begins and ends
// with whole partitions or lies within one.
type keyRange struct{ From, To keys.Key }

// endsBefore reports whether k lies after the span.
func (s keyRange) endsBefore(k keys.Key) bool { return s.To != (keys.Key{}) && k.Compare(s.To) >= 0 }

// single reports whether the span lies within the partition of From.
func (s keyRange) single() bool {
	p := s.From.Partition
	return s.To == afterPartition(p) || s.To.Partition == p && s.To.Row != ""
}

// filter matches the rows of the span. It never joins partition keys by or, and bounds
// row keys in one partition only: for all other filters the service reads more rows.
func (s keyRange) filter() query.Filter {
	if !s.single() {
		return query.PartitionKey.Within(keys.Range{From: s.From.Partition, To: s.To.Partition})
	}
	rows := keys.Range{From: s.From.Row}
	if s.To.Partition == s.From.Partition {
		rows.To = s.To.Row
	}
	return query.And(query.PartitionKey.Eq(s.From.Partition), query.RowKey.Within(rows))
}

// afterPartition is the least key after partition p: a space is the least character
// that keys may contain.
func afterPartition(p string) keys.Key { return keys.Key{Partition: p + " "} }

// spanOf returns the keys of a read. A bound that ends in U+0000, which no key contains,
// is equivalent to one that ends in a space.
func spanOf(r *query.Read) keyRange {
	legal := func(s string) string {
		if head, ok := strings.CutSuffix(s, "\x00"); ok {
			return head + " "
		}
		return s
	}
	p := r.Partition
	if p.To != p.From+"\x00" {
		return keyRange{keys.Key{Partition: legal(p.From)}, keys.Key{Partition: legal(p.To)}}
	}
	s := keyRange{keys.Key{Partition: p.From, Row: legal(r.Row.From)}, afterPartition(p.From)}
	if r.Row.To != "" {
		s.To = keys.Key{Partition: p.From, Row: legal(r.Row.To)}
	}
	return s
}

// segment is a range of keys that is read independently of others, page by page.
type segment struct {
	read         int           // the read of the plan that it is a part of
	narrowed     bool          // it began as a part of the read: filter is narrowed to requested
	requested    keyRange      // the keys that filter asks for
	end          keys.Key      // where the segment ends, at or before requested.To
	resumed      bool          // rows up to resumedAfter were returned already
	resumedAfter keys.Key      // may be the zero key, which a row can have
	token        wire.Position // of the next page

	filter  query.Filter
	reading bool // a page is requested

	// The following serve the choice of cut points and are not stored in cursors.

	pages  int      // received that had a token
	seen   bool     // a row was received; otherwise last is where the segment began
	first  keys.Key // of the last page with rows
	last   keys.Key // of the last page with rows
	beyond keys.Key // a row of the table after last; zero: unknown

	// emptyPages counts the pages since the last one with rows. A cut causes them to be
	// read again, because their replies do not show how far they came. So a segment
	// that has any is cut only when it has at least patience of them, which grows with
	// each such cut.
	emptyPages, patience int

	probes      int  // in flight
	indivisible bool // there is no filter for a part of it
}

// newSegment returns the segment of the keys in s, all of a read or a part of it. ok is
// false if the filter for the part has more comparisons than the service accepts.
func (p *ReadPlan) newSegment(read int, narrowed bool, s keyRange) (g *segment, ok bool) {
	g = &segment{read: read, narrowed: narrowed, requested: s, end: s.To, first: s.From, last: s.From, patience: 1}
	g.filter, ok = p.readFilter(read, narrowed, s)
	return g, ok
}

// readFilter returns the filter of a read or, if narrowed, of its part in s.
func (p *ReadPlan) readFilter(read int, narrowed bool, s keyRange) (f query.Filter, ok bool) {
	f = p.reads[read].Filter
	if !narrowed {
		return f, true
	}
	f = query.And(s.filter(), f)
	if reads := query.Explain(f).Reads(); len(reads) == 1 {
		f = reads[0].Filter // without conditions that the narrower bounds imply
	}
	return f, f.Comparisons() <= query.MaxComparisons
}

// restart lets g request only what is left of it. A request with a continuation token
// has to keep its filter, and after a cut may read many empty pages.
func (p *ReadPlan) restart(g *segment) {
	rest := keyRange{g.requested.From, g.end}
	if g.seen {
		if rest.From = g.last; !rest.single() {
			rest.From.Row = ""
		}
		g.resumed, g.resumedAfter = true, g.last
	}
	f, ok := p.readFilter(g.read, true, rest)
	if !ok {
		return
	}
	g.narrowed, g.requested, g.filter = true, rest, f
	g.token, g.emptyPages = wire.Position{}, 0
}

// isCut reports whether the segment ends before its filter does.
func (g *segment) isCut() bool { return g.end != g.requested.To }

// advance moves the segment past a page, and trims rows to those that belong to it and
// were not returned before. It reports whether the segment is complete.
func (g *segment) advance(rows Rows, next wire.Position) (done bool) {
	g.token = next
	done = next == (wire.Position{})
	from, to := 0, rows.Len()
	for from < to && g.resumed && rows.Key(from).Compare(g.resumedAfter) <= 0 {
		from++
	}
	own := keyRange{To: g.end}
	for to > from && own.endsBefore(rows.Key(to-1)) {
		to--
		done = true
	}
	rows.Trim(from, to)
	if !done {
		g.pages++
		g.emptyPages++
	}
	if n := rows.Len(); n > 0 {
		g.first, g.last = rows.Key(0), rows.Key(n-1)
		g.seen, g.emptyPages = true, 0
	}
	return done
}
