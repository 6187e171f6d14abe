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

// texts are the problems and remedies of the warnings whose texts depend only on the code.
var texts = map[WarningCode]struct{ problem, remedy string }{
	WarnNeverMatches: {"no keys satisfy the filter",
		"Look for a key compared with two different values, a lower bound above the upper one, or a literal that is not a string."},
	WarnOrOfRowKeys: {"sent unchanged, an or of row keys reads the whole partition",
		"Read each row by its key, as the rewriting does."},
	WarnOrOfPartitionKeys: {"sent unchanged, an or of partition keys reads the whole table",
		"Send one query per partition, as the rewriting does."},
	WarnUnboundedProperty: {"only the keys are indexed, and no condition on the partition key limits the rows to read",
		"Select the partition with PartitionKey eq, or maintain an index on the property."},
	WarnUnboundedKeys: {"the partition keys have no lower or no upper bound",
		"Select the partition with PartitionKey eq, or specify both ends of a range."},
	WarnPrefixSiblings: {"a prefix without its separator also matches rows of other types with longer names",
		`End the prefix with the separator, as in "empid_".`},
	WarnNotEqual: {"no index supports ne: the service also reads the rows that it excludes",
		"Select the values that you want, with eq or a range."},
	WarnNotMatchesMissing: {"not also matches every row without the property, or with another type of value",
		"Use the opposite comparison, such as ge for not lt, unless you want those rows."},
	WarnUnknownProperty: {"the schema does not contain the property, and a missing property never matches",
		"Check the spelling; names are case-sensitive."},
	WarnTypeMismatch: {"", "Write the literal in the type of the property."},
	WarnInt64WithoutL: {"the property is an Int64, the literal an Int32, and values of different types never match",
		"End the number with L, or pass an int64 in Go."},
	WarnTooComplex: {"the conditions on the two keys have too many combinations to rewrite the filter",
		"Send a separate query for each combination."},
}

// newWarning returns the warning of a code with its texts.
func newWarning(code WarningCode, property string) Warning {
	return Warning{Code: code, Property: property, Problem: texts[code].problem, Remedy: texts[code].remedy}
}

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
