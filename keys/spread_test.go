package keys_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func spread(t assert.T, n int) *keys.Spread {
	t.Helper()
	s := assert.Must(keys.NewSpread(n))(t)
	return s
}

// Buckets are part of stored keys, so these may never change.
func TestSpreadGoldenVectors(t *testing.T) {
	for _, c := range []struct {
		buckets int
		id      string
		want    string
	}{
		{16, "", "01_2014073118"},
		{16, "evt00042", "14_2014073118"},
		{16, "8f3a2c10-0001-4e5f-9a6b-7c8d9e0f1a2b", "04_2014073118"},
		{1, "evt00042", "00_2014073118"},
		{7, "évènement", "01_2014073118"},
		{100, "evt00042", "62_2014073118"},
		{101, "evt00042", "071_2014073118"},
		{10000, "evt00042", "5662_2014073118"},
	} {
		assert.Equal(t, spread(t, c.buckets).Partition("2014073118", c.id), c.want, c.buckets, "buckets, id", c.id)
	}
}

func TestSpreadHashIsFoldedFNV1a(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, id := rapid.IntRange(1, keys.MaxBuckets).Draw(t, "buckets"), rapid.String().Draw(t, "id")
		h := fnv.New64a()
		h.Write([]byte(id))
		want := (uint32(h.Sum64()>>32) ^ uint32(h.Sum64())) % uint32(n)
		assert.Equal(assert.Now(t), spread(t, n).Bucket(id), int(want), "bucket", "want", want)
	})
}

func TestPartitionsReturnsEveryPartitionInKeyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, base, id := rapid.IntRange(1, 1200).Draw(t, "buckets"), legalText().Draw(t, "base"), rapid.String().Draw(t, "id")
		s := spread(t, n)
		all := s.Partitions(base)
		if len(all) != n || s.Buckets() != n || !slices.IsSortedFunc(all, keys.Compare) || len(slices.Compact(slices.Clone(all))) != n {
			t.Fatalf("%d partitions of %d buckets, or out of order", len(all), n)
		}
		assert.Equal(assert.Now(t), all[s.Bucket(id)], s.Partition(base, id), "is not among the partitions")
		assert.Equal(assert.Now(t), assert.Must(s.Base(s.Partition(base, id)))(t), base)
	})
	for n, want := range map[int]string{1: "00_x", 10: "09_x", 11: "10_x", 100: "99_x", 101: "100_x", 1000: "999_x", 10000: "9999_x"} {
		assert.Equal(t, spread(t, n).Partitions("x")[n-1], want, "last of", n, "buckets is")
	}
}

func TestSpreadFillsItsBucketsEvenly(t *testing.T) {
	const each = 400
	for name, id := range map[string]func(i int) string{
		"counted":       func(i int) string { return fmt.Sprintf("evt%05d", i) },
		"even":          func(i int) string { return fmt.Sprint(2 * i) },
		"hexadecimal":   func(i int) string { return fmt.Sprintf("%08x", 16*i) },
		"ticks":         func(i int) string { return fmt.Sprintf("%019d", 639028224000000000+10000*int64(i)) },
		"addresses":     func(i int) string { return fmt.Sprintf("user%d@contoso.com", i) },
		"counted in 32": func(i int) string { return string(rune('A'+i%32)) + strings.Repeat("x", i/32) },
	} {
		for _, n := range []int{2, 3, 8, 16, 20, 64} {
			s := spread(t, n)
			load := make([]int, n)
			for i := range n * each {
				load[s.Bucket(id(i))]++
			}
			// Six standard deviations around the mean.
			if low, high := slices.Min(load), slices.Max(load); low < each-6*20 || high > each+6*20 {
				t.Errorf("%s ids in %d buckets: from %d to %d, mean %d", name, n, low, high, each)
			}
		}
	}
}

func TestSpreadRejectsInvalidNumbersOfBucketsAndPartitions(t *testing.T) {
	for _, n := range []int{0, -1, keys.MaxBuckets + 1} {
		_, err := keys.NewSpread(n)
		mustFail(t, err, keys.BadDefinition, "")
	}
	s := spread(t, 16)
	for text, reason := range map[string]keys.Reason{
		"": keys.Malformed, "07": keys.Malformed, "7_2014": keys.Malformed, "007_2014": keys.Malformed, "x7_2014": keys.UnexpectedRune,
		"16_2014": keys.OutOfRange,
	} {
		_, err := s.Base(text)
		mustFail(t, err, reason, text)
	}
}

func TestTheZeroSpreadHasOneBucket(t *testing.T) {
	var s keys.Spread
	if s.Buckets() != 1 || s.Partition("x", "id") != "00_x" || !slices.Equal(s.Partitions("x"), []string{"00_x"}) {
		t.Errorf("got %d, %q, %q", s.Buckets(), s.Partition("x", "id"), s.Partitions("x"))
	}
	assert.Equal(t, assert.Must(s.Base("00_x"))(t), "x")
}

func BenchmarkSpreadPartition(b *testing.B) {
	s := spread(b, 16)
	b.ReportAllocs()
	for b.Loop() {
		s.Partition("2014073118", "evt00042")
	}
}
