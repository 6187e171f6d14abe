package fetch_test

import (
	"github.com/azpatterns/azpatterns/keys"
)

// counter is a row whose content does not show which client wrote it.
type counter struct {
	Name  string `table:"PartitionKey"`
	Shard string `table:"RowKey"`
	N     int64
}

var tally = keys.Key{Partition: "hits", Row: "0"}

func (c counter) Key() keys.Key { return keys.Key{Partition: c.Name, Row: c.Shard} }
