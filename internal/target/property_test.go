package target

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
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
			assert.Equal(assert.Now(t), string(got.In(got.Partition)), want, name, filter, "partition")
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
		assert.Equal(t, read(r, raw), read(NewRequest(), raw), "after another query, else")
	})
}

// orderedFilter returns a filter of several conditions on one or both keys, whose form does not depend on the
// constants.
func orderedFilter(random *rand.Rand, constant func() string) string {
	var text strings.Builder
	operators := []string{"eq", "ge", "gt", "le", "lt", "ne"}
	var condition func(depth int)
	condition = func(depth int) {
		if depth > 0 && random.IntN(3) > 0 {
			join := []string{" and ", " or "}[random.IntN(2)]
			text.WriteString("(")
			for i := range 2 + random.IntN(2) {
				if i > 0 {
					text.WriteString(join)
				}
				condition(depth - 1)
			}
			text.WriteString(")")
			return
		}
		name := []string{"PartitionKey", "RowKey", "RowKey", "Name"}[random.IntN(4)]
		if value := "'" + strings.ReplaceAll(constant(), "'", "''") + "'"; random.IntN(6) == 0 {
			fmt.Fprintf(&text, "%s %s %s", value, operators[random.IntN(6)], name)
		} else {
			fmt.Fprintf(&text, "%s %s %s", name, operators[random.IntN(6)], value)
		}
	}
	condition(2)
	return text.String()
}

// Two filters of one form are read in both orders: what was read before changes nothing, the range is not turned
// round, and it contains every row that matches.
func TestTheRangeOfAFilterDoesNotDependOnTheFiltersBefore(t *testing.T) {
	for _, seed := range []uint64{
		1337013382035543453, 4862019493354611229, // the ninth constant was the lowest key; it contradicted another one
		rand.Uint64(),
	} {
		rangeDoesNotDependOnTheFiltersBefore(t, seed)
	}
}

func rangeDoesNotDependOnTheFiltersBefore(t *testing.T, seed uint64) {
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	values := []string{"a", "b", "c", "it's", "''", "a b", "%", "b+", "é", "\U0001F600", "\uFFFD", strings.Repeat("k", 400)}
	for range 4000 {
		form := random.Uint64()
		filter := func() string {
			return orderedFilter(rand.New(rand.NewPCG(form, 0)), func() string { return values[random.IntN(len(values))] })
		}
		pair := [2]string{filter(), filter()}
		var first [2]string
		for i, order := range [][2]int{{0, 1}, {1, 0}} {
			forget()
			known := NewRequest()
			for _, n := range order {
				text := pair[n]
				read(known, text)
				got := fmt.Sprintf("%v %v %q %q %q", known.Class, known.Filtered, known.In(known.Partition), known.In(known.Low), known.In(known.High))
				if i == 0 {
					first[n] = got
				} else if got != first[n] {
					t.Fatalf("%s is read as %s, and in another order with %s as %s", text, first[n], pair[1-n], got)
				}
				if low, high := string(known.In(known.Low)), string(known.In(known.High)); keys.Compare(low, high) > 0 {
					t.Fatalf("%s: from %q to %q", text, low, high)
				}
				if k, found := matching(random, text, values); found && !contains(known, k) {
					t.Fatalf("%s matches %q, which is not from %q to %q", text, k, known.In(known.Low), known.In(known.High))
				}
			}
		}
	}
}

// forget empties the cache of shapes.
func forget() {
	for i := range shapes {
		shapes[i].Store(nil)
	}
}

func read(r *Request, filter string) {
	u := &url.URL{Host: "account.table.core.windows.net", Path: "/Orders()", RawQuery: url.Values{"$filter": {filter}}.Encode()}
	r.Read(&http.Request{Method: http.MethodGet, URL: u})
}

// matching returns the key of a row that matches a filter, if it finds one.
func matching(random *rand.Rand, text string, values []string) (keys.Key, bool) {
	filter, err := query.Parse(text)
	if err != nil {
		panic(err)
	}
	for range 4 {
		k := keys.Key{Partition: values[random.IntN(len(values))], Row: values[random.IntN(len(values))]}
		if filter.Match(query.Values{"PartitionKey": k.Partition, "RowKey": k.Row, "Name": "b"}) {
			return k, true
		}
	}
	return keys.Key{}, false
}

// contains reports whether the range of a request contains a row.
func contains(r *Request, k keys.Key) bool {
	text := string(r.In(r.Resource)) + "\x00" + k.Partition + "\x00" + k.Row
	low, high := string(r.In(r.Low)), string(r.In(r.High))
	return keys.Compare(low, text) <= 0 && (keys.Compare(text, high) <= 0 || strings.HasPrefix(text, high))
}
