package patterns_test

import (
	"errors"
	"iter"
	"net/http"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

var emptyPages = fault.On("Table.Query").EmptyPage()

// collect gives all items and fails on an error.
func collect[T any](t testing.TB, items iter.Seq2[patterns.Item[T], error]) (out []patterns.Item[T]) {
	t.Helper()
	for item, err := range items {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
	}
	return out
}

func keysOf[T any](items []patterns.Item[T]) []keys.Key {
	out := make([]keys.Key, len(items))
	for i := range items {
		out[i] = items[i].Key
	}
	return out
}

// thing is a row for random filters. A zero A or B is no property.
type thing struct {
	PartitionKey, RowKey string
	A                    *int32
	B                    *string
}

func (v thing) key() keys.Key { return keys.Key{Partition: v.PartitionKey, Row: v.RowKey} }

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

// few texts, near each other, so that filters meet rows.
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
		return rapid.SliceOfNDistinct(someThing, least, 120, thing.key).Draw(t, "things")
	})
)

// anyFilter draws filters of every shape, half of them such that name partitions and
// rows.
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
		f = query.And(f, query.RowKey.Between(keyText.Draw(t, "from"), keyText.Draw(t, "to")))
	case 2:
		f = query.Or(query.And(f, query.RowKey.Prefix("a")), query.And(some(query.PartitionKey), some(query.RowKey)))
	}
	if rapid.SampledFrom([]bool{false, true}).Draw(t, "more") {
		f = query.And(f, someFilter(t, 1))
	}
	return f
}

// someFilter draws filters of thing; a key is asked about as often as a property.
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

// pageFaults are all ways in which a page may end early.
var pageFaults = []storagetest.Rule{
	storagetest.On("Table.Query").EmptyPage(),
	storagetest.On("Table.Query").EmptyPage().Probability(0.4),
	storagetest.On("Table.Query").ShortPage(1),
	storagetest.On("Table.Query").ShortPage(3).Probability(0.5),
	storagetest.On("Table.Query").CutPage(1),
	storagetest.On("Table.Query").CutPage(4),
	storagetest.On("Table.Query").BoundaryPage(),
}

// stored is a new table that holds things, in an account with random faults.
func stored(t testing.TB, rt *rapid.T, things []thing) (*storagetest.Account, *aztables.Client) {
	acct := storagetest.Start(&storagetest.Options{Seed: 1})
	opts := &aztables.ClientOptions{}
	if rapid.Bool().Draw(rt, "accelerated") {
		opts = patterns.Accelerate(opts)
	}
	client := acct.TablesWith(opts).NewClient("Things")
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	table := newTable[thing](t, client, nil)
	for i := range things {
		insert(t, table, things[i])
	}
	acct.Fault(rapid.SliceOfN(rapid.SampledFrom(pageFaults), 0, 2).Draw(rt, "faults")...)
	acct.ResetLog()
	return acct, client
}

// matching is what f lets through, in the order of the service.
func matching(things []thing, f query.Filter) (out []keys.Key) {
	for _, v := range things {
		if f.Match(v) {
			out = append(out, v.key())
		}
	}
	slices.SortFunc(out, keys.Key.Compare)
	return out
}

func TestQueryGivesTheRowsOfTheFilterInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		things := someThings.Draw(rt, "things")
		acct, client := stored(t, rt, things)
		table := newTable[thing](t, client, nil)
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
				return // more comparisons than the service takes
			}
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, item.Key)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%v\ngives %q\nwants %q\nrequests\n%v", f, got, want, acct.Log())
		}
	})
}

// onCosmos is a client of acct under the name of a Cosmos DB account.
func onCosmos(t testing.TB, acct *storagetest.Account) *aztables.ServiceClient {
	t.Helper()
	cred, err := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		t.Fatal(err)
	}
	opts := &aztables.ClientOptions{}
	opts.Transport = readdressed{acct.Transport(), storagetest.AccountName + ".table.storagetest.invalid"}
	client, err := aztables.NewServiceClientWithSharedKey("https://"+storagetest.AccountName+".table.cosmos.azure.com", cred, patterns.Accelerate(opts))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// readdressed sends to host what is addressed to another.
type readdressed struct {
	to   policy.Transporter
	host string
}

func (r readdressed) Do(req *http.Request) (*http.Response, error) {
	moved := req.Clone(req.Context())
	moved.URL.Host, moved.Host = r.host, r.host
	res, err := r.to.Do(moved)
	if res != nil {
		res.Request = req
	}
	return res, err
}

func TestAnOrderedQueryIsRefusedWhereResultsHaveNone(t *testing.T) {
	acct := storagetest.New(t)
	filled(t, acct, distributions["digits in one partition"](nil, 3))
	table := newTable[mark](t, onCosmos(t, acct).NewClient("Marks"), nil)
	ordered := &patterns.QueryOptions{Ordered: true}
	f := partitionIs("p")
	for range 2 { // before the address is known, and after
		n := 0
		for item, err := range table.Query(t.Context(), f, ordered) {
			n++
			if wantError(t, err, patterns.ErrUnordered); item.Key != (keys.Key{}) {
				t.Error("a row came with it")
			}
		}
		if n != 1 {
			t.Errorf("%d pairs", n)
		}
		page, err := table.Page(t.Context(), f, "", ordered)
		if wantError(t, err, patterns.ErrUnordered); len(page.Items) > 0 {
			t.Error("rows came with it")
		}
	}
	if n := len(acct.Log()); n != 1 {
		t.Errorf("%d requests, want the one that showed the address", n)
	}
	if n := len(collect(t, table.Query(t.Context(), f, nil))); n != 3 {
		t.Errorf("%d rows without Ordered", n)
	}
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		insert(t, table, somebody("ann"))
		if n := len(collect(t, table.Query(t.Context(), partitionIs("sales"), ordered))); n != 1 {
			t.Errorf("%d rows of Azure Storage", n)
		}
	})
}
