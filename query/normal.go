package query

import (
	"cmp"
	"slices"

	"github.com/azpatterns/azpatterns/keys"
)

// The normal form of a filter divides the keys into pieces. Within a piece, every
// comparison of a key has the same result for all keys, so only a condition on the other
// properties remains, which is called the residue.
//
// Keys always exist and are always strings, so not (RowKey eq 'a') can be replaced by
// RowKey ne 'a'. In the residue a not remains, because properties can be missing:
// not (X eq 1) is another condition than X ne 1.
type (
	// rowPieces maps the row keys of some partitions to the residue; nil means that
	// every row matches.
	rowPieces = []piece[*node]
	// keyPieces maps the partition keys to the rows that match. It contains no empty
	// list of row pieces.
	keyPieces = []piece[rowPieces]
)

var everyRowKey = rowPieces{{}}

func isEveryRowKey(x rowPieces) bool {
	return len(x) == 1 && x[0].val == nil && x[0].Range == keys.Range{}
}

// normalizer computes the normal form. It stops if that takes more steps than its
// budget.
type normalizer struct {
	budget int
	rows   algebra[*node]
	keys   algebra[rowPieces]
}

// normalize returns the normal form of n, or false if it is too large, which happens for
// a product of many conditions on both keys.
func normalize(n *node) (keyPieces, bool) {
	if partition, row, exact := plainBounds(n); exact { // as for most filters
		return keyPieces{{partition, rowPieces{{Range: row}}}}, true
	}
	z := newNormalizer(n)
	k := z.visit(n)
	return k, z.budget >= 0
}

// newNormalizer returns a normalizer with the budget for n.
func newNormalizer(n *node) *normalizer {
	z := &normalizer{budget: 1 << 16}
	if n != nil {
		z.budget += 32 * n.count
	}
	z.rows = algebra[*node]{
		and:  z.andResidue,
		or:   z.orResidue,
		not:  notResidue,
		same: same,
	}
	z.keys = algebra[rowPieces]{
		all:  everyRowKey,
		and:  func(x, y rowPieces) (rowPieces, bool) { return z.mergeRows(opAnd, x, y) },
		or:   func(x, y rowPieces) (rowPieces, bool) { return z.mergeRows(opOr, x, y) },
		not:  z.notRows,
		same: z.sameRows,
	}
	return z
}

func (z *normalizer) visit(n *node) keyPieces {
	if z.budget < 0 {
		return nil
	}
	switch n.op {
	case opAnd, opOr:
		return z.fold(n.op, n.kids)
	case opNot:
		k := z.visit(n.kids[0])
		z.budget -= len(k)
		return z.keys.complement(k)
	}
	switch {
	case !isKey(n.name):
		return keyPieces{{val: rowPieces{{val: n}}}}
	case n.lit.typ != String:
		return nil
	}
	ranges := rangesOf(n.op, n.lit.text)
	if n.name == nameOfPartitionKey {
		out := make(keyPieces, len(ranges))
		for i, r := range ranges {
			out[i] = piece[rowPieces]{r, everyRowKey}
		}
		return out
	}
	rows := make(rowPieces, len(ranges))
	for i, r := range ranges {
		rows[i].Range = r
	}
	if len(rows) == 0 {
		return nil
	}
	return keyPieces{{val: rows}}
}

// fold divides and conquers, so that n conditions on keys cost at most n log n steps. The
// branches of an or are put in key order first, in which those that are disjoint cost one step
// each.
func (z *normalizer) fold(o op, kids []*node) keyPieces {
	if o == opAnd {
		return z.mergeAll(o, 0, len(kids), func(i int) keyPieces { return z.visit(kids[i]) })
	}
	branches := make([]keyPieces, 0, len(kids))
	for _, kid := range kids {
		k := z.visit(kid)
		if z.budget -= len(k); z.budget < 0 {
			return nil
		}
		if len(k) > 0 {
			branches = append(branches, k)
		}
	}
	slices.SortStableFunc(branches, func(a, b keyPieces) int {
		return cmp.Or(keys.Compare(a[0].From, b[0].From), keys.Compare(a[0].val[0].From, b[0].val[0].From))
	})
	var runs []keyPieces
	var last run
	for _, k := range branches {
		if !last.extend(z, k) {
			runs = append(runs, last.pieces)
			last = run{pieces: k}
		}
	}
	runs = append(runs, last.pieces)
	return z.mergeAll(o, 0, len(runs), func(i int) keyPieces { return runs[i] })
}

