package table

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/auth"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/query"
)

func TestTheRangeOfAFilterContainsEveryRowThatMatches(t *testing.T) {
	words := []string{"", "a", "ab", "b", "b'c", "é", "😀", "\uFFFD", "and", "("}
	var tb table
	for _, p := range words {
		for i, r := range words {
			tb.rows.put(tb.newRow(p, r, 0, []property{{"N", filter.Value{Type: filter.Int32, Int: int64(i)}}}))
		}
	}
	every := slices.Collect(tb.rows.from("", ""))
	word := rapid.SampledFrom(words)
	var draw func(t *rapid.T, depth int) query.Filter
	draw = func(t *rapid.T, depth int) query.Filter {
		if depth == 0 || rapid.Bool().Draw(t, "leaf") {
			p := rapid.SampledFrom([]query.Property{query.PartitionKey, query.RowKey, query.Prop("N")}).Draw(t, "property")
			var v any = word.Draw(t, "word")
			if rapid.IntRange(0, 9).Draw(t, "typed") == 0 {
				v = rapid.Int32Range(0, 9).Draw(t, "number")
			}
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				return p.Eq(v)
			case 1:
				return p.Ne(v)
			case 2:
				return p.Lt(v)
			case 3:
				return p.Le(v)
			case 4:
				return p.Gt(v)
			}
			return p.Ge(v)
		}
		a, b := draw(t, depth-1), draw(t, depth-1)
		switch rapid.IntRange(0, 3).Draw(t, "join") {
		case 0:
			return query.Or(a, b)
		case 1:
			return query.Not(a)
		}
		return query.And(a, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := draw(t, 3)
		if f.Comparisons() > query.MaxComparisons {
			return
		}
		parsed, refused := parseFilter(f.String())
		assert.Equal(assert.Now(t), refused, nil, f)
		var want []*row
		for _, r := range every {
			if parsed.Match(r) {
				want = append(want, r)
			}
		}
		s := spanOf(parsed)
		partition, key := s.start()
		got := tb.page(partition, key, s, options{filter: parsed, top: maxTop}, auth.KeyRange{}, request.Page{})
		assert.EqualSlices(assert.Now(t), got.rows, want)
		assert.Equal(assert.Now(t), got.next, nil)
	})
}

// model contains the expected rows of a table, each as numbers by property name.
type model map[string]map[string]int

// expect returns the expected status of a write, and applies the write if it succeeds.
func (m model) expect(method, key string, props map[string]int, conditional bool) int {
	old, there := m[key]
	switch method {
	case "POST":
		if there {
			return http.StatusConflict
		}
	case "DELETE":
		if !there {
			return http.StatusNotFound
		}
		delete(m, key)
		return http.StatusNoContent
	default:
		if conditional && !there {
			return http.StatusNotFound
		}
	}
	row := map[string]int{}
	if method == "PATCH" {
		maps.Copy(row, old)
	}
	maps.Copy(row, props)
	m[key] = row
	if method == "POST" {
		return http.StatusCreated
	}
	return http.StatusNoContent
}

func (m model) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s:", k)
		for _, n := range slices.Sorted(maps.Keys(m[k])) {
			fmt.Fprintf(&b, " %s=%d", n, m[k][n])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// held returns the rows of the table as a model.
func (t *table) held() model {
	m := model{}
	for r := range t.rows.from("", "") {
		row := map[string]int{}
		for p := range r.props().all() {
			row[p.name()] = int(p.value().Int)
		}
		m[r.key()] = row
	}
	return m
}

func TestWritesMatchTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAPI(t)
		m := model{}
		draw := func(key string) (batchOp, string, map[string]int, bool) {
			method := rapid.SampledFrom([]string{"POST", "PUT", "PATCH", "DELETE"}).Draw(rt, "method")
			props := rapid.MapOfN(rapid.SampledFrom([]string{"A", "B", "C"}), rapid.IntRange(0, 9), 0, 3).Draw(rt, "props")
			conditional := method == "DELETE" || method != "POST" && rapid.Bool().Draw(rt, "conditional")
			var body strings.Builder
			fmt.Fprintf(&body, `{"PartitionKey":"p","RowKey":%q`, key)
			for n, v := range props {
				fmt.Fprintf(&body, `,%q:%d`, n, v)
			}
			body.WriteByte('}')
			o := batchOp{method, "/T12" + address2("p", key), body.String(), nil}
			if method == "POST" {
				o.target = "/T12"
			}
			if conditional {
				o.headers = []string{"If-Match: *"}
			}
			return o, method, props, conditional
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			if rapid.IntRange(0, 3).Draw(rt, "kind") > 0 {
				key := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "key")
				o, method, props, conditional := draw(key)
				want := m.expect(method, key, props, conditional)
				assert.Equal(assert.Now(rt), a.do(o.method, o.target, o.body, o.headers...).StatusCode, want, method, key)
				continue
			}
			// A batch returns the status of all changes, or that of the first that fails.
			trial, want := maps.Clone(m), 0
			var ops []batchOp
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3", "4"}), 1, 4, rapid.ID[string]).Draw(rt, "keys") {
				o, method, props, conditional := draw(key)
				ops = append(ops, o)
				if status := trial.expect(method, key, props, conditional); status >= 400 && want == 0 {
					want = status
				}
			}
			statuses, _ := a.submit(ops...)
			switch {
			case want == 0 && len(statuses) == len(ops) && statuses[0] < 300:
				m = trial
			case want != 0 && len(statuses) == 1 && statuses[0] == want:
			default:
				rt.Fatalf("batch: %v, want %d", statuses, want)
			}
		}
		tb, err := a.s.lookup("T12", time.Now())
		if err != nil {
			rt.Fatal(err)
		}
		if got := tb.held(); got.String() != m.String() {
			rt.Fatalf("rows\n%vwant\n%v", got, m)
		}
	})
}
