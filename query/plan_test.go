package query

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

func codes(p Plan) []string {
	var out []string
	for _, w := range p.Warnings {
		c := string(w.Code)
		if w.Solved {
			c += "+"
		}
		out = append(out, c)
	}
	return out
}

func numbered(n int) []any {
	vs := make([]any, n)
	for i := range vs {
		vs[i] = strconv.Itoa(100_000 + i)
	}
	return vs
}

func TestWarnings(t *testing.T) {
	sales, x := PartitionKey.Eq("Sales"), Prop("X").Eq(int32(1))
	schema := Schema{"X": Int32, "Big": Int64}
	for _, tt := range []struct {
		name string
		f    Filter
		opts *ExplainOptions
		want []string // with the suffix + if it is solved
	}{
		{"point", And(sales, RowKey.Eq("1")), nil, nil},
		{"range", And(sales, RowKey.Prefix("empid_")), nil, nil},
		{"range by first letter", And(sales, RowKey.Prefix("email_a")), nil, nil},
		{"partition", And(sales, x), nil, nil},
		{"every row", Filter{}, nil, []string{"unbounded-keys"}},
		{"one bound", PartitionKey.Ge("a"), nil, []string{"unbounded-keys"}},
		{"property alone", x, nil, []string{"unbounded-property"}},
		{"or of row keys", And(sales, RowKey.In("1", "2")), nil, []string{"or-of-row-keys+"}},
		{"or of row keys, each with more", And(sales, Or(And(RowKey.Eq("1"), x), RowKey.Eq("2"))), nil, []string{"or-of-row-keys+"}},
		{"or of row keys alone", RowKey.In("1", "2"), nil, []string{"or-of-row-keys", "unbounded-keys"}},
		{"or of row key and property", And(sales, Or(RowKey.Eq("1"), x)), nil, nil},
		{"or of row keys and of a property", And(sales, Or(RowKey.In("1", "2"), x)), nil, []string{"or-of-row-keys"}},
		{"or of row keys of a partition, and of a property", Or(And(sales, RowKey.In("1", "2")), x), nil, []string{"or-of-row-keys", "unbounded-property"}},
		{"or of row keys of a partition, and of a partition", Or(And(sales, RowKey.In("1", "2")), PartitionKey.Eq("T")), nil, []string{"or-of-partition-keys+", "or-of-row-keys+"}},
		{"or of row keys in a range", And(PartitionKey.Range("a", "b"), RowKey.In("1", "2")), nil, []string{"or-of-row-keys"}},
		{"not of an or of row keys", And(sales, Not(RowKey.In("1", "2"))), nil, nil},
		{"not of an or of partitions", Not(PartitionKey.In("1", "2")), nil, []string{"unbounded-keys"}},
		{"or of partitions and of a property", Or(PartitionKey.In("1", "2"), x), nil, []string{"or-of-partition-keys", "unbounded-property"}},
		{"or of partitions", And(PartitionKey.In("1", "2"), x), nil, []string{"or-of-partition-keys+"}},
		{"many keys", And(sales, RowKey.In(numbered(40)...)), nil, []string{"or-of-row-keys+", "too-many-comparisons+"}},
		{"many properties", And(sales, Prop("X").In(numbered(15)...)), nil, []string{"too-many-comparisons"}},
		{"14 properties", And(sales, Prop("X").In(numbered(14)...)), nil, nil},
		{"prefix", And(sales, RowKey.Prefix("empid")), nil, []string{"prefix-covers-siblings"}},
		{"partition prefix", PartitionKey.Prefix("Sales"), nil, []string{"prefix-covers-siblings"}},
		{"prefix as a range", And(sales, RowKey.Ge("empid"), RowKey.Lt("empie")), nil, []string{"prefix-covers-siblings"}},
		{"the guide's range of ids", And(sales, RowKey.Ge("empid_000100"), RowKey.Le("empid_000199")), nil, nil},
		{"the guide's ids in a partition of their own", And(PartitionKey.Eq("empid_Sales"), RowKey.Ge("000100"), RowKey.Le("000199")), nil, nil},
		{"the guide's first letter of an email address", And(sales, RowKey.Ge("email_a"), RowKey.Lt("email_b")), nil, nil},
		{"the guide's first letter of a name", And(sales, RowKey.Ge("B"), RowKey.Lt("C")), nil, nil},
		{"the guide's first letter in a partition of its own", And(PartitionKey.Eq("email_Sales"), RowKey.Ge("a"), RowKey.Lt("b")), nil, nil},
		{"the guide's employee with reviews", And(sales, RowKey.Ge("000123"), RowKey.Lt("000124")), nil, nil},
		{"the guide's reviews of an employee", And(sales, RowKey.Ge("000123_"), RowKey.Lt("000123`")), nil, nil},
		{"the guide's whole index", And(sales, RowKey.Ge("empid_"), RowKey.Lt("empid`")), nil, nil},
		{"partitions of a year", PartitionKey.Prefix("2026"), nil, nil},
		{"known siblings, apart", And(sales, RowKey.Prefix("B")), &ExplainOptions{Siblings: []string{"B", "C"}}, nil},
		{"known siblings, covered", And(sales, RowKey.Ge("empid_")), &ExplainOptions{Siblings: []string{"email_", "empid_", "id_"}}, []string{"prefix-covers-siblings"}},
		{"ne", And(sales, Prop("X").Ne(int32(1))), nil, []string{"not-equal"}},
		{"ne of a key", And(sales, RowKey.Ne("1")), nil, []string{"not-equal"}},
		{"not", And(sales, Not(x)), nil, []string{"not-matches-missing"}},
		{"not of a key", And(sales, Not(RowKey.Lt("1"))), nil, nil},
		{"not of not", And(sales, Not(And(RowKey.Lt("1"), Not(x)))), nil, nil},
		{"not of Timestamp", And(sales, Not(Timestamp.Lt(time.Unix(0, 0)))), nil, nil},
		{"contradiction", And(sales, RowKey.Eq("1"), RowKey.Eq("2")), nil, []string{"never-matches"}},
		{"key of another type", And(sales, RowKey.Eq(121)), nil, []string{"never-matches", "type-mismatch"}},
		{"unknown property", And(sales, Prop("x").Eq(int32(1))), &ExplainOptions{Schema: schema}, []string{"unknown-property"}},
		{"mismatch", And(sales, Prop("X").Eq(1)), &ExplainOptions{Schema: schema}, []string{"type-mismatch"}},
		{"without L", And(sales, Prop("Big").Eq(int32(1))), &ExplainOptions{Schema: schema}, []string{"int64-without-l"}},
		{"fits", And(sales, Prop("Big").Eq(1), x), &ExplainOptions{Schema: schema}, nil},
		{"twice the same", And(sales, Prop("X").Ne(1), Prop("X").Ne(2)), nil, []string{"not-equal"}},
		{"two properties", And(sales, Prop("X").Ne(1), Prop("Y").Ne(2)), nil, []string{"not-equal", "not-equal"}},
		{"too complex", And(PartitionKey.In(numbered(400)...), RowKey.In(numbered(400)...)), nil,
			[]string{"too-complex", "or-of-partition-keys", "or-of-row-keys", "too-many-comparisons", "unbounded-keys"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(assert.Now(t), tt.f.Err(), nil)
			plan := ExplainWith(tt.f, tt.opts)
			assert.EqualSlices(t, codes(plan), tt.want, "warnings")
			for _, w := range plan.Warnings {
				if !w.Solved && strings.Contains(w.Remedy, "the rewriting does") {
					t.Errorf("not solved, but the remedy refers to the rewriting: %v", w)
				}
				if w.Problem == "" || !strings.HasSuffix(w.Remedy, ".") || strings.Count(w.Remedy, ". ") > 0 {
					t.Errorf("no problem, or not one sentence of remedy: %v", w)
				}
			}
		})
	}
}

