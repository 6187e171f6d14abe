package query

import "github.com/azpatterns/azpatterns/keys"

// A Read is one query of a rewritten filter. It takes one request for each page.
type Read struct {
	Class Class

	// Point reports whether the row can be read with a Get of Key instead of a query with
	// Filter: Filter has no other conditions, Key is legal, and its Partition is not
	// empty. In a Get, a missing row is not an error but an empty result.
	Point bool

	// Key is set if Class is Point, even if Filter has further conditions.
	Key keys.Key

	// Partition and Row contain the keys of every row of this read. A bound that ends
	// in U+0000 is the successor of the text before it: the range that contains only
	// "a" is ["a", "a\x00").
	Partition, Row keys.Range

	// Filter is the filter to send.
	Filter Filter
}

// maxRun is the largest number of neighbouring pieces that may become one read. The filter of
// that read needs a comparison for every two bounds between its pieces: an eq or a ne has two.
const maxRun = 2*MaxComparisons + 1

// planner converts a normal form to reads.
type planner struct {
	root  *node // the original filter
	reads []Read

	last   keys.Range // of the partition keys of the last read
	bounds []*node    // of last
}

// rewrite divides a filter into disjoint reads in key order. If the normal form of the
// filter is too large, it returns the unchanged filter as one read, and false.
func rewrite(root *node) ([]Read, bool) {
	pieces, ok := normalize(root)
	if !ok {
		partition, row, _ := plainBounds(root)
		return []Read{{
			Class:     classOf(partition, row),
			Partition: partition,
			Row:       row,
			Filter:    Filter{root: root},
		}}, false
	}
	most := 0 // reads
	for _, k := range pieces {
		most += len(k.val)
	}
	p := &planner{root: root, reads: make([]Read, 0, most)}
	for len(pieces) > 0 {
		n := p.partitions(pieces)
		pieces = pieces[n:]
	}
	return p.reads, true
}

// partitions adds the reads of the first pieces, and returns the number of these pieces.
// Adjacent partition ranges become one read if it does not exceed the limit of
// comparisons: dividing them would save no row and cost a request.
func (p *planner) partitions(pieces keyPieces) int {
	run, ranges := 1, !isOne(pieces[0].Range)
	for run < len(pieces) && run <= maxRun && pieces[run-1].To == pieces[run].From {
		ranges = ranges || !isOne(pieces[run].Range)
		run++
	}
	if run > 1 && run <= maxRun && ranges {
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

// over returns one read of the partitions of all pieces. It does not change the
// conditions on the row keys: bounds do not help in several partitions.
func (p *planner) over(pieces keyPieces) Read {
	return p.restricted(hull(pieces), keys.Range{})
}

// rows adds the reads of the first row pieces of one partition, and returns the number
// of these pieces. Pieces that are adjacent, or separated by a single key, become one
// read: skipping one row is not worth a request.
func (p *planner) rows(partition keys.Range, rows rowPieces) int {
	run, ranges := 1, !isOne(rows[0].Range)
	for run < len(rows) && run <= maxRun {
		gap := keys.Range{From: rows[run-1].To, To: rows[run].From}
		near := gap.From == gap.To || isOne(gap)
		if !near || isOne(rows[run-1].Range) && isOne(rows[run].Range) {
			break
		}
		ranges = ranges || !isOne(rows[run].Range)
		run++
	}
	if run > 1 && run <= maxRun && ranges {
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

// add appends the read and returns true, unless the read has more comparisons than
// limit. 0 means no limit.
func (p *planner) add(r Read, limit int) bool {
	if limit > 0 && r.Filter.Comparisons() > limit {
		return false
	}
	p.reads = append(p.reads, r)
	return true
}

// restricted returns the read of the rows that match the filter and have keys in both
// ranges.
func (p *planner) restricted(partition, row keys.Range) Read {
	residue, _ := p.root.restrict(partition, row)
	return p.reading(partition, row, residue)
}

// reading returns the read of the rows that match residue and have keys in both ranges.
func (p *planner) reading(partition, row keys.Range, residue *node) Read {
	r := Read{Class: classOf(partition, row), Partition: partition, Row: row}
	if p.bounds == nil || p.last != partition { // consecutive reads of a partition share its nodes
		p.last, p.bounds = partition, boundsOn(p.bounds[:0], nameOfPartitionKey, partition)
	}
	var parts [5]*node
	bounds := append(parts[:0], p.bounds...)
	bounds = boundsOn(bounds, nameOfRowKey, row)
	if residue != nil {
		bounds = append(bounds, residue)
	}
	if len(bounds) > 0 {
		r.Filter.root = join(opAnd, bounds)
	}
	if r.Class == Point {
		r.Key = keys.Key{Partition: partition.From, Row: row.From}
		// Clients reject an empty PartitionKey in the address of a row, although it is legal.
		r.Point = residue == nil && r.Key.Partition != "" && r.Key.Validate() == nil
	}
	return r
}

// restrict returns a filter that is equivalent to n for keys in both ranges: nil if it
// matches every row, and false if it matches no row.
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

// hull returns the smallest range that contains the ordered pieces.
func hull[V any](pieces []piece[V]) keys.Range {
	return keys.Range{From: pieces[0].From, To: pieces[len(pieces)-1].To}
}

// plainBounds returns the key ranges that the service reads if the filter is sent
// unchanged: it uses only conditions on the keys that every row has to match. exact means
// that the filter matches all rows in these ranges, which are not empty.
func plainBounds(root *node) (partition, row keys.Range, exact bool) {
	if root == nil {
		return partition, row, true
	}
	exact = true
	one := [1]*node{root}
	parts := one[:]
	if root.op == opAnd {
		parts = root.kids
	}
	for _, n := range parts {
		used := n.op.comparison() && n.op != opNe && isKey(n.name) && n.lit.typ == String
		if used {
			target := &row
			if n.name == nameOfPartitionKey {
				target = &partition
			}
			var r keys.Range
			if r, used = rangeOf(n.op, n.lit.text); used {
				r, used = overlap(*target, r)
			}
			if used {
				*target = r
			}
		}
		exact = exact && used
	}
	return partition, row, exact
}
