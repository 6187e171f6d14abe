package query

import "github.com/azpatterns/azpatterns/keys"

// A Class says how much of a table the service has to read for a filter. The
// classes are ordered by cost, so that two can be compared with <. The zero
// Class is none of them.
//
// See https://learn.microsoft.com/azure/storage/tables/table-storage-design-for-query#how-your-choice-of-partitionkey-and-rowkey-affects-query-performance
type Class int

const (
	// Point names both keys: one row, found by the only index there is.
	Point Class = iota + 1
	// RowRange names the partition and bounds the row keys, on one side at
	// least: a part of one partition.
	RowRange
	// PartitionScan names the partition only: all of it is read.
	PartitionScan
	// PartitionRange bounds the partition keys on both sides: all rows of an
	// unknown number of partitions are read.
	PartitionRange
	// TableScan bounds the partition keys on one side or not at all: the whole
	// table is read, or as much as there is beyond the bound.
	TableScan
)

// String gives the name of the constant.
func (c Class) String() string {
	switch c {
	case Point:
		return "Point"
	case RowRange:
		return "RowRange"
	case PartitionScan:
		return "PartitionScan"
	case PartitionRange:
		return "PartitionRange"
	case TableScan:
		return "TableScan"
	}
	return "no class"
}

// classOf gives the class of a read of the rows whose keys lie in both ranges.
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
