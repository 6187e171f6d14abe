package query

import "github.com/azpatterns/azpatterns/keys"

// A Read is one request, or one sequence of pages, of a rewritten filter.
type Read struct {
	Class Class

	// Point says that nothing but the key is asked, and that the key is one
	// that a row can have: Key may be read by its address, and a missing row is
	// no failure. Filter says the same, for a caller that prefers to query.
	Point bool

	// Key is set when Class is Point, whether or not there is more to ask.
	Key keys.Key

	// Partition and Row hold the keys of every row of this read. A bound that
	// ends in U+0000 stands just behind the text before it: the range of the
	// one text "a" is ["a", "a\x00").
	Partition, Row keys.Range

	// Filter is what to send.
	Filter Filter
}

// planner turns a normal form into reads.
type planner struct {
	root  *node // the filter as it was given
	reads []Read
}

// rewrite divides a filter into reads that are disjoint, and in the order of
// the keys. It gives false when the filter is read as it is because its normal
// form is too large.
func rewrite(root *node) ([]Read, bool) {
	pieces, ok := normalize(root)
	if !ok {
		partition, row := plainBounds(root)
		return []Read{{
			Class:     classOf(partition, row),
			Partition: partition,
			Row:       row,
			Filter:    Filter{root: root},
		}}, false
	}
	p := &planner{root: root, reads: make([]Read, 0, len(pieces))}
	for len(pieces) > 0 {
		n := p.partitions(pieces)
		pieces = pieces[n:]
	}
	return p.reads, true
}

// partitions adds the reads of the first pieces, and gives how many it took.
// Partition ranges that touch are one read, where the limit of comparisons
// allows it: to divide them saves no row, but costs a request.
func (p *planner) partitions(pieces keyPieces) int {
	run, ranges := 1, !isOne(pieces[0].Range)
	for run < len(pieces) && pieces[run-1].To == pieces[run].From {
		ranges = ranges || !isOne(pieces[run].Range)
		run++
	}
	if run > 1 && ranges {
		if p.add(p.over(pieces[:run]), MaxComparisons) {
			return run
		}
	}
	if isOne(pieces[0].Range) {
		for rows := pieces[0].val; len(rows) > 0; {
			n := p.rows(pieces[0].Range, rows)
			rows = rows[n:]
		}
		return 1
	}
	p.add(p.over(pieces[:1]), 0)
	return 1
}

// over is one read over the partitions of all pieces. It leaves the conditions
// on the row keys as they stand: bounds do not help over several partitions.
func (p *planner) over(pieces keyPieces) Read {
	return p.restricted(hull(pieces), keys.Range{})
}

// rows adds the reads of the first row pieces of one partition, and gives how
// many pieces it took. Pieces that touch, or that only a single key divides,
// are one read: to skip one row is not worth a request.
func (p *planner) rows(partition keys.Range, rows rowPieces) int {
	run, ranges := 1, !isOne(rows[0].Range)
	for run < len(rows) {
		gap := keys.Range{From: rows[run-1].To, To: rows[run].From}
		near := gap.From == gap.To || isOne(gap)
		if !near || isOne(rows[run-1].Range) && isOne(rows[run].Range) {
			break
		}
		ranges = ranges || !isOne(rows[run].Range)
		run++
	}
	if run > 1 && ranges {
		if p.add(p.restricted(partition, hull(rows[:run])), MaxComparisons) {
			return run
		}
	}
	read := p.reading(partition, rows[0].Range, rows[0].val)
	if read.Filter.Comparisons() > MaxComparisons {
		if other := p.restricted(partition, rows[0].Range); other.Filter.Comparisons() < read.Filter.Comparisons() {
			read = other
		}
	}
	p.add(read, 0)
	return 1
}

// add appends the read unless it has more comparisons than limit; 0 is no
// limit.
func (p *planner) add(r Read, limit int) bool {
	if limit > 0 && r.Filter.Comparisons() > limit {
		return false
	}
	p.reads = append(p.reads, r)
	return true
}

// restricted reads what the filter lets through of the keys in both ranges.
func (p *planner) restricted(partition, row keys.Range) Read {
	residue, _ := p.root.restrict(partition, row)
	return p.reading(partition, row, residue)
}

// reading makes the read of the keys in both ranges that pass residue.
func (p *planner) reading(partition, row keys.Range, residue *node) Read {
	r := Read{Class: classOf(partition, row), Partition: partition, Row: row}
	var parts [5]*node
	bounds := boundsOn(parts[:0], nameOfPartitionKey, partition)
	bounds = boundsOn(bounds, nameOfRowKey, row)
	if residue != nil {
		bounds = append(bounds, residue)
	}
	if len(bounds) > 0 {
		r.Filter.root = join(opAnd, bounds)
	}
	if r.Class == Point {
		r.Key = keys.Key{Partition: partition.From, Row: row.From}
		// Clients refuse to address an empty PartitionKey, legal as it is.
		r.Point = residue == nil && r.Key.Partition != "" && r.Key.Validate() == nil
	}
	return r
}

// restrict gives the filter that says the same as n for all keys in both
// ranges: nil for every row, or false when it lets none through.
func (n *node) restrict(partition, row keys.Range) (*node, bool) {
	if n == nil {
		return nil, true
	}
	switch n.op {
	case opNot:
		k, some := n.kids[0].restrict(partition, row)
		switch {
		case !some:
			return nil, true
		case k == nil:
			return nil, false
		}
		return negate(k), true
	case opAnd, opOr:
		return n.restrictKids(partition, row)
	}
	if !isKey(n.name) {
		return n, true
	}
	r := row
	if n.name == nameOfPartitionKey {
		r = partition
	}
	all, none := n.within(r)
	switch {
	case all:
		return nil, true
	case none:
		return nil, false
	}
	return n, true
}

func (n *node) restrictKids(partition, row keys.Range) (*node, bool) {
	parts := make([]*node, 0, len(n.kids))
	for _, kid := range n.kids {
		k, some := kid.restrict(partition, row)
		switch {
		case n.op == opAnd && !some:
			return nil, false
		case n.op == opOr && some && k == nil:
			return nil, true
		case some && k != nil:
			parts = append(parts, k)
		}
	}
	if len(parts) == 0 {
		return nil, n.op == opAnd
	}
	return join(n.op, parts), true
}

// hull is the least range around ordered pieces.
func hull[V any](pieces []piece[V]) keys.Range {
	return keys.Range{From: pieces[0].From, To: pieces[len(pieces)-1].To}
}

// plainBounds gives what the service makes of the filter sent as it is: it
// uses the conditions on the keys that every row has to pass, and no others.
func plainBounds(root *node) (partition, row keys.Range) {
	if root == nil {
		return
	}
	parts := []*node{root}
	if root.op == opAnd {
		parts = root.kids
	}
	for _, n := range parts {
		if !n.op.comparison() || n.op == opNe || !isKey(n.name) || n.lit.typ != String {
			continue
		}
		ranges := rangesOf(n.op, n.lit.text)
		if len(ranges) == 0 {
			continue
		}
		target := &row
		if n.name == nameOfPartitionKey {
			target = &partition
		}
		if r, ok := overlap(*target, ranges[0]); ok {
			*target = r
		}
	}
	return partition, row
}
