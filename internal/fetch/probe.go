package fetch

import (
	"context"
	"reflect"
	"sync"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// probe looks for the first row of a span, whether or not it matches the scan's filter:
// to look for a row that matches would be a scan in itself.
type probe struct {
	cutPoint
	of    *segment
	span  keyRange
	found bool
	row   keys.Key // the row found; the cut point if the service did not return it
}

// keyCodec decodes the keys of rows.
var keyCodec = sync.OnceValues(func() (*edm.Codec, error) { return edm.CodecFor(reflect.TypeFor[struct{}]()) })

// probe requests the keys of one row. One request.
func (s *scan) probe(ctx context.Context, p *probe) error {
	found, more, err := s.readKeys(ctx, p.span.filter(), 1)
	switch {
	case err != nil:
		return err
	case len(found) > 0:
		p.found, p.row = true, found[0]
	case more:
		p.found, p.row = true, p.key // an empty page before others proves nothing
	}
	return nil
}

// readKeys requests the keys of up to top rows that f matches, and reports whether more
// may follow. One request.
func (p *ReadPlan) readKeys(ctx context.Context, f query.Filter, top int) (found []keys.Key, more bool, err error) {
	codec, err := keyCodec()
	if err != nil {
		return nil, false, err
	}
	var rows []*edm.Meta
	next, err := p.source.client.Query(ctx, wire.Query{Filter: f.String(), Select: "PartitionKey,RowKey", Top: int32(top)}, func(body []byte) error {
		rows = nil // this may be a second attempt
		return codec.DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
			rows = append(rows, new(edm.Meta))
			return new(struct{}), rows[len(rows)-1], nil
		})
	})
	for _, r := range rows {
		found = append(found, keys.Key{Partition: r.PartitionKey, Row: r.RowKey})
	}
	return found, next != (wire.Position{}), err
}

// toCut chooses the segment to cut, and up to n points in it to probe: the segment with
// the most room left, of those that turned out to be longer than a page.
func (s *scan) toCut(n int) (*segment, []cutPoint) {
	left := s.extraAllowed() - s.extra - s.rereads()
	n = min(n, left)
	if a, _ := s.source.client.Address(); a.Cosmos() || n <= 0 {
		return nil, nil
	}
	var best *segment
	var points []cutPoint
	most := 0.0
	for _, g := range s.segments {
		if g.pages == 0 || g.probes > 0 || g.indivisible ||
			g.emptyPages > 0 && (g.emptyPages < g.patience || g.emptyPages > left) {
			continue
		}
		room, ok := g.room()
		if !ok || best != nil && room.size() <= most {
			continue
		}
		if p := g.cutPoints(room, &s.known, n); len(p) > 0 {
			best, points, most = g, p, room.size()
		}
	}
	return best, points
}

// rereads is the number of pages that will be read again because of cuts made or
// considered.
func (s *scan) rereads() (pages int) {
	for _, g := range s.segments {
		if g.probes > 0 || g.isCut() {
			pages += g.emptyPages
		}
	}
	return pages
}

// extraAllowed is the number of requests that the scan may make in addition to those of
// Run. It grows with the pages read, so that a small table causes few. The quarter is of
// the requests that Run would need too, so that extra requests do not permit more.
func (s *scan) extraAllowed() int {
	if s.maxExtra > 0 {
		return max(s.sent-s.extra, 0) * s.maxExtra / 100
	}
	return min(4+4*s.pages, 16*s.parallel) + max(s.sent-s.extra, 0)/4
}

// probed acts on the result of a probe. While it was in flight the segment that it was
// meant for may have been cut or read further, so the segment is looked up.
func (s *scan) probed(p *probe) {
	p.of.probes--
	for _, g := range s.segments {
		rest := keyRange{p.key, g.end}
		if g.read != p.of.read || g.last.Compare(p.key) >= 0 || rest.endsBefore(p.key) {
			continue
		}
		switch {
		case !p.found || rest.endsBefore(p.row):
			g.end = p.key // no rows follow
		case p.explore:
			g.beyond = p.row
		default:
			s.cut(g, p)
		}
		return
	}
}

// cut makes a new segment of what follows the row that p found.
func (s *scan) cut(g *segment, p *probe) {
	from := p.row
	if p.key.Row == "" {
		from.Row = "" // all of the partition
	}
	h, ok := s.newSegment(g.read, true, keyRange{from, g.end})
	if !ok {
		g.indivisible = true
		return
	}
	if g.emptyPages > 0 {
		g.patience *= 4
	}
	h.patience = g.patience
	s.extra += 2 // the last page of the new segment, and the page of g that it repeats
	s.add(h)
	g.end = p.key
}
