package query_test

import (
	"fmt"

	"github.com/azpatterns/azpatterns/query"
)

var sales = query.PartitionKey.Eq("Sales")

// staff is the schema of the rows in the examples.
var staff = &query.ExplainOptions{Schema: query.Schema{
	"LastName": query.String, "Age": query.Int32, "Salary": query.Int64,
}}

func printWarnings(p query.Plan) {
	for _, w := range p.Warnings {
		fmt.Println(w)
	}
}

func ExampleWarning_broken() {
	f := query.Prop("Last Name").Eq("Jones")
	printWarnings(query.Explain(f))
	// Output:
	// broken-filter: property "Last Name": the name contains a character that is not allowed in an identifier. Check the error of Filter.Err.
}

func ExampleWarning_neverMatches() {
	f := query.And(sales, query.RowKey.Eq("000123"), query.RowKey.Eq("000124"))
	printWarnings(query.Explain(f))
	// Output:
	// never-matches: no keys satisfy the filter. Look for a key compared with two different values, a lower bound above the upper one, or a literal that is not a string.
}

func ExampleWarning_orOfRowKeys() {
	f := query.RowKey.In("121", "322")
	printWarnings(query.Explain(f))
	// Output:
	// or-of-row-keys: an or of row keys without the partition key reads every partition. Select the partition with PartitionKey eq, so that each row is read by its key.
	// unbounded-keys: the partition keys have no lower or no upper bound. Select the partition with PartitionKey eq, or specify both ends of a range.
}

func ExampleWarning_orOfPartitionKeys() {
	f := query.Or(sales, query.PartitionKey.Eq("Marketing"))
	printWarnings(query.Explain(f))
	// Output:
	// or-of-partition-keys (solved by rewriting): sent unchanged, an or of partition keys reads the whole table. Send one query per partition, as the rewriting does.
}

func ExampleWarning_tooManyComparisons() {
	f := query.And(sales, query.Prop("Grade").In(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
	printWarnings(query.Explain(f))
	// Output:
	// too-many-comparisons: 16 comparisons in one request, and the service rejects more than 15. Add conditions on the keys, so that the filter can be divided, or send several queries and merge the results.
}

func ExampleWarning_unboundedProperty() {
	f := query.Prop("LastName").Eq("Jones")
	printWarnings(query.Explain(f))
	// Output:
	// unbounded-property: "LastName": only the keys are indexed, and no condition on the partition key limits the rows to read. Select the partition with PartitionKey eq, or maintain an index on the property.
}

func ExampleWarning_unboundedKeys() {
	f := query.Filter{}
	printWarnings(query.Explain(f))
	// Output:
	// unbounded-keys: the partition keys have no lower or no upper bound. Select the partition with PartitionKey eq, or specify both ends of a range.
}

func ExampleWarning_prefixSiblings() {
	f := query.And(sales, query.RowKey.Prefix("empid"))
	printWarnings(query.Explain(f))
	// Output:
	// prefix-covers-siblings: a prefix without its separator also matches rows of other types with longer names. End the prefix with the separator, as in "empid_".
}

func ExampleWarning_notEqual() {
	f := query.And(sales, query.Prop("LastName").Ne("Jones"))
	printWarnings(query.Explain(f))
	// Output:
	// not-equal: "LastName": no index supports ne: the service also reads the rows that it excludes. Select the values that you want, with eq or a range.
}

func ExampleWarning_notMatchesMissing() {
	f := query.And(sales, query.Not(query.Prop("Age").Lt(int32(30))))
	printWarnings(query.Explain(f))
	// Output:
	// not-matches-missing: "Age": not also matches every row without the property, or with another type of value. Use the opposite comparison, such as ge for not lt, unless you want those rows.
}

func ExampleWarning_unknownProperty() {
	f := query.And(sales, query.Prop("Lastname").Eq("Jones"))
	printWarnings(query.ExplainWith(f, staff))
	// Output:
	// unknown-property: "Lastname": the schema does not contain the property, and a missing property never matches. Check the spelling; names are case-sensitive.
}

func ExampleWarning_typeMismatch() {
	f := query.And(sales, query.Prop("Age").Ge(30))
	printWarnings(query.ExplainWith(f, staff))
	// Output:
	// type-mismatch: "Age": the property is of type Int32, the literal of type Int64, and values of different types never match. Write the literal in the type of the property.
}

func ExampleWarning_int64WithoutL() {
	f := query.And(sales, query.Prop("Salary").Ge(int32(50_000)))
	printWarnings(query.ExplainWith(f, staff))
	// Output:
	// int64-without-l: "Salary": the property is an Int64, the literal an Int32, and values of different types never match. End the number with L, or pass an int64 in Go.
}

func ExampleWarning_tooComplex() {
	var hundreds []any
	for i := range 400 {
		hundreds = append(hundreds, fmt.Sprint(i))
	}
	f := query.And(query.PartitionKey.In(hundreds...), query.RowKey.In(hundreds...))
	fmt.Println(query.Explain(f).Warnings[0])
	// Output:
	// too-complex: the conditions on the two keys have too many combinations to rewrite the filter. Send a separate query for each combination.
}

// The mistake of the design guide: row keys without a partition key.
func ExampleExplain_scan() {
	f, err := query.Parse("RowKey eq '121' or RowKey eq '322'")
	fmt.Println(query.Explain(f))
	fmt.Println(err)
	// Output:
	// TableScan  (requests at least 1, comparisons 2)
	//   ->  TableScan      RowKey eq ? or RowKey eq ?
	//   Warning or-of-row-keys: an or of row keys without the partition key reads every partition. Select the partition with PartitionKey eq, so that each row is read by its key.
	//   Warning unbounded-keys: the partition keys have no lower or no upper bound. Select the partition with PartitionKey eq, or specify both ends of a range.
	// <nil>
}
