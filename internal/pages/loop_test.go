package pages

import (
	"errors"
	"strconv"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

func TestTokensThatGoInACircleAreDetected(t *testing.T) {
	for before := range 20 {
		for circle := 1; circle < 20; circle++ {
			var loop Loop
			var err error
			n := 0
			for ; err == nil && n <= 3*max(before, circle)+1; n++ {
				at := n
				if n >= before {
					at = before + (n-before)%circle
				}
				loop, err = loop.Next(strconv.Itoa(at), "")
			}
			if !errors.Is(err, azerr.ErrBadReply) || n <= circle {
				t.Errorf("a circle of %d after %d: %v after %d tokens", circle, before, err, n)
			}
		}
	}
}

func TestTokensThatDifferAreNoCircle(t *testing.T) {
	var loop Loop
	var err error
	for i := range 100_000 {
		if loop, err = loop.Next("p", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	one, _ := Loop{}.Next("ab", "c")
	assert.Equal(t, assert.ErrorOf(one.Next("a", "bc")), nil, "two parts are confused with two others")
}
