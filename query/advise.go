package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
)

// adviser gathers the warnings of one plan, each code once for a property.
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
	a.never(root)
	a.ors(root, false)
	a.tooMany(root)
	a.unbounded(root)
	a.siblings()
	a.negations(root, false)
	for n := range root.comparisons {
		a.types(n)
	}
}

func (a *adviser) never(root *node) {
	if len(a.plan.reads) == 0 {
		a.warn(Warning{
			Code:    WarnNeverMatches,
			Problem: "no keys satisfy the filter",
			Remedy:  "Look for keys compared with two different values, crossed bounds, or a literal that is no text.",
		})
	}
}

// ors looks for keys that are joined by or. bounded says that the partition is
// named beside n. An or under a not joins nothing: what it names is left out.
func (a *adviser) ors(n *node, bounded bool) {
	if n == nil || n.op == opNot {
		return
	}
	if n.op == opAnd {
		bounded = bounded || n.asksFor(nameOfPartitionKey)
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
	w := Warning{
		Code:     WarnOrOfRowKeys,
		Property: nameOfRowKey,
		Problem:  "sent as it is, an or of row keys reads the whole partition",
		Remedy:   "Read each row by its key, as the rewriting does.",
		Solved:   !a.remains(nameOfRowKey),
	}
	switch {
	case w.Solved:
	case bounded:
		w.Remedy = "Read each row by its key, and what the other conditions ask for in a query of its own."
	default:
		w.Problem = "an or of row keys without the partition key reads every partition"
		if a.plan.Class == PartitionRange {
			w.Problem += " of the range"
		}
		w.Remedy = "Name the partition with PartitionKey eq, and each row is read by its key."
	}
	a.warn(w)
}

func (a *adviser) orOfPartitionKeys() {
	w := Warning{
		Code:     WarnOrOfPartitionKeys,
		Property: nameOfPartitionKey,
		Problem:  "sent as it is, an or of partition keys reads the whole table",
		Remedy:   "Send one query per partition, as the rewriting does.",
		Solved:   !a.remains(nameOfPartitionKey),
	}
	if !w.Solved {
		w.Remedy = "Send one query per partition, and one for what the other conditions ask for."
	}
	a.warn(w)
}

// remains reports whether a read still joins several of a key by or.
func (a *adviser) remains(key string) bool {
	for i := range a.plan.reads {
		if a.plan.reads[i].Filter.root.joins(key) {
			return true
		}
	}
	return false
}

func (n *node) joins(key string) bool {
	if n == nil || n.op == opNot {
		return false
	}
	return n.op == opOr && named(n, key) > 1 ||
		slices.ContainsFunc(n.kids, func(k *node) bool { return k.joins(key) })
}

// named counts the branches of an or that name a key with eq.
func named(or *node, key string) int {
	count := 0
	for _, k := range or.kids {
		if k.asksFor(key) {
			count++
		}
	}
	return count
}

// asksFor reports whether n asks for one value of a key, by itself or in an and.
func (n *node) asksFor(key string) bool {
	is := func(p *node) bool { return p.op == opEq && p.name == key }
	return is(n) || n.op == opAnd && slices.ContainsFunc(n.kids, is)
}

func (a *adviser) tooMany(root *node) {
	worst := 0
	for _, r := range a.plan.reads {
		worst = max(worst, r.Filter.Comparisons())
	}
	switch limit := strconv.Itoa(MaxComparisons); {
	case worst > MaxComparisons:
		a.warn(Warning{
			Code:    WarnTooManyComparisons,
			Problem: strconv.Itoa(worst) + " comparisons in one request, and the service refuses more than " + limit,
			Remedy:  "Name the keys, so that the filter can be divided, or query several times and join the answers.",
		})
	case a.plan.Comparisons > MaxComparisons:
		a.warn(Warning{
			Code:    WarnTooManyComparisons,
			Problem: "sent as it is, the filter has " + strconv.Itoa(a.plan.Comparisons) + " comparisons, and the service refuses more than " + limit,
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
			a.warn(Warning{
				Code:     WarnUnboundedProperty,
				Property: n.name,
				Problem:  "only the keys are indexed, and no condition on the partition key bounds what is read",
				Remedy:   "Name the partition with PartitionKey eq, or keep an index on the property.",
			})
			return
		}
	}
	a.warn(Warning{
		Code:     WarnUnboundedKeys,
		Property: nameOfPartitionKey,
		Problem:  "no condition bounds the partition keys on both sides",
		Remedy:   "Name the partition with PartitionKey eq, or give both ends of a range.",
	})
}

// siblings looks at the key ranges that are read.
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
	if !a.covers(r) {
		return
	}
	a.warn(Warning{
		Code:     WarnPrefixSiblings,
		Property: name,
		Problem:  "a prefix without its separator covers rows of other types, and longer ids",
		Remedy:   "End the prefix with the separator, as in " + `"empid_".`,
	})
}

// covers reports whether a range of keys takes in more than one kind of row.
// With the prefixes of all kinds at hand that is known; without, a prefix in
// which nothing separates the kind from the rest is taken for one.
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
	return r.From != "" && r == keys.Prefix(r.From) && !strings.ContainsFunc(r.From, separates)
}

func separates(r rune) bool { return r == '_' || !namePart(r) }

// negations looks at the comparisons, negated for those under an odd number of
// nots.
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
		a.warn(Warning{
			Code:     WarnNotMatchesMissing,
			Property: n.name,
			Problem:  "not also lets through every row that lacks the property or has it with another type",
			Remedy:   "Turn the comparison around instead, as in ge for not lt, unless those rows are wanted.",
		})
	case n.op == opNe && !negated:
		a.warn(Warning{
			Code:     WarnNotEqual,
			Property: n.name,
			Problem:  "no index helps ne: what it leaves out is read all the same",
			Remedy:   "Ask for the values that are wanted, with eq or a range.",
		})
	}
}

func (a *adviser) types(n *node) {
	t, ok := a.opts.Schema.typeOf(n.name)
	switch {
	case !ok && a.opts.Schema == nil:
	case !ok:
		a.warn(Warning{
			Code:     WarnUnknownProperty,
			Property: n.name,
			Problem:  "the rows have no such property, and a missing property never matches",
			Remedy:   "Check the spelling; names are case-sensitive.",
		})
	case t == Int64 && n.lit.typ == Int32:
		a.warn(Warning{
			Code:     WarnInt64WithoutL,
			Property: n.name,
			Problem:  "the property is an Int64, the literal an Int32, and values of two types never match",
			Remedy:   "End the number with L, or pass an int64 in Go.",
		})
	case t != n.lit.typ:
		a.warn(Warning{
			Code:     WarnTypeMismatch,
			Property: n.name,
			Problem:  "the property is of type " + t.String() + ", the literal of type " + n.lit.typ.String() + ", and values of two types never match",
			Remedy:   "Write the literal in the type of the property.",
		})
	}
}
