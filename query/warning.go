package query

import "strings"

// A WarningCode identifies a kind of warning. The codes are stable: programs and log
// queries can depend on them.
type WarningCode string

// The warnings of [Explain].
const (
	// WarnBroken: the filter could not be built.
	WarnBroken WarningCode = "broken-filter"
	// WarnNeverMatches: the conditions on the keys contradict each other.
	WarnNeverMatches WarningCode = "never-matches"
	// WarnOrOfRowKeys: row keys are joined by or, so the service reads the whole
	// partition, or the whole table.
	WarnOrOfRowKeys WarningCode = "or-of-row-keys"
	// WarnOrOfPartitionKeys: partition keys are joined by or, so the service reads the
	// whole table.
	WarnOrOfPartitionKeys WarningCode = "or-of-partition-keys"
	// WarnTooManyComparisons: the filter has more comparisons than the service accepts.
	WarnTooManyComparisons WarningCode = "too-many-comparisons"
	// WarnUnboundedProperty: the filter has a condition on a property, but none on the
	// partition key that limits the rows to read.
	WarnUnboundedProperty WarningCode = "unbounded-property"
	// WarnUnboundedKeys: the partition keys have no lower or no upper bound.
	WarnUnboundedKeys WarningCode = "unbounded-keys"
	// WarnPrefixSiblings: a range of keys also contains rows of other types. Without
	// [ExplainOptions.Siblings] that is assumed of a prefix that may be the name of a type,
	// such as "empid": more than one character, no separator, and no digit at its end.
	WarnPrefixSiblings WarningCode = "prefix-covers-siblings"
	// WarnNotEqual: the filter has a ne, which no index supports.
	WarnNotEqual WarningCode = "not-equal"
	// WarnNotMatchesMissing: the filter has a not of a condition on a property, which
	// also matches rows without the property.
	WarnNotMatchesMissing WarningCode = "not-matches-missing"
	// WarnUnknownProperty: the schema does not contain a property.
	WarnUnknownProperty WarningCode = "unknown-property"
	// WarnTypeMismatch: a literal has another type than the property.
	WarnTypeMismatch WarningCode = "type-mismatch"
	// WarnInt64WithoutL: an Int64 property is compared with an Int32 literal.
	WarnInt64WithoutL WarningCode = "int64-without-l"
	// WarnTooComplex: the filter was not rewritten, because the result would be too
	// large.
	WarnTooComplex WarningCode = "too-complex"
)

// A Warning is a problem that makes a filter slow or wrong. It contains no value.
type Warning struct {
	Code     WarningCode
	Property string // name of the property; "" if the warning is about the whole filter
	Problem  string // one clause
	Remedy   string // one sentence
	Solved   bool   // whether the reads of the plan avoid the problem
}

// String returns the warning in one line.
func (w Warning) String() string {
	var b strings.Builder
	b.WriteString(string(w.Code))
	if w.Solved {
		b.WriteString(" (solved by rewriting)")
	}
	b.WriteString(": ")
	if w.Property != "" && !isKey(w.Property) {
		b.WriteString(quoteName(w.Property) + ": ")
	}
	b.WriteString(w.Problem + ". " + w.Remedy)
	return b.String()
}
