// Package pages reads lists page by page from a service that may be wrong, and continues them
// from cursors: it detects continuation tokens that lead in a circle and cursors of another
// read, and types the errors of the SDK's pagers.
package pages

import (
	"fmt"
	"hash/fnv"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Loop detects that the continuation tokens of a read repeat, whatever the number of
// pages in between. It is Brent's algorithm: each token is compared with one earlier
// token, which is replaced after 1, 2, 4, 8, … tokens. The zero Loop has seen no token.
// Its fields are exported so that cursors can store them.
//
// https://en.wikipedia.org/wiki/Cycle_detection#Brent's_algorithm
type Loop struct {
	Tokens uint64 // seen
	Mark   uint64 // hash of the token to compare with
}

// Next returns the Loop after a further token, of one or several parts. If the tokens go
// in a circle of n tokens after m others, it returns an [azerr.ErrBadReply] before the
// (3·max(m, n))-th token at the latest.
func (l Loop) Next(token ...string) (Loop, error) {
	h := fnv.New64a()
	for _, part := range token {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	sum := h.Sum64()
	if l.Tokens > 0 && sum == l.Mark {
		return Loop{}, fmt.Errorf("%w: %w", azerr.ErrBadReply, errCircle)
	}
	if l.Tokens++; l.Tokens&(l.Tokens-1) == 0 {
		l.Mark = sum
	}
	return l, nil
}
