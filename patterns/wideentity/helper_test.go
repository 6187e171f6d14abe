package wideentity_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// properties is an entity with any properties.
type properties = map[string]any

// open returns a table whose entities have the key that keyed has set, otherwise year.
func open[T any](t testing.TB, client *aztables.Client, opts *wideentity.Options[T]) *wideentity.Table[T] {
	t.Helper()
	o := *cmp.Or(opts, &wideentity.Options[T]{})
	o.Key = func(v *T) (keys.Key, error) {
		m, _ := any(*v).(properties)
		if partition, ok := m["PartitionKey"].(string); ok {
			return keys.Key{Partition: partition, Row: m["RowKey"].(string)}, nil
		}
		return year, nil
	}
	table, err := wideentity.New(client, &o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var year = keys.Key{Partition: "Sales", Row: "000123"}

// keyed returns a copy of an entity with that key.
func keyed(key keys.Key, v *properties) *properties {
	m := maps.Clone(*v)
	if m == nil {
		m = properties{}
	}
	m["PartitionKey"], m["RowKey"] = key.Partition, key.Row
	return &m
}

// mergeAny merges properties into any version of an entity.
func mergeAny[T any](ctx context.Context, table *wideentity.Table[T], key keys.Key, v *T, properties ...string) error {
	_, err := table.Merge(ctx, wideentity.Item[T]{Key: key, ETag: azcore.ETagAny, Value: *v}, properties...)
	return err
}

// days returns an entity of n counts: Day00001 is 1, and so on.
func days(n int) properties {
	b := properties{}
	for i := 1; i <= n; i++ {
		b[dayName(i)] = int32(i)
	}
	return b
}

func dayName(i int) string { return fmt.Sprintf("Day%05d", i) }

// without returns b without the entries for keys that reading adds.
func without(b properties) properties {
	b = maps.Clone(b)
	delete(b, "PartitionKey")
	delete(b, "RowKey")
	return b
}

func wantProperties(t testing.TB, got, want properties) {
	t.Helper()
	got = without(got)
	if len(got) != len(want) {
		t.Errorf("%d properties, want %d", len(got), len(want))
	}
	for name, w := range want {
		if !same(got[name], w) {
			t.Fatalf("property %s differs: %.40v, want %.40v", name, got[name], w)
		}
	}
}

func same(x, y any) bool {
	if b, ok := x.([]byte); ok {
		c, ok := y.([]byte)
		return ok && bytes.Equal(b, c)
	}
	return x == y
}

// noise returns n bytes, the same for each call.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// text returns n UTF-16 units, some of them surrogate pairs, some escaped in JSON.
func text(n int) string {
	const some = "abc\"\\\u0001é😀" // 9 units
	return strings.Repeat(some, n/9) + strings.Repeat("x", n%9)
}

// rawRows counts the rows of the table.
func rawRows(t testing.TB, b *harness.Backend, client *aztables.Client) int {
	t.Helper()
	n := len(harness.Rows(t, client))
	b.ResetRequests()
	return n
}

func wideKey(id string) keys.Key { return keys.Key{Partition: year.Partition, Row: id} }

// hashOf is the documented part of a property, from 0.
func hashOf(name string, parts int) int {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return int((h>>32 ^ h) & 0xFFFFFFFF % uint64(parts))
}

// written counts the rows that the requests wrote.
func written(b *harness.Backend) int {
	n := 0
	for _, q := range b.Requests() {
		n += q.Written
	}
	return n
}

// sweepNow sweeps one entity, including the rows of writes in progress.
func sweepNow(t testing.TB, table *wideentity.Table[properties], key keys.Key) patterns.SweepReport {
	t.Helper()
	wideentity.SetOld(table)
	return assert.Must(table.Sweep(t.Context(), &patterns.SweepOptions{Partitions: []string{key.Partition}}))(t)
}
