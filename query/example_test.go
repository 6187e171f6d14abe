package query_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/query"
)

// The example of the design guide: two employees of one department. If the filter is
// sent unchanged, the service reads the whole department. Rewritten, it is two point
// reads.
func ExampleExplain() {
	f, err := query.Parse("PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322')")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := query.Explain(f)
	fmt.Println(plan)
	for _, r := range plan.Reads() {
		fmt.Println(r.Point, r.Key.Partition, r.Key.Row)
	}
	// Output:
	// Point  (requests at least 2, comparisons 3, without rewriting PartitionScan)
	//   ->  Point          PartitionKey eq ? and RowKey eq ?  × 2
	//   Warning or-of-row-keys (solved by rewriting): sent unchanged, an or of row keys reads the whole partition. Read each row by its key, as the rewriting does.
	// true Sales 121
	// true Sales 322
}

func ExampleFilter_String() {
	f := query.And(
		query.PartitionKey.Eq("Sales"),
		query.RowKey.Prefix("email_a"),
		query.Prop("Age").Ge(int32(30)),
		query.Prop("LastName").Ne("O'Brien"),
	)
	fmt.Println(f)
	// Output:
	// PartitionKey eq 'Sales' and RowKey ge 'email_a' and RowKey lt 'email_b' and Age ge 30 and LastName ne 'O''Brien'
}

// The literal depends on the Go type of the value.
func ExampleProperty_Eq() {
	p := query.Prop("X")
	for _, f := range []query.Filter{
		p.Eq("text"),
		p.Eq(int32(5)),
		p.Eq(int64(5)),
		p.Eq(5.0),
		p.Eq(true),
		p.Eq(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		p.Eq([]byte{0, 255}),
		p.Eq([16]byte{15: 1}),
	} {
		fmt.Println(f)
	}
	fmt.Println(p.Eq(new(int)).Err())
	// Output:
	// X eq 'text'
	// X eq 5
	// X eq 5L
	// X eq 5.0
	// X eq true
	// X eq datetime'2026-01-02T03:04:05.0000000Z'
	// X eq X'00ff'
	// X eq guid'00000000-0000-0000-0000-000000000001'
	// query: property "X": a pointer cannot be compared; pass the value it points to
}

func ExampleParse() {
	f, err := query.Parse("30 lt Age and not Retired")
	fmt.Println(f, err)

	_, err = query.Parse("PartitionKey eq 'Sales' and startswith(LastName, 'B')")
	fmt.Println(err)
	// Output:
	// Age gt 30 and not (Retired eq true) <nil>
	// query: offset 28: the service has no functions in a filter
}

func ExampleFilter_Match() {
	row := query.Values{"PartitionKey": "Sales", "RowKey": "000123", "Age": int32(34)}
	fmt.Println(query.Prop("Age").Ge(int32(30)).Match(row))
	fmt.Println(query.Prop("Age").Ge(int64(30)).Match(row)) // another type
	fmt.Println(query.Prop("Salary").Ne(int32(1)).Match(row))
	fmt.Println(query.Not(query.Prop("Salary").Eq(int32(1))).Match(row))
	// Output:
	// true
	// false
	// false
	// true
}

func ExampleFilter_Check() {
	schema := query.Schema{"Age": query.Int32, "Salary": query.Int64}
	fmt.Println(query.Prop("Age").Ge(30).Check(schema))
	fmt.Println(query.Prop("age").Ge(int32(30)).Check(schema))
	// Output:
	// query: property "Age": the property is of type Int32, the literal of type Int64; values of different types never match
	// query: property "age": not in the schema; names are case-sensitive
}

func ExamplePlan_Check() {
	plan := query.Explain(query.Prop("LastName").Eq("Jones"))
	err := plan.Check(0)
	fmt.Println(err)
	fmt.Println(errors.Is(err, query.ErrScan))
	fmt.Println(plan.Check(query.TableScan))
	// Output:
	// query: refused: the filter is a TableScan, at most PartitionRange is allowed: Select the partition with PartitionKey eq, or maintain an index on the property.
	// true
	// <nil>
}
