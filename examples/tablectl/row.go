package main

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// properties are the properties of a row without its keys. The value of each has the Go type of
// its property type: string, bool, int32, int64, float64, time.Time, []byte or [16]byte.
type properties map[string]any

// stored is a row as package patterns reads and writes it. The options of the tag keep every
// property, also those that a Store adds.
type stored struct {
	Properties map[string]any `table:",bag,reserved"`
}

// row is a row of a table or of a file.
type row struct {
	key        keys.Key
	properties properties
}

// Lookup makes row a [query.Row].
func (r *row) Lookup(name string) (any, bool) {
	switch name {
	case query.PartitionKey.Name():
		return r.key.Partition, true
	case query.RowKey.Name():
		return r.key.Row, true
	}
	v, ok := r.properties[name]
	return v, ok
}

// size returns about how many bytes of memory the values take.
func (r *row) size() int {
	n := len(r.key.Partition) + len(r.key.Row)
	for name, v := range r.properties {
		n += len(name) + 16
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}

func openTable(client *aztables.Client) (*patterns.Table[stored], error) {
	return patterns.NewTable(client, &patterns.TableOptions[stored]{Keyless: true})
}

func rowOf(item *patterns.Item[stored]) row { return row{item.Key, item.Value.Properties} }

func compareKeys(a, b keys.Key) int {
	return cmp.Or(keys.Compare(a.Partition, b.Partition), keys.Compare(a.Row, b.Row))
}

// equal reports whether two values have the same type and content. NaN is equal to NaN, and 0
// differs from -0.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b)
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && a == b
}

// guidText returns the text of an Edm.Guid.
func guidText(g [16]byte) string {
	h := hex.EncodeToString(g[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