// mergeAll merges the lists from up to to, exclusive.
func (z *normalizer) mergeAll(o op, from, to int, list func(int) keyPieces) keyPieces {
	if to-from == 1 {
		return list(from)
	}
	half := (from + to) / 2
	a := z.mergeAll(o, from, half, list)
	if len(a) == 0 && o == opAnd {
		return nil
	}
	b := z.mergeAll(o, half, to, list)
	z.budget -= len(a) + len(b)
	if z.budget < 0 {
		return nil
	}
	return z.keys.merge(o, a, b)
}

// run is the result of an or of branches in key order. Lists of pieces can be shared, so a
// run copies a list before it changes it.
type run struct {
	pieces    keyPieces
	owned     bool // pieces is not shared
	rowsOwned bool // the row pieces of the last piece are not shared
}

// extend adds the pieces of the next branch, which has some, or returns false if they are not after those of
// the run.
func (r *run) extend(z *normalizer, next keyPieces) bool {
	if len(r.pieces) == 0 {
		*r = run{pieces: next}
		return true
	}
	n := len(r.pieces)
	last := r.pieces[n-1]
	rows := len(next) == 1 && next[0].Range == last.Range && follows(last.val, next[0].val) &&
		(n == 1 || r.pieces[n-2].To != last.From) // or the last two pieces might become one
	if !rows && !follows(r.pieces, next) {
		return false
	}
	if !r.owned {
		r.pieces, r.owned = slices.Clone(r.pieces), true
	}
	if !rows {
		for _, p := range next {
			r.pieces = z.keys.put(doubled(r.pieces), p.Range, p.val)
		}
		r.rowsOwned = false
		return true
	}
	if !r.rowsOwned {
		last.val, r.rowsOwned = slices.Clone(last.val), true
	}
	for _, p := range next[0].val {
		last.val = z.rows.put(doubled(last.val), p.Range, p.val)
	}
	r.pieces[n-1].val = last.val
	return true
}

// doubled doubles the capacity of a full list. append alone would grow a long list by a
// quarter, and copy it more often.
func doubled[V any](a []piece[V]) []piece[V] {
	if len(a) == cap(a) {
		return append(make([]piece[V], 0, 2*len(a)), a...)
	}
	return a
}

// follows reports whether the pieces b, which are not empty, are after the pieces a.
func follows[V any](a, b []piece[V]) bool {
	end := a[len(a)-1].To
	return end != "" && keys.Compare(end, b[0].From) <= 0
}

func (z *normalizer) mergeRows(o op, x, y rowPieces) (rowPieces, bool) {
	z.budget -= len(x) + len(y)
	if z.budget < 0 {
		return nil, false
	}
	if o == opAnd { // lists are never changed, so they can be shared
		if isEveryRowKey(x) {
			return y, true
		}
		if isEveryRowKey(y) {
			return x, true
		}
	}
	out := z.rows.merge(o, x, y)
	return out, len(out) > 0
}

func (z *normalizer) notRows(x rowPieces) (rowPieces, bool) {
	z.budget -= len(x)
	out := z.rows.complement(x)
	return out, len(out) > 0
}

func (z *normalizer) sameRows(x, y rowPieces) bool {
	if len(x) != len(y) {
		return false
	}
	z.budget -= len(x)
	return slices.EqualFunc(x, y, func(p, q piece[*node]) bool {
		return p.Range == q.Range && same(p.val, q.val)
	})
}

func (z *normalizer) andResidue(x, y *node) (*node, bool) {
	switch {
	case x == nil || same(x, y):
		return y, true
	case y == nil:
		return x, true
	}
	return z.join(opAnd, x, y), true
}

func (z *normalizer) orResidue(x, y *node) (*node, bool) {
	switch {
	case x == nil || y == nil:
		return nil, true
	case same(x, y):
		return x, true
	}
	return z.join(opOr, x, y), true
}

// join subtracts the size of its result from the budget.
func (z *normalizer) join(o op, x, y *node) *node {
	n := join(o, []*node{x, y})
	z.budget -= len(n.kids)
	return n
}

func notResidue(x *node) (*node, bool) {
	if x == nil {
		return nil, false
	}
	return negate(x), true
}

// within reports whether the comparison n of a key is true for all texts in r, and
// whether it is true for none of them.
func (n *node) within(r keys.Range) (all, none bool) {
	if n.lit.typ != String {
		return false, true
	}
	none = true
	for _, part := range rangesOf(n.op, n.lit.text) {
		in, ok := overlap(part, r)
		if !ok {
			continue
		}
		none = false
		if in == r {
			return true, false
		}
	}
	return false, none
}
