package query

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

// adviser collects the warnings of a plan. Each code occurs at most once per property.
type adviser struct {
	plan *Plan
	opts ExplainOptions
	seen map[[2]string]bool
}

func (a *adviser) warn(w Warning) {
	key := [2]string{string(w.Code), w.Property}
	if a.seen[key] {
		return
	}
	if a.seen == nil {
		a.seen = map[[2]string]bool{}
	}
	a.seen[key] = true
	a.plan.Warnings = append(a.plan.Warnings, w)
}

func (a *adviser) advise(root *node) {
	if len(a.plan.reads) == 0 {
		a.warn(newWarning(WarnNeverMatches, ""))
	}
	a.ors(root, false)
	a.tooMany()
	a.unbounded(root)
	a.siblings()
	a.negations(root, false)
	for n := range root.comparisons {
		a.types(n)
	}
}

// ors warns of keys that are joined by or. bounded reports whether a condition that is
// joined to n by and selects one partition. An or under a not is skipped: its branches
// exclude rows instead of selecting them.
func (a *adviser) ors(n *node, bounded bool) {
	if n == nil || n.op == opNot {
		return
	}
	if n.op == opAnd {
		bounded = bounded || n.selects(nameOfPartitionKey)
	}
	if n.op == opOr {
		if named(n, nameOfRowKey) > 1 {
			a.orOfRowKeys(bounded || named(n, nameOfPartitionKey) > 0)
		}
		if named(n, nameOfPartitionKey) > 1 {
			a.orOfPartitionKeys()
		}
	}
	for _, k := range n.kids {
		a.ors(k, bounded)
	}
}

func (a *adviser) orOfRowKeys(bounded bool) {
	w := newWarning(WarnOrOfRowKeys, nameOfRowKey)
	w.Solved = !a.remains(nameOfRowKey)
	switch {
	case w.Solved:
	case bounded:
		w.Remedy = "Read each row by its key, and use a separate query for the other conditions."
	default:
		w.Problem = "an or of row keys without the partition key reads every partition"
		if a.plan.Class == PartitionRange {
			w.Problem += " of the range"
		}
		w.Remedy = "Select the partition with PartitionKey eq, so that each row is read by its key."
	}
	a.warn(w)
}

func (a *adviser) orOfPartitionKeys() {
	w := newWarning(WarnOrOfPartitionKeys, nameOfPartitionKey)
	w.Solved = !a.remains(nameOfPartitionKey)
	if !w.Solved {
		w.Remedy = "Send one query per partition, and a separate query for the other conditions."
	}
	a.warn(w)
}

// remains reports whether a read still joins several values of a key by or.
func (a *adviser) remains(key string) bool {
	return slices.ContainsFunc(a.plan.reads, func(r Read) bool { return r.Filter.root.joins(key) })
}

func (n *node) joins(key string) bool {
	if n == nil || n.op == opNot {
		return false
	}
	return n.op == opOr && named(n, key) > 1 ||
		slices.ContainsFunc(n.kids, func(k *node) bool { return k.joins(key) })
}

// named returns the number of branches of an or that select one value of a key.
func named(or *node, key string) int {
	count := 0
	for _, k := range or.kids {
		if k.selects(key) {
			count++
		}
	}
	return count
}

// selects reports whether n requires one value of a key: it is a comparison with eq, or
// an and of one.
func (n *node) selects(key string) bool {
	is := func(p *node) bool { return p.op == opEq && p.name == key }
	return is(n) || n.op == opAnd && slices.ContainsFunc(n.kids, is)
}

func (a *adviser) tooMany() {
	worst := 0
	for _, r := range a.plan.reads {
		worst = max(worst, r.Filter.Comparisons())
	}
	switch limit := strconv.Itoa(MaxComparisons); {
	case worst > MaxComparisons:
		a.warn(Warning{
			Code:    WarnTooManyComparisons,
			Problem: strconv.Itoa(worst) + " comparisons in one request, and the service rejects more than " + limit,
			Remedy:  "Add conditions on the keys, so that the filter can be divided, or send several queries and merge the results.",
		})
	case a.plan.Comparisons > MaxComparisons:
		a.warn(Warning{
			Code:    WarnTooManyComparisons,
			Problem: "sent unchanged, the filter has " + strconv.Itoa(a.plan.Comparisons) + " comparisons, and the service rejects more than " + limit,
			Remedy:  "Divide it into one query per key, as the rewriting does.",
			Solved:  true,
		})
	}
}

func (a *adviser) unbounded(root *node) {
	if a.plan.Class != TableScan {
		return
	}
	for n := range root.comparisons {
		if !isKey(n.name) {
			a.warn(newWarning(WarnUnboundedProperty, n.name))
			return
		}
	}
	a.warn(newWarning(WarnUnboundedKeys, nameOfPartitionKey))
}

// siblings warns of key ranges that contain several kinds of rows.
func (a *adviser) siblings() {
	for _, r := range a.plan.reads {
		switch {
		case isOne(r.Partition) && !isOne(r.Row):
			a.siblingsIn(nameOfRowKey, r.Row)
		case !isOne(r.Partition) && len(a.opts.Siblings) == 0:
			a.siblingsIn(nameOfPartitionKey, r.Partition)
		}
	}
}

func (a *adviser) siblingsIn(name string, r keys.Range) {
	if a.covers(r) {
		a.warn(newWarning(WarnPrefixSiblings, name))
	}
}

// covers reports whether a range of keys contains more than one kind of row. If the
// prefixes of all kinds are known, it counts them. If not, it assumes so for a prefix that
// may be the name of a kind without its separator.
func (a *adviser) covers(r keys.Range) bool {
	if len(a.opts.Siblings) > 0 {
		kinds := 0
		for _, s := range a.opts.Siblings {
			if _, ok := overlap(keys.Prefix(s), r); ok {
				kinds++
			}
		}
		return kinds > 1
	}
	return r == keys.Prefix(r.From) && isName(r.From)
}

// isName reports whether a prefix may be the name of a kind of row. A single letter is
// the beginning of a name or word, as in the range from "B" to "C". A prefix that ends
// with a digit is an id, whose length is usually fixed.
func isName(prefix string) bool {
	last, n := utf8.DecodeLastRuneInString(prefix)
	return n < len(prefix) && !unicode.IsDigit(last) && !strings.ContainsFunc(prefix, separates)
}

func separates(r rune) bool { return r == '_' || !namePart(r) }

// negations warns of ne and of not. negated reports whether n is under an odd number
// of nots.
func (a *adviser) negations(n *node, negated bool) {
	switch {
	case n == nil:
	case n.op == opNot:
		a.negations(n.kids[0], !negated)
	case !n.op.comparison():
		for _, k := range n.kids {
			a.negations(k, negated)
		}
	case negated && !isKey(n.name) && n.name != nameOfTimestamp:
		a.warn(newWarning(WarnNotMatchesMissing, n.name))
	case n.op == opNe && !negated:
		a.warn(newWarning(WarnNotEqual, n.name))
	}
}

func (a *adviser) types(n *node) {
	t, ok := a.opts.Schema.typeOf(n.name)
	switch {
	case !ok && a.opts.Schema == nil:
	case !ok:
		a.warn(newWarning(WarnUnknownProperty, n.name))
	case t == Any:
	case t == Int64 && n.lit.typ == Int32:
		a.warn(newWarning(WarnInt64WithoutL, n.name))
	case t != n.lit.typ:
		w := newWarning(WarnTypeMismatch, n.name)
		w.Problem = "the property is of type " + t.String() + ", the literal of type " + n.lit.typ.String() + ", and values of different types never match"
		a.warn(w)
	}
}
