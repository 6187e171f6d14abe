package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// probe looks for the first row of a span, whether or not the scan's filter lets it
// through: that would be a scan by itself.
type probe struct {
	place
	of    *segment
	span  span
	found bool
	key   keys.Key // the row found; where the service did not say, the place itself
}

// probe asks for one row's keys. One request.
func (s *scan[T]) probe(ctx context.Context, p *probe) error {
	r := s.rows
	next, err := r.wire.Query(ctx, wire.Query{
		Filter: p.span.filter().String(),
		Select: "PartitionKey,RowKey",
		Top:    1,
	}, func(body []byte) error {
		var meta edm.Meta
		p.found = false
		err := r.codec.DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
			p.found = true
			return new(T), &meta, nil
		})
		p.key = keys.Key{Partition: meta.PartitionKey, Row: meta.RowKey}
		return err
	})
	if err == nil && !p.found && next != (wire.Position{}) {
		p.found, p.key = true, p.at // an empty page with more behind it tells nothing
	}
	return err
}

// victim chooses the segment to cut, and up to n places to look at in it: the one
// with the most room of those that proved to be longer than a page.
func (s *scan[T]) victim(n int) (*segment, []place) {
	left := s.allowed() - s.extra - s.owed()
	n = min(n, left)
	if a, _ := s.rows.wire.Address(); a.Cosmos() || n <= 0 {
		return nil, nil
	}
	var best *segment
	var where []place
	most := 0.0
	for _, g := range s.segments {
		if g.pages == 0 || g.probes > 0 || g.whole ||
			g.blank > 0 && (g.blank < g.patience || g.blank > left) {
			continue
		}
		r, ok := g.room()
		if !ok || best != nil && r.size() <= most {
			continue
		}
		if p := g.places(r, &s.known, n); len(p) > 0 {
			best, where, most = g, p, r.size()
		}
	}
	return best, where
}

// owed is how many pages will be read again for cuts made or looked for.
func (s *scan[T]) owed() (pages int) {
	for _, g := range s.segments {
		if g.probes > 0 || g.cut() {
			pages += g.blank
		}
	}
	return pages
}

// allowed bounds the requests that Query would not need. It grows with the pages
// read, so that a small table costs few; a quarter more is of those alone that Query
// would need too, lest what a scan wastes allow it to waste more.
func (s *scan[T]) allowed() int {
	return min(4+4*s.pages, 16*s.parallel) + max(s.sent-s.extra, 0)/4
}

// probed acts on what a probe found. Several were on their way at once, so the
// segment that it was meant for may have been cut or read on meanwhile.
func (s *scan[T]) probed(p *probe) {
	p.of.probes--
	for _, g := range s.segments {
		rest := span{p.at, g.to}
		if g.read != p.of.read || g.last.Compare(p.at) >= 0 || rest.before(p.at) {
			continue
		}
		switch {
		case !p.found || rest.before(p.key):
			g.to = p.at // there is nothing behind
		case p.explore:
			g.ahead = p.key
		default:
			s.cut(g, p)
		}
		return
	}
}

// cut makes a new segment of what lies behind the row that p found.
func (s *scan[T]) cut(g *segment, p *probe) {
	from := p.key
	if p.at.Row == "" {
		from.Row = "" // all of the partition
	}
	h, ok := s.newSegment(g.read, true, span{from, g.to})
	if !ok {
		g.whole = true
		return
	}
	if g.blank > 0 {
		g.patience *= 4
	}
	h.patience = g.patience
	s.extra += 2 // the new segment's last page, and one of g's that it repeats
	s.add(h)
	g.to = p.at
}
