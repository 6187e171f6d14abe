package auth

import "github.com/azpatterns/azpatterns/keys"

// KeyRange is the part of a table that a service SAS permits: the entities from the
// first pair of keys to the last, both inclusive, in the order (PartitionKey, RowKey)
// of the table. It is not a rectangle: a row key restricts only the partition of the
// same pair. "" means no bound. The zero KeyRange is the whole table.
type KeyRange struct {
	StartPartition, StartRow string
	EndPartition, EndRow     string
}

// All reports whether k is the whole table.
func (k KeyRange) All() bool { return k == KeyRange{} }

// Contains reports whether the entity with these keys is in the range.
func (k KeyRange) Contains(partitionKey, rowKey string) bool {
	if k.StartPartition != "" {
		c := keys.Compare(partitionKey, k.StartPartition)
		if c < 0 || c == 0 && k.StartRow != "" && keys.Compare(rowKey, k.StartRow) < 0 {
			return false
		}
	}
	if k.EndPartition != "" {
		c := keys.Compare(partitionKey, k.EndPartition)
		if c > 0 || c == 0 && k.EndRow != "" && keys.Compare(rowKey, k.EndRow) > 0 {
			return false
		}
	}
	return true
}
