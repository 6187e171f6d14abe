package keys_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

func TestCompareIsTheOrderOfUTF16Units(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "a", -1}, {"a", "a", 0}, {"a", "ab", -1}, {"111", "2", -1}, {"B", "a", -1},
		{"😀", "\uFFFD", -1}, {"\U0010FFFF", "\uE000", -1}, {"\uD7FF", "\U00010000", -1}, {"\uD7FF", "\uE000", -1},
		{"x\U0001F600", "x\U0001F601", -1},
	} {
		assert.Equal(t, keys.Compare(c.a, c.b), c.want, "Compare", c.a, c.b)
		assert.Equal(t, keys.Compare(c.b, c.a), -c.want, "Compare", c.b, c.a)
	}
}

func TestCompareAgreesWithUTF16ForAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyText().Draw(t, "a"), anyText().Draw(t, "b"), anyText().Draw(t, "common")
		assert.Equal(assert.Now(t), keys.Compare(c+a, c+b), compare16(c+a, c+b), "Compare", c+a, c+b)
	})
}

func FuzzCompare(f *testing.F) {
	f.Add("a", "b")
	f.Add("\uFFFD", "😀")
	f.Add("\xEE\x80", "\xF0")
	f.Fuzz(func(t *testing.T, a, b string) {
		got := keys.Compare(a, b)
		assert.Equal(assert.Now(t), got, -keys.Compare(b, a))
		assert.Equal(assert.Now(t), got == 0, a == b)
		if utf8.ValidString(a) && utf8.ValidString(b) && got != compare16(a, b) {
			t.Fatalf("Compare(%+q, %+q) = %d", a, b, got)
		}
	})
}

func TestKeyCompareComparesPartitionsFirst(t *testing.T) {
	a, b, c := keys.Key{Partition: "a", Row: "9"}, keys.Key{Partition: "b", Row: "1"}, keys.Key{Partition: "b", Row: "2"}
	if a.Compare(b) != -1 || b.Compare(c) != -1 || c.Compare(a) != 1 || c.Compare(c) != 0 {
		t.Fatal("wrong order of keys")
	}
}
