package query

import "github.com/azpatterns/azpatterns/keys"

// A Class describes how much of a table the service has to read for a filter. Classes
// are ordered by cost, so they can be compared with <. The zero Class is not a valid
// class.
//
// See https://learn.microsoft.com/azure/storage/tables/table-storage-design-for-query#how-your-choice-of-partitionkey-and-rowkey-affects-query-performance
type Class int

const (
	// Point: the filter selects one partition key and one row key. The service reads
	// one row, by its index on the keys.
	Point Class = iota + 1
	// RowRange: the filter selects one partition key, and a lower or upper bound for
	// the row key. The service reads a part of one partition.
	RowRange
	// PartitionScan: the filter selects one partition key and has no bound for the row
	// key. The service reads the whole partition.
	PartitionScan
	// PartitionRange: the filter has a lower and an upper bound for the partition key.
	// The service reads all rows of an unknown number of partitions.
	PartitionRange
	// TableScan: the filter lacks a lower or an upper bound for the partition key. The
	// service reads the whole table, or all of it on one side of the bound.
	TableScan
)

// String returns the name of the constant.
func (c Class) String() string {
	if c < Point || c > TableScan {
		return "no class"
	}
	return classNames[c]
}

var classNames = [...]string{
	Point: "Point", RowRange: "RowRange", PartitionScan: "PartitionScan", PartitionRange: "PartitionRange", TableScan: "TableScan",
}

// classOf returns the class of a read of the rows whose keys are in both ranges.
func classOf(partition, row keys.Range) Class {
	switch {
	case isOne(partition) && isOne(row):
		return Point
	case isOne(partition) && row != (keys.Range{}):
		return RowRange
	case isOne(partition):
		return PartitionScan
	case partition.From != "" && partition.To != "":
		return PartitionRange
	}
	return TableScan
}
