package query

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"strconv"
	"testing"
)

func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = And(PartitionKey.Eq("Sales"), RowKey.Prefix("email_a"), Prop("Age").Ge(int32(30)))
	}
}

func BenchmarkString(b *testing.B) {
	f := And(PartitionKey.Eq("Sales"), RowKey.Prefix("email_a"), Prop("Age").Ge(int32(30)))
	b.ReportAllocs()
	for b.Loop() {
		_ = f.String()
	}
}

func BenchmarkExplain(b *testing.B) {
	for name, f := range map[string]Filter{
		"Point":     And(PartitionKey.Eq("Sales"), RowKey.Eq("000123")),
		"RowRange":  And(PartitionKey.Eq("Sales"), RowKey.Prefix("email_a"), Prop("Age").Ge(int32(30))),
		"TableScan": Prop("Age").Ge(int32(30)),
		"In500":     And(PartitionKey.Eq("Sales"), RowKey.In(numbered(500)...)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = Explain(f)
			}
		})
	}
}

// BenchmarkExplainKeys measures whether a key costs the same in short and in long lists.
func BenchmarkExplainKeys(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		f := And(PartitionKey.Eq("Sales"), RowKey.In(numbered(n)...))
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				_ = Explain(f)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/key")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text := "PartitionKey eq 'Sales' and RowKey ge 'email_a' and RowKey lt 'email_b' and Age ge 30"
	b.ReportAllocs()
	for b.Loop() {
		assert.NoError(b, assert.ErrorOf(Parse(text)))
	}
}

func BenchmarkMatch(b *testing.B) {
	f := And(PartitionKey.Eq("Sales"), RowKey.Prefix("email_a"), Prop("Age").Ge(int32(30)))
	row := Values{"PartitionKey": "Sales", "RowKey": "email_ab", "Age": int32(30)}
	b.ReportAllocs()
	for b.Loop() {
		if !f.Match(row) {
			b.Fatal("no match")
		}
	}
}
