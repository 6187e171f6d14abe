package filter_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/query"
)

// both is one row in the form of either package.
type both struct {
	values  query.Values
	service map[string]filter.Value
}

func (b both) Value(name string) (filter.Value, bool) {
	v, ok := b.service[name]
	return v, ok
}

func (b both) set(name string, v any) {
	b.values[name] = v
	s := filter.Value{}
	switch v := v.(type) {
	case string:
		s.Text = v
	case int32:
		s = filter.Value{Type: filter.Int32, Int: int64(v)}
	case int64:
		s = filter.Value{Type: filter.Int64, Int: v}
	case float64:
		s = filter.Value{Type: filter.Double, Float: v}
	case bool:
		s.Type = filter.Boolean
		if v {
			s.Int = 1
		}
	case time.Time:
		s = filter.Value{Type: filter.DateTime, Int: filter.Ticks(v)}
	case [16]byte:
		s = filter.Value{Type: filter.GUID, Text: string(v[:])}
	case []byte:
		s = filter.Value{Type: filter.Binary, Text: string(v)}
	}
	b.service[name] = s
}

// values are values of every type, some of which look alike in several types.
func values() []any {
	at := time.Date(2020, 1, 2, 3, 4, 5, 123456700, time.UTC)
	return []any{
		"", "5", "a", "o'n", "é", "😀", "\uFFFD", "true", int32(5), int32(-1), int64(5), int64(math.MinInt64), 5.0, -1.5, 1e300, true, false,
		at, at.Add(100), at.Add(-250 * 365 * 24 * time.Hour), [16]byte{5}, [16]byte{255}, []byte("5"), []byte{}, []byte{255},
	}
}

func TestFiltersMatchTheSameRowsAsInPackageQuery(t *testing.T) {
	property := rapid.SampledFrom([]query.Property{query.PartitionKey, query.RowKey, query.Prop("A"), query.Prop("B"), query.Prop("Missing")})
	value := rapid.SampledFrom(values())
	var draw func(t *rapid.T, depth int) query.Filter
	draw = func(t *rapid.T, depth int) query.Filter {
		if depth > 0 {
			switch rapid.IntRange(0, 4).Draw(t, "join") {
			case 0:
				return query.And(draw(t, depth-1), draw(t, depth-1))
			case 1:
				return query.Or(draw(t, depth-1), draw(t, depth-1))
			case 2:
				return query.Not(draw(t, depth-1))
			}
		}
		p, v := property.Draw(t, "property"), value.Draw(t, "value")
		compare := rapid.SampledFrom([]func(any) query.Filter{p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge}).Draw(t, "operator")
		return compare(v)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t, 4)
		got, err := filter.Parse(want.String())
		assert.NoError(t, err, want)
		for range 20 {
			row := both{query.Values{}, map[string]filter.Value{}}
			row.set("PartitionKey", rapid.SampledFrom([]string{"", "5", "a"}).Draw(t, "pk"))
			row.set("RowKey", rapid.SampledFrom([]string{"", "5", "a"}).Draw(t, "rk"))
			row.set("A", value.Draw(t, "A"))
			stored := append(values(), math.NaN(), math.Inf(1))
			row.set("B", rapid.SampledFrom(stored).Draw(t, "B"))
			assert.Equal(assert.Now(t), got.Match(row), want.Match(row.values), want, "matches", row.values)
		}
	})
}

// The forms that one package accepts and the other refuses.
var onlyTheService = []string{
	"true", "false", "not true", "true and A eq 1", // a literal alone: package query has no reason to write it
	"A eq True", "FALSE ne A", "A eq 1 and (B eq True)", // undecided, see Filter.Capitals
}

