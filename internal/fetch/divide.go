package fetch

import (
	"cmp"
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
)

// Divide returns cursors of [ReadPlan.Scan] that divide its rows: every key that the reads can
// return belongs to exactly one. There are at most n, fewer if the table has fewer pages
// than that, and one on Cosmos DB for Table, whose results have no order; none if the plan
// has no reads.
//
// It cuts the reads at the points that Scan would cut at. Instead of reading the rows it
// requests the keys of one page of each part, which shows whether the part is small, and
// where to cut it otherwise. At most 4n+32 requests.
func (p *ReadPlan) Divide(ctx context.Context, n int) ([]string, error) {
	d := &division{scan: &scan{ReadPlan: p}, want: max(n, 1)}
	d.left = 4*d.want + 32
	for i := range p.reads {
		g, _ := p.newSegment(i, false, spanOf(&p.reads[i]))
		d.parts = append(d.parts, &subrange{segment: g})
	}
	if len(d.parts) == 0 {
		return nil, ctx.Err()
	}
	if err := d.run(ctx); err != nil {
		return nil, err
	}
	if a, _ := p.source.client.Address(); a.Cosmos() {
		d.want = 1
	}
	var cursors []string
	for _, g := range d.groups() {
		s := &scan{ReadPlan: p, segments: g.segments, nextRead: len(p.reads), progress: Progress{Segments: len(g.segments)}}
		text, err := s.sealCursor()
		if err != nil {
			return nil, err
		}
		cursors = append(cursors, text)
	}
	return cursors, nil
}

// division is a Divide in progress. Of the scan it uses the plan and the alphabet.
type division struct {
	*scan
	want  int
	left  int         // requests that may still be made
	parts []*subrange // in the order of the reads, then of the keys
}

// subrange is a part of the division. A new one has its first key as its last row.
type subrange struct {
	*segment
	rows  int  // of the page that was requested
	large bool // more rows follow that page

	// missed means that the last probe found no row. The next one looks for any row that
	// differs at that level of the keys.
	missed bool
}

// run cuts the parts until enough of them are large.
func (d *division) run(ctx context.Context) error {
	if len(d.parts) >= d.want {
		for _, q := range d.parts {
			q.large = true // for all that is known
		}
		return d.sample(ctx, d.parts[:1]) // shows the address of the table, which cursors contain
	}
	for fresh := d.parts; ; {
		if err := d.sample(ctx, fresh); err != nil {
			return err
		}
		probes := d.probes()
		if len(probes) == 0 {
			return nil
		}
		if err := d.each(ctx, len(probes), func(ctx context.Context, i int) error { return d.probe(ctx, probes[i]) }); err != nil {
			return err
		}
		fresh = nil
		for _, p := range probes {
			if q := d.apply(p); q != nil {
				fresh = append(fresh, q)
			}
		}
	}
}

// each calls f for 0 to n-1, concurrently.
func (d *division) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	d.left -= n
	return calls.Each(ctx, n, d.parallel, f)
}

// sample requests the keys of the first page of each part, whether or not the rows match
// the filter: the time that a scan takes depends on the rows that the service reads.
func (d *division) sample(ctx context.Context, parts []*subrange) error {
	pages := make([][]keys.Key, len(parts))
	err := d.each(ctx, len(parts), func(ctx context.Context, i int) (err error) {
		pages[i], parts[i].large, err = d.readKeys(ctx, parts[i].requested.filter(), d.pageSize())
		return err
	})
	if err != nil {
		return err
	}
	for i, q := range parts {
		q.rows = len(pages[i])
		if q.rows > 0 {
			q.first, q.last = pages[i][0], pages[i][q.rows-1]
		}
		for _, k := range pages[i] {
			d.known.add(q.first, k)
		}
	}
	return nil
}

