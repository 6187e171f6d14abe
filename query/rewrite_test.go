package query

import (
	"cmp"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"pgregory.net/rapid"
)

// drawTable draws rows with distinct keys, in key order.
func drawTable(t *rapid.T) []Values {
	rows := rapid.SliceOfNDistinct(rapid.Custom(drawRow), 0, 40, func(v Values) keys.Key { return keyOf(v) }).Draw(t, "rows")
	slices.SortFunc(rows, func(a, b Values) int { return keyOf(a).Compare(keyOf(b)) })
	return rows
}

func keyOf(v Values) keys.Key {
	return keys.Key{Partition: v[nameOfPartitionKey].(string), Row: v[nameOfRowKey].(string)}
}

func matching(f Filter, rows []Values) []keys.Key {
	var out []keys.Key
	for _, r := range rows {
		if f.Match(r) {
			out = append(out, keyOf(r))
		}
	}
	return out
}

func TestReadsReturnExactlyTheRowsOfTheFilterInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawTable(t)
		f := tightFilter(t)
		want := matching(f, rows)
		var got []keys.Key
		for _, read := range Explain(f).Reads() {
			got = append(got, matching(read.Filter, rows)...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q\ngot     %q\nwant    %q\nreads\n%+v", f, got, want, Explain(f))
		}
	})
}

func TestReadsAreDisjointAndOrderedAndHaveTheRightClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := tightFilter(t)
		plan := Explain(f)
		reads := plan.Reads()
		worst := Class(0)
		for i, r := range reads {
			worst = max(worst, r.Class)
			assert.Equal(assert.Now(t), r.Filter.Err(), nil, f, "read", i, "is invalid")
			if back, err := Parse(r.Filter.String()); err != nil || !back.Equal(r.Filter) {
				t.Fatalf("%q: read %d is not a canonical tree: %q, %v", f, i, r.Filter, err)
			}
			assert.Equal(assert.Now(t), r.Class == Point, isOne(r.Partition) && isOne(r.Row), f, "read", i, "has the wrong class", r.Class)
			if want := And(PartitionKey.Eq(r.Key.Partition), RowKey.Eq(r.Key.Row)); r.Point && !r.Filter.Equal(want) {
				t.Fatalf("%q: point read %d has more conditions than its key: %q", f, i, r.Filter)
			}
			if i == 0 {
				continue
			}
			before := reads[i-1]
			c := keys.Compare(before.Partition.From, r.Partition.From)
			apart := before.Partition.To != "" && keys.Compare(before.Partition.To, r.Partition.From) <= 0
			if isOne(r.Partition) && r.Partition == before.Partition {
				apart = before.Row.To != "" && keys.Compare(before.Row.To, r.Row.From) <= 0
				c = -1
			}
			if !apart || c >= 0 {
				t.Fatalf("%q: reads %d and %d overlap or are out of order\n%+v", f, i-1, i, plan)
			}
		}
		if len(reads) > 0 && plan.Class != worst {
			t.Fatalf("%q: class %v, most expensive read %v", f, plan.Class, worst)
		}
		assert.Equal(assert.Now(t), plan.Requests, len(reads), f, "requests", "reads")
	})
}

func TestNoReadIsMoreExpensiveThanTheUnchangedFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := tightFilter(t)
		plan := Explain(f)
		if plan.Class > plan.Plain {
			t.Fatalf("%q: %v, unchanged %v\n%+v", f, plan.Class, plan.Plain, plan)
		}
	})
}

