package pages

import (
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// After returns a filter of the rows that f matches and that follow key, f if that is nil.
func After(f query.Filter, key *keys.Key) query.Filter {
	if key == nil {
		return f
	}
	return query.And(f, query.Or(
		query.And(query.PartitionKey.Eq(key.Partition), query.RowKey.Gt(key.Row)),
		query.PartitionKey.Gt(key.Partition)))
}
