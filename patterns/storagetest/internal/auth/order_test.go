package auth

import (
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

func TestHeadersAreInTheOrderOfTheService(t *testing.T) {
	// Lowest first.
	want := []string{"x-ms-a", "x-ms-a_", "x-ms-a~", "x-ms-a1", "x-ms-aa", "x-ms-ab", "x-ms-a-b", "x-ms-abc", "x-ms-ac", "x-ms-b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareHeaders)
	assert.EqualSlices(t, got, want)
}

func TestHeaderOrderIsATotalOrder(t *testing.T) {
	name := rapid.StringMatching(`[-a-c0-1_./]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		assert.Equal(assert.Now(t), compareHeaders(a, b), -compareHeaders(b, a), a, b, "not antisymmetric")
		if compareHeaders(a, b) <= 0 && compareHeaders(b, c) <= 0 && compareHeaders(a, c) > 0 {
			t.Fatalf("%q %q %q: not transitive", a, b, c)
		}
	})
}