func TestReads(t *testing.T) {
	x := Prop("X").Eq(int32(1))
	sales := PartitionKey.Eq("Sales")
	many := make([]any, 40)
	for i := range many {
		many[i] = string(rune('A' + i))
	}
	var manyReads []string
	for _, v := range many {
		manyReads = append(manyReads, And(sales, RowKey.Eq(v)).String())
	}
	slices.SortFunc(manyReads, cmp.Compare[string])
	for _, tt := range []struct {
		name  string
		f     Filter
		class Class
		plain Class
		reads []string
	}{
		{"every row", Filter{}, TableScan, TableScan, []string{""}},
		{"no row", Or(), Point, TableScan, nil},
		{"one row", And(sales, RowKey.Eq("1")), Point, Point, []string{"PartitionKey eq 'Sales' and RowKey eq '1'"}},
		{"one row with a condition", And(sales, x, RowKey.Eq("1")), Point, Point,
			[]string{"PartitionKey eq 'Sales' and RowKey eq '1' and X eq 1"}},
		{"or of row keys", And(sales, Or(RowKey.Eq("322"), RowKey.Eq("121"), RowKey.Eq("322"))), Point, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and RowKey eq '121'", "PartitionKey eq 'Sales' and RowKey eq '322'"}},
		{"in with a condition", And(sales, RowKey.In("b", "a"), x), Point, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and RowKey eq 'a' and X eq 1", "PartitionKey eq 'Sales' and RowKey eq 'b' and X eq 1"}},
		{"or of whole keys", Or(And(PartitionKey.Eq("b"), RowKey.Eq("1")), And(PartitionKey.Eq("a"), RowKey.Eq("2"))), Point, TableScan,
			[]string{"PartitionKey eq 'a' and RowKey eq '2'", "PartitionKey eq 'b' and RowKey eq '1'"}},
		{"several partitions", And(PartitionKey.In("b", "a"), RowKey.Prefix("x_")), RowRange, TableScan,
			[]string{"PartitionKey eq 'a' and RowKey ge 'x_' and RowKey lt 'x`'", "PartitionKey eq 'b' and RowKey ge 'x_' and RowKey lt 'x`'"}},
		{"overlapping ranges", And(sales, Or(RowKey.Range("a", "m"), RowKey.Range("g", "t"))), RowRange, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and RowKey ge 'a' and RowKey lt 't'"}},
		{"a key inside a range", And(sales, Or(RowKey.Range("a", "m"), RowKey.Eq("b"))), RowRange, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and RowKey ge 'a' and RowKey lt 'm'"}},
		{"contradiction", And(sales, RowKey.Eq("a"), RowKey.Eq("b")), Point, Point, nil},
		{"crossed bounds", And(sales, RowKey.Gt("b"), RowKey.Lt("a")), Point, RowRange, nil},
		{"key of another type", And(sales, RowKey.Eq(int32(5))), Point, PartitionScan, nil},
		{"not of a key", And(sales, Not(RowKey.Lt("m"))), RowRange, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and RowKey ge 'm'"}},
		{"not of an or of keys", Not(Or(PartitionKey.Ne("Sales"), RowKey.Ne("1"))), Point, TableScan,
			[]string{"PartitionKey eq 'Sales' and RowKey eq '1'"}},
		{"not of a property stays", And(sales, Not(x)), PartitionScan, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and not (X eq 1)"}},
		{"one key left out", And(sales, RowKey.Ne("5")), PartitionScan, PartitionScan,
			[]string{"PartitionKey eq 'Sales' and RowKey ne '5'"}},
		{"one partition left out", PartitionKey.Ne("Sales"), TableScan, TableScan,
			[]string{"PartitionKey lt 'Sales'", "PartitionKey gt 'Sales'"}},
		{"partition range", PartitionKey.Range("a", "m"), PartitionRange, PartitionRange,
			[]string{"PartitionKey ge 'a' and PartitionKey lt 'm'"}},
		{"partition range with an or of row keys", And(PartitionKey.Range("a", "m"), RowKey.In("1", "2")), PartitionRange, PartitionRange,
			[]string{"PartitionKey ge 'a' and PartitionKey lt 'm' and (RowKey eq '1' or RowKey eq '2')"}},
		{"touching partitions", Or(And(PartitionKey.Ge("a"), PartitionKey.Lt("b"), x), And(PartitionKey.Ge("b"), PartitionKey.Lt("c"))), PartitionRange, TableScan,
			[]string{"PartitionKey ge 'a' and PartitionKey lt 'c' and ((PartitionKey lt 'b' and X eq 1) or PartitionKey ge 'b')"}},
		{"or of row keys without a partition", RowKey.In("121", "322"), TableScan, TableScan,
			[]string{"RowKey eq '121' or RowKey eq '322'"}},
		{"more keys than comparisons", And(sales, RowKey.In(many...)), Point, PartitionScan, manyReads},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(assert.Now(t), tt.f.Err(), nil)
			plan := Explain(tt.f)
			var got []string
			for _, r := range plan.Reads() {
				got = append(got, r.Filter.String())
			}
			assert.EqualSlices(t, got, tt.reads, "reads")
			assert.Equal(t, plan.Class, tt.class)
			assert.Equal(t, plan.Plain, tt.plain)
		})
	}
}
