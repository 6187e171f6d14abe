package fetch_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// thing is a row for random filters. A nil A or B is not stored.
type thing struct {
	PartitionKey, RowKey string
	A                    *int32
	B                    *string
}

func (v thing) Key() keys.Key { return keys.Key{Partition: v.PartitionKey, Row: v.RowKey} }

// Lookup makes thing a query.Row.
func (v thing) Lookup(name string) (any, bool) {
	switch {
	case name == "PartitionKey":
		return v.PartitionKey, true
	case name == "RowKey":
		return v.RowKey, true
	case name == "A" && v.A != nil:
		return *v.A, true
	case name == "B" && v.B != nil:
		return *v.B, true
	}
	return nil, false
}

// fewTexts are close to each other, so that filters match rows.
var fewTexts = []string{"", "a", "a ", "aa", "ab", "b", "b_", "ba", "c", "\uFFFD", "😀", "a'b"}

var (
	keyText   = rapid.SampledFrom(fewTexts)
	someThing = rapid.Custom(func(t *rapid.T) thing {
		v := thing{PartitionKey: keyText.Draw(t, "pk"), RowKey: keyText.Draw(t, "rk")}
		v.A = rapid.Ptr(rapid.Int32Range(0, 2), true).Draw(t, "A")
		v.B = rapid.Ptr(rapid.SampledFrom([]string{"x", "y"}), true).Draw(t, "B")
		return v
	})
	someThings = rapid.Custom(func(t *rapid.T) []thing {
		least := rapid.SampledFrom([]int{50, 20, 80, 0, 100}).Draw(t, "at least")
		return rapid.SliceOfNDistinct(someThing, least, 120, thing.Key).Draw(t, "things")
	})
)

// anyFilter draws filters of every shape; half of them select partitions and rows.
func anyFilter(t *rapid.T) query.Filter {
	depth := rapid.SampledFrom([]int{2, 1, 3, 0}).Draw(t, "depth")
	if rapid.SampledFrom([]bool{false, true}).Draw(t, "any shape") {
		return someFilter(t, depth)
	}
	some := func(p query.Property) query.Filter {
		n := rapid.SampledFrom([]int{3, 6, 1, 9}).Draw(t, "named")
		return p.In(rapid.SliceOfN(keyText.AsAny(), n, n).Draw(t, "keys")...)
	}
	f := some(query.PartitionKey)
	switch rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "rows") {
	case 0:
		f = query.And(f, some(query.RowKey))
	case 1:
		f = query.And(f, query.RowKey.Range(keyText.Draw(t, "from"), keyText.Draw(t, "to")))
	case 2:
		f = query.Or(query.And(f, query.RowKey.Prefix("a")), query.And(some(query.PartitionKey), some(query.RowKey)))
	}
	if rapid.SampledFrom([]bool{false, true}).Draw(t, "more") {
		f = query.And(f, someFilter(t, 1))
	}
	return f
}

// someFilter draws filters of things, as many on keys as on properties.
func someFilter(t *rapid.T, depth int) query.Filter {
	if depth > 0 {
		kids := func() []query.Filter {
			fs := make([]query.Filter, rapid.IntRange(1, 4).Draw(t, "kids"))
			for i := range fs {
				fs[i] = someFilter(t, depth-1)
			}
			return fs
		}
		switch rapid.IntRange(0, 4).Draw(t, "node") {
		case 0, 1:
			return query.And(kids()...)
		case 2:
			return query.Or(kids()...)
		case 3:
			return query.Not(someFilter(t, depth-1))
		}
	}
	if rapid.Bool().Draw(t, "property") {
		if rapid.Bool().Draw(t, "A") {
			return comparison(t, query.Prop("A"), rapid.Int32Range(0, 2).AsAny())
		}
		return comparison(t, query.Prop("B"), rapid.SampledFrom([]string{"x", "y"}).AsAny())
	}
	p := query.PartitionKey
	if rapid.Bool().Draw(t, "row") {
		p = query.RowKey
	}
	switch rapid.IntRange(0, 3).Draw(t, "key condition") {
	case 0:
		return p.In(rapid.SliceOfN(keyText.AsAny(), 0, 5).Draw(t, "in")...)
	case 1:
		return p.Prefix(keyText.Draw(t, "prefix"))
	}
	return comparison(t, p, keyText.AsAny())
}

func comparison(t *rapid.T, p query.Property, value *rapid.Generator[any]) query.Filter {
	ops := []func(any) query.Filter{p.Eq, p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge}
	return rapid.SampledFrom(ops).Draw(t, "op")(value.Draw(t, "value"))
}

var emptyPages = storagetest.On("Table.Query").EmptyPage()

// pageFaults end pages early in all ways.
var pageFaults = []storagetest.Rule{
	storagetest.On("Table.Query").EmptyPage(),
	storagetest.On("Table.Query").EmptyPage().Probability(0.4),
	storagetest.On("Table.Query").ShortPage(1),
	storagetest.On("Table.Query").ShortPage(3).Probability(0.5),
	storagetest.On("Table.Query").CutPage(1),
	storagetest.On("Table.Query").CutPage(4),
	storagetest.On("Table.Query").BoundaryPage(),
}

// storeThings stores things in a new table of an account with random faults.
func storeThings(t testing.TB, rt *rapid.T, things []thing) (*storagetest.Account, *aztables.Client) {
	acct := storagetest.Start(&storagetest.Options{Seed: 1})
	opts := &aztables.ClientOptions{}
	if rapid.Bool().Draw(rt, "accelerated") {
		patterns.Accelerate(&opts.ClientOptions)
	}
	client := acct.TablesWith(opts).NewClient("Things")
	assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
	table := harness.NewTable[thing](t, client, nil)
	for i := range things {
		harness.Insert(t, table, things[i])
	}
	acct.Fault(rapid.SliceOfN(rapid.SampledFrom(pageFaults), 0, 2).Draw(rt, "faults")...)
	acct.ResetLog()
	return acct, client
}

// matching returns the keys of the things that match f, in the order of the service.
func matching(things []thing, f query.Filter) (out []keys.Key) {
	for _, v := range things {
		if f.Match(v) {
			out = append(out, v.Key())
		}
	}
	slices.SortFunc(out, keys.Key.Compare)
	return out
}

func keysOf[T any](items []patterns.Item[T]) []keys.Key {
	out := make([]keys.Key, len(items))
	for i := range items {
		out[i] = items[i].Key
	}
	return out
}

func TestQueryReturnsTheRowsOfTheFilterInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		things := someThings.Draw(rt, "things")
		acct, client := storeThings(t, rt, things)
		table := harness.NewTable[thing](t, client, nil)
		f := anyFilter(rt)
		opts := &patterns.QueryOptions{
			Allow:    query.TableScan,
			Parallel: rapid.SampledFrom([]int{0, 1, 8}).Draw(rt, "parallel"),
			PageSize: rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(rt, "page size"),
			Limit:    rapid.SampledFrom([]int{0, 0, 1, 5, 100}).Draw(rt, "limit"),
		}
		if rapid.Bool().Draw(rt, "projected") {
			opts.Select = []string{"A"}
		}
		want := matching(things, f)
		if opts.Limit > 0 {
			want = want[:min(len(want), opts.Limit)]
		}
		var got []keys.Key
		for item, err := range table.Query(t.Context(), f, opts) {
			if errors.Is(err, patterns.ErrTooLarge) {
				return // more comparisons than the service accepts
			}
			assert.NoError(rt, err)
			got = append(got, item.Key)
		}
		assert.EqualSlices(assert.Now(rt), got, want, f, "returns", "requests", acct.Log())
	})
}
