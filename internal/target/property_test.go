package target

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/query"
)

// randomFilter returns a filter of few forms, with any constants.
func randomFilter(random *rand.Rand) query.Filter {
	keys := []string{"a", "b", "it's", "''", "'", "a+b", "100%", "%27", "a&b", "é", "a b", "x\x01y", "' and RowKey eq '", "\"", strings.Repeat("k", 600)}
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	key := func() string { // not the same one twice: conditions may then exclude each other
		keys = keys[1:]
		return keys[0]
	}
	parts := []query.Filter{
		query.PartitionKey.Eq(key()), query.RowKey.Ge(key()), query.RowKey.Lt(key()), query.RowKey.Eq(key()), query.PartitionKey.Ge(key()),
		query.PartitionKey.Lt(key()), query.Prop("Age").Gt(random.Int32N(3)), query.Prop("Name").Eq(key()),
		query.Or(query.RowKey.Eq(key()), query.RowKey.Eq(key())), query.Not(query.Prop("Id").Eq([16]byte{1})),
	}
	random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return query.And(parts[:random.IntN(4)+1]...)
}

// A filter is parsed once for all constants; what it reads is what the parser returns for
// these constants.
func TestAKnownFilterIsReadAsItWouldBeParsed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := NewRequest()
	for range 20_000 {
		filter := randomFilter(random)
		plan := query.Explain(filter)
		if len(plan.Reads()) == 0 {
			continue // no row can match: nothing is read
		}
		raw := url.Values{"$filter": {filter.String()}, "$top": {"10"}}.Encode()
		if random.IntN(2) == 0 {
			raw = strings.ReplaceAll(raw, "+", "%20")
		}
		if random.IntN(8) == 0 {
			raw += "&NextPartitionKey=x"
		}
		u := &url.URL{Host: "account.table.core.windows.net", Path: "/Orders()", RawQuery: raw}
		r.Read(&http.Request{Method: http.MethodGet, URL: u})
		fresh := NewRequest()
		fresh.Read(&http.Request{Method: http.MethodGet, URL: u})
		for name, got := range map[string]*Request{"known": r, "fresh": fresh} {
			if got.Class != plan.Plain || got.Next != strings.Contains(raw, "Next") || got.Filtered != (plan.Comparisons > 1) {
				t.Fatalf("%s: %s: class %v, want %v; next %v, filtered %v", name, filter, got.Class, plan.Plain, got.Next, got.Filtered)
			}
			want := ""
			if plan.Plain <= query.PartitionScan {
				want = fmt.Sprintf("tOrders\x00%s", strings.TrimSuffix(plan.Reads()[0].Partition.To, "\x00"))
			}
			if text := string(got.In(got.Partition)); text != want {
				t.Fatalf("%s: %s: partition %q, want %q", name, filter, text, want)
			}
		}
	}
}

// FuzzFilter checks that a query is read in the same way whatever was read before.
func FuzzFilter(f *testing.F) {
	f.Add("%24filter=PartitionKey%20eq%20%27a%27", "%24filter=PartitionKey%20eq%20%27b%27%27%27&%24top=1")
	f.Add("$filter=RowKey ge 'a' and PartitionKey eq 'b'", "$filter=RowKey ge '%27' and PartitionKey eq ''''")
	f.Add("filter=A eq guid'a' or B eq %27+%27", "filter=A eq guid'b' or B eq %27%2")
	f.Fuzz(func(t *testing.T, before, raw string) {
		read := func(r *Request, raw string) string {
			r.Read(&http.Request{Method: http.MethodGet, URL: &url.URL{Host: "a.table.b", Path: "/T()", RawQuery: raw}})
			return fmt.Sprintf("%v %v %v %q %q %q", r.Class, r.Filtered, r.Next, r.In(r.Partition), r.In(r.Low), r.In(r.High))
		}
		r := NewRequest()
		read(r, before)
		if known, fresh := read(r, raw), read(NewRequest(), raw); known != fresh {
			t.Errorf("%s after another query, else %s", known, fresh)
		}
	})
}
