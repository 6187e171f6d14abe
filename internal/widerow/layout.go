package widerow

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
)

// distribution is the rule that assigns properties to parts.
type distribution struct {
	name   string // as it is stored: "hash:16"
	parts  int
	plain  bool                      // see [head.plain]
	partOf func(property string) int // from 0
}

const (
	hashLayout  = "hash:"
	ownLayout   = "own:"
	plainLayout = "plain:" // before one of the others
)

func newLayout(parts int, own func(string) int, plain bool) (distribution, error) {
	if parts < 1 || parts > MaxParts {
		return distribution{}, fmt.Errorf("%w: %d parts; an entity has 1 to %d", ErrParts, parts, MaxParts)
	}
	l := distribution{parts: parts, plain: plain}
	if own != nil {
		l.name, l.partOf = ownLayout, func(property string) int { return own(property) - 1 }
	} else {
		spread, err := keys.NewSpread(parts)
		if err != nil {
			return distribution{}, err
		}
		l.name, l.partOf = hashLayout, spread.Bucket
	}
	l.name += strconv.Itoa(parts)
	if plain {
		l.name = plainLayout + l.name
	}
	return l, nil
}

// stored returns the layout of an entity that was stored under that name.
func (l distribution) stored(name string) (distribution, error) {
	rule, plain := strings.CutPrefix(name, plainLayout)
	if rule == strings.TrimPrefix(l.name, plainLayout) {
		l.name, l.plain = name, plain
		return l, nil
	}
	if digits, ok := strings.CutPrefix(rule, hashLayout); ok {
		if parts, err := strconv.Atoi(digits); err == nil {
			return newLayout(parts, nil, plain)
		}
	}
	return distribution{}, fmt.Errorf("%w: the entity was stored by another rule; Get and Replace it", ErrParts)
}

// check refuses a property to which the caller's rule assigns no part.
func (l distribution) check(property string) error {
	if p := l.partOf(property); p < 0 || p >= l.parts {
		return fmt.Errorf("property %s: %w: PartOf returned %d, want 1 to %d", property, ErrParts, p+1, l.parts)
	}
	return nil
}

// partOfPiece is the part of a piece of a property. The pieces of a large value are
// distributed over all parts in turn.
func (l distribution) partOfPiece(property string, piece int) int {
	return (l.partOf(property) + piece) % l.parts
}
