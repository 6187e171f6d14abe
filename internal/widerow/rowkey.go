package widerow

import (
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// entityRows are the keys of the rows of one entity. The base, the escaped id and "_", is
// a prefix of no other entity's rows, because "_" does not occur in escaped text.
type entityRows struct{ partition, base string }

const (
	separator    = "_"
	headSuffix   = "00"
	markerSuffix = "~azp_"
)

// rowsAt returns the rows of the entity with that key.
func rowsAt(key keys.Key) entityRows {
	return entityRows{partition: key.Partition, base: keys.Escape(key.Row) + separator}
}

func (e entityRows) key(suffix string) keys.Key {
	return keys.Key{Partition: e.partition, Row: e.base + suffix}
}

func (e entityRows) head() keys.Key { return e.key(headSuffix) }

// part is the key of part i, counted from 0. staged is the write that inserted it in a row
// of its own, "" for the row in place.
func (e entityRows) part(i int, staged string) keys.Key {
	suffix := partNumber(i)
	if staged != "" {
		suffix += separator + staged
	}
	return e.key(suffix)
}

// partNumber is part i, counted from 0, as two digits.
func partNumber(i int) string { return string([]byte{'0' + byte((i+1)/10), '0' + byte((i+1)%10)}) }

// marker is the key of the row that exists while a staged write is in progress. It sorts
// after all parts, so that a listing of the rows returns it after them.
func (e entityRows) marker(staged string) keys.Key { return e.key(markerSuffix + staged) }

// all matches the entity's rows.
func (e entityRows) all() query.Filter {
	return query.And(query.PartitionKey.Eq(e.partition), query.RowKey.Within(keys.Prefix(e.base)))
}

// exactly matches one row.
func exactly(key keys.Key) query.Filter {
	return query.And(query.PartitionKey.Eq(key.Partition), query.RowKey.Eq(key.Row))
}

// rowKind is what a row is, as its key shows.
type rowKind struct {
	staged string // the write that staged it, "" for the head and for rows in place
	head   bool
	marker bool
	part   int // from 0
}

// kindOf returns the kind of the row with a suffix after its base. ok is false for rows
// that this package does not write.
func kindOf(suffix string) (k rowKind, ok bool) {
	if suffix == headSuffix {
		return rowKind{head: true}, true
	}
	if staged, ok := strings.CutPrefix(suffix, markerSuffix); ok {
		return rowKind{staged: staged, marker: true}, isVersion(staged)
	}
	number, staged, isStaged := strings.Cut(suffix, separator)
	n, err := strconv.Atoi(number)
	if err != nil || len(number) != 2 || n < 1 || n > MaxParts || isStaged && !isVersion(staged) {
		return k, false
	}
	return rowKind{part: n - 1, staged: staged}, true
}