// probes returns the next probes, none if the division is complete. A probe may lead to a
// part, which takes a request too.
func (d *division) probes() (all []*probe) {
	if a, _ := d.source.client.Address(); a.Cosmos() {
		return nil
	}
	var open []*subrange
	large := 0
	for _, q := range d.parts {
		if q.large {
			large++
		}
		if q.large && !q.indivisible {
			open = append(open, q)
		}
	}
	if large >= d.want {
		return nil
	}
	for _, q := range open {
		room, ok := q.room()
		if !ok && q.first != q.last { // the page ended in another partition than it began in
			q.first = q.last
			room, ok = q.room()
		}
		n := min((d.want-large)/len(open)+1, d.parallel, d.left/2-len(all))
		if !ok || n <= 0 {
			continue
		}
		points := q.cutPoints(room, &d.known, n)
		if q.missed && room.level < len(room.last) {
			if key, ok := q.cutAt(room, slices.Index(room.last, separator), textAfter(room.last[:room.level+1])); ok {
				points = []cutPoint{{key: key}}
			}
		}
		for _, at := range points {
			all = append(all, &probe{cutPoint: at, of: q.segment, span: keyRange{at.key, q.end}})
		}
	}
	slices.SortFunc(all, func(a, b *probe) int { return cmp.Or(cmp.Compare(a.of.read, b.of.read), a.key.Compare(b.key)) })
	return all
}

// apply acts on the result of a probe. It returns the part that it makes, nil if there is
// none, or if that has no rows. Between a cut point and the row found there are no rows, so
// the part before the cut ends at the row: no key is left out.
func (d *division) apply(p *probe) *subrange {
	i := slices.IndexFunc(d.parts, func(q *subrange) bool {
		return q.read == p.of.read && q.last.Compare(p.key) < 0 && !(keyRange{To: q.end}).endsBefore(p.key)
	})
	if i < 0 {
		return nil // an earlier probe found a row after this key
	}
	q, from := d.parts[i], p.key
	empty := !p.found || (keyRange{To: q.end}).endsBefore(p.row)
	switch {
	case !empty && p.explore:
		q.beyond = p.row
		return nil
	case !empty:
		if from = p.row; p.key.Row == "" {
			from.Row = "" // all of the partition
		}
	}
	borders := []keys.Key{q.requested.From, from, q.end}
	if before := (keyRange{q.requested.From, from}); from.Row != "" && !before.single() {
		borders = slices.Insert(borders, 1, keys.Key{Partition: from.Partition}) // one request reads whole partitions or a part of one
	}
	var made []*subrange
	for j, to := range borders[1:] {
		g, ok := d.segmentOf(q.read, keyRange{borders[j], to})
		if !ok {
			q.indivisible = true
			return nil
		}
		made = append(made, &subrange{segment: g})
	}
	// q becomes the part that its last row is in.
	g := made[len(made)-2].segment
	g.last, g.beyond = q.last, q.beyond
	if q.first.Compare(g.first) > 0 {
		g.first = q.first
	}
	q.segment, made[len(made)-2], q.missed = g, q, empty
	d.parts = slices.Replace(d.parts, i, i+1, made...)
	if empty {
		return nil
	}
	return made[len(made)-1]
}

// group is the parts of one cursor.
type group struct {
	segments []*segment
	weight   int
}

// groups joins adjacent parts, the smallest first, until there are no more than wanted, and
// each has at least a page.
func (d *division) groups() (all []group) {
	for _, q := range d.parts {
		g := group{[]*segment{q.segment}, q.rows + 1} // each takes a request to read
		if q.large {
			g.weight += 16 * d.pageSize() // the rest is not known
		}
		all = append(all, g)
	}
	for len(all) > 1 {
		i := 0
		for j := range all {
			if all[j].weight < all[i].weight {
				i = j
			}
		}
		if len(all) <= d.want && all[i].weight > d.pageSize() {
			break
		}
		if i == len(all)-1 || i > 0 && all[i-1].weight <= all[i+1].weight {
			i--
		}
		a, b := all[i], all[i+1]
		all[i] = group{d.joined(a.segments, b.segments), a.weight + b.weight}
		all = slices.Delete(all, i+1, i+2)
	}
	return all
}

// joined returns the segments of a and b, which follow a, with the border between them
// removed if one request can read across it.
func (d *division) joined(a, b []*segment) []*segment {
	last, next := a[len(a)-1], b[0]
	if last.read == next.read && last.end == next.requested.From {
		if g, ok := d.segmentOf(last.read, keyRange{last.requested.From, next.end}); ok {
			return append(append(slices.Clone(a[:len(a)-1]), g), b[1:]...)
		}
	}
	return append(slices.Clone(a), b...)
}

// segmentOf returns the segment of the keys in s. ok is false if one filter cannot select
// them.
func (d *division) segmentOf(read int, s keyRange) (g *segment, ok bool) {
	if all := spanOf(&d.reads[read]); s == all {
		return d.newSegment(read, false, all)
	}
	if (s.From.Row != "" || s.To.Row != "") && !s.single() {
		return nil, false
	}
	return d.newSegment(read, true, s)
}
