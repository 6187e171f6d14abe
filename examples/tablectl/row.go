package main

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// properties are the properties of a row without its keys. The Go type of each value determines the
// type of the property: string, bool, int32, int64, float64, time.Time, []byte or [16]byte.
type properties = map[string]any

// stored is a row as package patterns reads and writes it. The tag keeps every property, also those
// that a Store adds.
type stored struct {
	Properties properties `table:",bag,reserved"`
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

func openTable(client *aztables.Client) (*patterns.Table[stored], error) {
	return patterns.NewTable(client, &patterns.TableOptions[stored]{Keyless: true})
}

func compareKeys(a, b keys.Key) int {
	return cmp.Or(keys.Compare(a.Partition, b.Partition), keys.Compare(a.Row, b.Row))
}

// different returns the properties of from that to does not have, or not with the same type and value.
func different(from, to properties) properties {
	d := properties{}
	for name, v := range from {
		if !equal(v, to[name]) {
			d[name] = v
		}
	}
	return d
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
