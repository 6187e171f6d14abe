package query_test

import (
	"fmt"

	"github.com/azpatterns/azpatterns/query"
)

func ExampleClass_point() {
	fmt.Println(query.Explain(query.And(query.PartitionKey.Eq("Sales"), query.RowKey.Eq("000123"))))
	// Output:
	// Point  (requests at least 1, comparisons 2)
	//   ->  Point          PartitionKey eq ? and RowKey eq ?
}

func ExampleClass_rowRange() {
	fmt.Println(query.Explain(query.And(query.PartitionKey.Eq("Sales"), query.RowKey.Prefix("empid_"))))
	// Output:
	// RowRange  (requests at least 1, comparisons 3)
	//   ->  RowRange       PartitionKey eq ? and RowKey ge ? and RowKey lt ?
}

func ExampleClass_partitionScan() {
	fmt.Println(query.Explain(query.And(query.PartitionKey.Eq("Sales"), query.Prop("LastName").Eq("Jones"))))
	// Output:
	// PartitionScan  (requests at least 1, comparisons 2)
	//   ->  PartitionScan  PartitionKey eq ? and LastName eq ?
}

func ExampleClass_partitionRange() {
	fmt.Println(query.Explain(query.PartitionKey.Range("2026-01", "2026-03")))
	// Output:
	// PartitionRange  (requests at least 1, comparisons 2)
	//   ->  PartitionRange PartitionKey ge ? and PartitionKey lt ?
}

func ExampleClass_tableScan() {
	fmt.Println(query.Explain(query.PartitionKey.Ge("2026-01")))
	// Output:
	// TableScan  (requests at least 1, comparisons 1)
	//   ->  TableScan      PartitionKey ge ?
	//   Warning unbounded-keys: the partition keys have no lower or no upper bound. Select the partition with PartitionKey eq, or specify both ends of a range.
}

// The plan has one read for each partition, so no rows between them are read.
func ExamplePlan_Reads() {
	f := query.And(query.PartitionKey.In("Sales", "Marketing"), query.RowKey.Prefix("empid_"))
	for _, r := range query.Explain(f).Reads() {
		fmt.Println(r.Class, r.Filter)
	}
	// Output:
	// RowRange PartitionKey eq 'Marketing' and RowKey ge 'empid_' and RowKey lt 'empid`'
	// RowRange PartitionKey eq 'Sales' and RowKey ge 'empid_' and RowKey lt 'empid`'
}