func TestTheWarningOfAnOrOfRowKeysMentionsAMissingPartitionKeyOnlyIfItIsMissing(t *testing.T) {
	named := And(PartitionKey.Eq("a"), RowKey.In("1", "2"))
	each := Or(And(PartitionKey.Eq("a"), RowKey.Eq("1")), And(PartitionKey.Eq("b"), RowKey.Eq("2")), Prop("X").Eq(1))
	for f, lacks := range map[string]bool{
		RowKey.In("1", "2").String():                                                 true,
		And(PartitionKey.Range("a", "b"), RowKey.In("1", "2")).String():              true,
		Or(named, Prop("X").Eq(1)).String():                                          false,
		And(PartitionKey.Eq("a"), Or(RowKey.In("1", "2"), Prop("X").Eq(1))).String(): false,
		each.String(): false,
	} {
		parsed := assert.Must(Parse(f))(t)
		found := false
		for _, w := range Explain(parsed).Warnings {
			if w.Code == WarnOrOfRowKeys {
				found = true
				assert.Equal(t, strings.Contains(w.Problem, "without the partition key"), lacks, f, w)
			}
		}
		if !found {
			t.Errorf("%s: no warning", f)
		}
	}
}

// Plans are logged, so their text is short even for a filter with ten thousand values.
func TestThePlanOfALongFilterIsShort(t *testing.T) {
	plan := Explain(And(PartitionKey.Eq("Sales"), Prop("X").In(numbered(10_000)...)))
	if text := plan.String(); len(text) > 2000 || !strings.Contains(text, "X eq ? or X eq") || !strings.Contains(text, " …") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	if text := fmt.Sprintf("%+v", plan); !strings.Contains(text, "X eq '100000'") || !strings.Contains(text, "X eq '109999'") {
		t.Error("the plan with its values does not show them all")
	}
}

