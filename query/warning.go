package query

import "strings"

// A WarningCode names a kind of warning. The codes are stable: programs and
// log searches may rely on them.
type WarningCode string

// What [Explain] warns of.
const (
	// WarnBroken: the filter could not be built.
	WarnBroken WarningCode = "broken-filter"
	// WarnNeverMatches: the conditions on the keys contradict each other.
	WarnNeverMatches WarningCode = "never-matches"
	// WarnOrOfRowKeys: row keys joined by or, for which the service reads all
	// of the partition, or of the table.
	WarnOrOfRowKeys WarningCode = "or-of-row-keys"
	// WarnOrOfPartitionKeys: partition keys joined by or, for which the service
	// reads the table.
	WarnOrOfPartitionKeys WarningCode = "or-of-partition-keys"
	// WarnTooManyComparisons: more comparisons in one filter text than the
	// service takes.
	WarnTooManyComparisons WarningCode = "too-many-comparisons"
	// WarnUnboundedProperty: a condition on a property, and none on the
	// partition key that would bound what is read.
	WarnUnboundedProperty WarningCode = "unbounded-property"
	// WarnUnboundedKeys: no condition bounds the partition keys on both sides.
	WarnUnboundedKeys WarningCode = "unbounded-keys"
	// WarnPrefixSiblings: a range of keys that covers rows of other types, or of
	// longer ids.
	WarnPrefixSiblings WarningCode = "prefix-covers-siblings"
	// WarnNotEqual: a ne, which no index helps.
	WarnNotEqual WarningCode = "not-equal"
	// WarnNotMatchesMissing: a not over a property, which lets rows without the
	// property through.
	WarnNotMatchesMissing WarningCode = "not-matches-missing"
	// WarnUnknownProperty: a property that the schema does not have.
	WarnUnknownProperty WarningCode = "unknown-property"
	// WarnTypeMismatch: a literal of another type than the property.
	WarnTypeMismatch WarningCode = "type-mismatch"
	// WarnInt64WithoutL: an Int32 literal for an Int64 property.
	WarnInt64WithoutL WarningCode = "int64-without-l"
	// WarnTooComplex: the filter was not rewritten, since that would give too
	// many pieces.
	WarnTooComplex WarningCode = "too-complex"
)

// A Warning is one thing that makes a filter slow, or wrong. It holds no value.
type Warning struct {
	Code     WarningCode
	Property string // the property it is about; "" for the filter as a whole
	Problem  string // one clause
	Remedy   string // one sentence
	Solved   bool   // the rewriting does away with it: it holds for the text only
}

// String is the warning in one line.
func (w Warning) String() string {
	var b strings.Builder
	b.WriteString(string(w.Code))
	if w.Solved {
		b.WriteString(" (solved by the rewriting)")
	}
	b.WriteString(": ")
	if w.Property != "" && !isKey(w.Property) {
		b.WriteString(quoteName(w.Property) + ": ")
	}
	b.WriteString(w.Problem + ". " + w.Remedy)
	return b.String()
}
