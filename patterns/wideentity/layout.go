package wideentity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// layout is the rule that says in which part a property is.
type layout struct {
	name  string // as it is stored: "hash:16"
	parts int
	place func(property string) int // from 0
}

const (
	hashLayout = "hash:"
	ownLayout  = "own:"
)

func newLayout(parts int, own func(string) int) (layout, error) {
	if parts < 1 || parts > MaxParts {
		return layout{}, fmt.Errorf("%w: %d parts; there are 1 to %d", ErrParts, parts, MaxParts)
	}
	if own != nil {
		return layout{
			name:  ownLayout + strconv.Itoa(parts),
			parts: parts,
			place: func(property string) int { return own(property) - 1 },
		}, nil
	}
	spread, err := keys.NewSpread(parts)
	if err != nil {
		return layout{}, err
	}
	return layout{name: hashLayout + strconv.Itoa(parts), parts: parts, place: spread.Bucket}, nil
}

// stored is the layout of an entity that was stored under that name.
func (l layout) stored(name string) (layout, error) {
	if name == l.name {
		return l, nil
	}
	if digits, ok := strings.CutPrefix(name, hashLayout); ok {
		if parts, err := strconv.Atoi(digits); err == nil {
			return newLayout(parts, nil)
		}
	}
	return layout{}, fmt.Errorf("%w: the entity was stored under another rule; Get and Replace it", ErrParts)
}

// check refuses a property that the caller's rule puts nowhere.
func (l layout) check(property string) error {
	if p := l.place(property); p < 0 || p >= l.parts {
		return fmt.Errorf("property %s: %w: Place says %d, there are 1 to %d", property, ErrParts, p+1, l.parts)
	}
	return nil
}

// at is the part of a piece of a property: large values go round all parts.
func (l layout) at(property string, piece int) int { return (l.place(property) + piece) % l.parts }

// entityRows names the rows of one entity. Its base, the escaped id and "_", is the
// beginning of no other entity's rows, since "_" does not occur in escaped text.
type entityRows struct{ partition, base string }

const (
	separator  = "_"
	headSuffix = "00"
	markSuffix = "~azp_"
)

func (e entityRows) head() string { return e.base + headSuffix }

// part is the row of part i, counted from 0; staged is the write that put it beside
// the rows it was to replace, "" for none.
func (e entityRows) part(i int, staged string) string {
	row := e.base + string([]byte{'0' + byte((i+1)/10), '0' + byte((i+1)%10)})
	if staged != "" {
		row += separator + staged
	}
	return row
}

// marker is the row that stands while a staged write is under way. It comes behind
// all parts, so that who lists the rows sees it later than them.
func (e entityRows) marker(staged string) string { return e.base + markSuffix + staged }

// all matches the entity's rows.
func (e entityRows) all() query.Filter {
	return query.And(query.PartitionKey.Eq(e.partition), query.RowKey.Within(keys.Prefix(e.base)))
}

// exactly matches one row.
func (e entityRows) exactly(row string) query.Filter {
	return query.And(query.PartitionKey.Eq(e.partition), query.RowKey.Eq(row))
}

// rowKind is what a row key says behind the base.
type rowKind struct {
	staged string // "" for the head and for rows in place
	head   bool
	marker bool
	part   int // from 0
}

// kindOf reads the text behind a base; ok is false for rows that are none of ours.
func kindOf(suffix string) (k rowKind, ok bool) {
	if suffix == headSuffix {
		return rowKind{head: true}, true
	}
	if staged, ok := strings.CutPrefix(suffix, markSuffix); ok {
		return rowKind{staged: staged, marker: true}, isVersion(staged)
	}
	number, staged, isStaged := strings.Cut(suffix, separator)
	n, err := strconv.Atoi(number)
	if err != nil || len(number) != 2 || n < 1 || n > MaxParts || isStaged && !isVersion(staged) {
		return k, false
	}
	return rowKind{part: n - 1, staged: staged}, true
}