func TestCheckReturnsAScanErrorWithThePlan(t *testing.T) {
	scan := Explain(Prop("X").Eq("s3cr3t"))
	err := fmt.Errorf("reading staff: %w", scan.Check(0))
	var se *ScanError
	if !errors.Is(err, ErrScan) || !errors.As(err, &se) || se.Plan.Class != TableScan {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "PartitionKey eq") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("the message does not contain the remedy, or contains the value: %v", err)
	}
	if by := (&ScanError{Plan: scan}); by.Error() != se.Error() {
		t.Errorf("the zero Allow is not the default: %v", by)
	}
	if s := fmt.Sprintf("%+v", se); !strings.Contains(s, "X eq 's3cr3t'") {
		t.Errorf("%%+v does not show the value: %s", s)
	}
	for class, f := range map[Class]Filter{
		Point:          And(PartitionKey.Eq("a"), RowKey.Eq("b")),
		RowRange:       And(PartitionKey.Eq("a"), RowKey.Ge("b")),
		PartitionScan:  PartitionKey.Eq("a"),
		PartitionRange: PartitionKey.Range("a", "b"),
		TableScan:      PartitionKey.Ge("a"),
	} {
		plan := Explain(f)
		assert.Equal(t, plan.Class, class, f, "is a")
		for allow := Class(0); allow <= TableScan; allow++ {
			refused := plan.Check(allow) != nil
			assert.Equal(t, refused, class > allow && allow != 0 || allow == 0 && class == TableScan, class, "with", allow, "allowed is refused")
		}
	}
}

func TestPlansShowValuesOnlyForPlusV(t *testing.T) {
	plan := Explain(And(PartitionKey.Eq("s3cr3t"), RowKey.In("s3cr3t", "b"), Prop("X").Ge("s3cr3t")))
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("will ask", "plan", plan)
	for _, s := range []string{plan.String(), fmt.Sprint(plan), fmt.Sprintf("%v %s", plan, plan), log.String()} {
		if strings.Contains(s, "s3cr3t") || !strings.Contains(s, "PartitionKey eq ?") {
			t.Errorf("%s", s)
		}
	}
	assert.Contains(t, fmt.Sprintf("%+v", plan), "PartitionKey eq 's3cr3t' and RowKey eq 'b'")
}

func TestTheTextOfALargePlanIsAtMostAPage(t *testing.T) {
	var fs []Filter
	for i, v := range numbered(100) {
		f := And(PartitionKey.Eq(v), RowKey.Eq(v))
		if i%2 == 0 {
			f = And(f, Prop("X").Eq(int32(i)))
		}
		fs = append(fs, f)
	}
	text := Explain(Or(fs...)).String()
	if n := strings.Count(text, "\n"); n > 30 || !strings.Contains(text, "… 80 more reads") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

func TestAFilterTooLargeToRewriteIsSentUnchanged(t *testing.T) {
	f := And(PartitionKey.Range("1000", "1400"), PartitionKey.In(numbered(400)...), RowKey.In(numbered(400)...))
	plan := Explain(f)
	reads := plan.Reads()
	if len(reads) != 1 || !reads[0].Filter.Equal(f) || plan.Class != PartitionRange || plan.Class != plan.Plain {
		t.Errorf("%v", plan)
	}
}

func TestFiltersOfKeysDoNotExceedTheLimitOfComparisons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawer{
			property: rapid.SampledFrom([]Property{PartitionKey, RowKey}),
			value:    func(t *rapid.T, _ Property) any { return rapid.SampledFrom(keyTexts).Draw(t, "key") },
		}.tree(t, 3)
		f = And(PartitionKey.In("a", "b"), f)
		for _, r := range Explain(f).Reads() {
			if n := r.Filter.Comparisons(); n > MaxComparisons {
				t.Fatalf("%q: a read of %d comparisons: %q", f, n, r.Filter)
			}
		}
	})
}

// The memory that Explain allocates is a measure of its steps which does not depend on the
// load of the machine.
func TestAKeyCostsTheSameInShortAndInLongFilters(t *testing.T) {
	and := func(n int) Filter {
		fs := []Filter{PartitionKey.Eq("Sales")}
		for _, k := range numbered(n) {
			fs = append(fs, RowKey.Ne(k))
		}
		return And(fs...)
	}
	perKey := func(f Filter, n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Explain(f)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	for name, c := range map[string]struct {
		long  int
		build func(n int) Filter
	}{
		"in of row keys":       {100_000, func(n int) Filter { return And(PartitionKey.Eq("Sales"), RowKey.In(numbered(n)...)) }},
		"in of partition keys": {100_000, func(n int) Filter { return PartitionKey.In(numbered(n)...) }},
		"ne of row keys":       {4_000, and},
	} {
		short, long := perKey(c.build(1_000), 1_000), perKey(c.build(c.long), c.long)
		if long > 1.3*short {
			t.Errorf("%s: %.0f bytes a key for 1,000 keys, %.0f for %d", name, short, long, c.long)
		}
	}
}