func TestTheSameTextsAreFilters(t *testing.T) {
	for _, text := range append(onlyTheService,
		"", " ", "A eq 1", "1 eq A", "1 lt A and A lt 3L", "A", "not A", "(A)", "(A) eq (1)", "((A eq 1))", "A eq 1 or B eq 2 and C eq 3",
		"A eq -1", "A eq - 1", "A eq +1", "A eq 1.", "A eq .5", "A eq 1.5", "A eq 1e5", "A eq 1e", "A eq 1.5d", "A eq 5D", "A eq 1f", "A eq 1M", "A eq 1LL",
		"A eq 2147483648", "A eq 2147483648L", "A eq 9223372036854775808L", "A eq 1e400", "A eq -0", "A eq 00012",
		"A eq 'x", "A eq 'o''n'", "A eq ''", "A eq '", "A eq \"x\"", "A eq 'a'b", "A eq 'a''", "A eq 'a'and B eq 1", "A eq 1and B eq 1",
		"A eq datetime'2020-01-02'", "A eq datetime'2020-01-02T03:04'", "A eq datetime'2020-01-02T03:04:05'", "A eq datetime'2020-01-02T03:04:05Z'",
		"A eq datetime'2020-01-02T03:04:05.1234567Z'", "A eq datetime'2020-01-02T03:04:05.12345678Z'", "A eq datetime'2020-01-02T03:04:05,1Z'",
		"A eq datetime'2020-01-02T03:04+01:00'", "A eq datetime'2020-01-02T03:04:05-23:59'", "A eq datetime'2020-01-02T3:04Z'", "A eq datetime'2020-13-02'",
		"A eq datetime'1600-01-01'", "A eq DateTime'2020-01-02'", "A eq datetime '2020-01-02'", "A eq datetime'2020-01-02T'", "A eq datetime'2020-01-02T03'",
		"A eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'", "A eq GUID'C9DA6455-213D-42C9-9A79-3E9149A57833'", "A eq guid'c9da6455'", "A eq guid'{c9da6455-213d-42c9-9a79-3e9149a57833}'",
		"A eq X'0a'", "A eq x'0A'", "A eq binary'0A'", "A eq X'0'", "A eq X'0g'", "A eq X''", "A eq time'1'", "A eq datetimeoffset'2020-01-02'", "A eq foo'x'",
		"A eq true", "A eq null", "null eq A", "A eq NaN", "A eq INF", "NaN", "A eq B", "1 eq 1", "(A eq 1) eq true", "A eq (B eq 1)",
		"A", "5", "'x'", "not 5", "A and B", "A or 5", "A eq 1 and", "and", "not", "A not B", "not not A", "A eq 1 B eq 2", "A eq", "eq 1",
		"(A eq 1", "A eq 1)", "()", "A AND B", "A Eq 1", "A == 1", "A eq 1 && B eq 2", "A add 1 eq 2", "-A eq 1", "A/B eq 1", "A.B eq 1", "a-b eq 1", "1A eq 1",
		"_x eq 1", "é eq 1", "A eq 1 or (B eq 2 and not (C eq 3 or D))", "eq eq 1", "not(A eq 1)", "not(A)",
	) {
		_, got := filter.Parse(text)
		_, want := query.Parse(text)
		service := false
		for _, only := range onlyTheService {
			service = service || text == only
		}
		if service && (got != nil || want == nil) {
			t.Errorf("%q is listed as different, but %v, %v", text, got, want)
		}
		if !service && (got == nil) != (want == nil) {
			t.Errorf("%q: %v, package query: %v", text, got, want)
		}
	}
}

func TestAFunctionIsNotASyntaxError(t *testing.T) {
	for text, want := range map[string]error{
		"startswith(A,'x')": filter.ErrFunction, "length(A) gt 5": filter.ErrFunction, "A eq 1 and substringof('x', A)": filter.ErrFunction,
		"A eq 'f('": nil, "not (A)": nil, "A and (B)": nil, "A eq (1": filter.ErrSyntax,
		strings.Repeat("(", 1000) + "A": filter.ErrSyntax, strings.Repeat("not ", 1000) + "A": filter.ErrSyntax,
	} {
		if _, err := filter.Parse(text); !errors.Is(err, want) || err == nil && want != nil {
			t.Errorf("%.40s: %v, want %v", text, err, want)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("A eq 1 and not (B lt 'x' or datetime'2020-01-02' ge C)")
	f.Add("true or X'0a' eq A")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := filter.Parse(text)
		if err != nil {
			return
		}
		want, wantErr := query.Parse(text)
		if wantErr != nil { // what the service accepts in addition is listed above
			return
		}
		for _, v := range values() {
			row := both{query.Values{}, map[string]filter.Value{}}
			for _, name := range []string{"A", "B", "C", "PartitionKey"} {
				row.set(name, v)
			}
			assert.Equal(assert.Now(t), got.Match(row), want.Match(row.values), text, "matches", v)
		}
	})
}
