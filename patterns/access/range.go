package access

import (
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

// Range is the part of a table that a signature covers. The zero Range is the whole
// table. The functions that build a Range return no error; if a range cannot be signed,
// [Range.Err] and [Sign] report why. A Range is an immutable value and safe for
// concurrent use.
type Range struct {
	first, last keys.Key // inclusive; an empty key means no bound
	err         error
}

// Partition returns the range of one whole partition. The key must not be empty,
// because the service reads an empty bound as no bound.
func Partition(partitionKey string) Range {
	return Rows(partitionKey, keys.Range{})
}

// Partitions returns the range of all entities whose PartitionKey is in r. For the
// precision of the upper bound see [Rows].
func Partitions(r keys.Range) Range {
	last, err := lastIn(r)
	if err != nil {
		return Range{err: err}
	}
	return Between(keys.Key{Partition: r.From}, keys.Key{Partition: last})
}

// Rows returns the range of all entities of one partition whose RowKey is in r. The
// zero r is the whole partition.
//
// The upper bound of a signature is inclusive, and that of r is exclusive. For the
// exclusive bound "email_b" the signature uses the inclusive bound "email_a\uFFFD":
// U+FFFD sorts after every character that occurs in text. A Range therefore never covers
// a key outside r. It excludes only those keys of r that continue, after "email_a", with
// U+FFFD and further characters, or with U+FFFE or U+FFFF. A range of one key is exact.
func Rows(partitionKey string, r keys.Range) Range {
	if partitionKey == "" {
		return Range{err: invalid("Range", "a bound cannot name the partition with the empty key")}
	}
	last, err := lastIn(r)
	if err != nil {
		return Range{err: err}
	}
	return Between(keys.Key{Partition: partitionKey, Row: r.From}, keys.Key{Partition: partitionKey, Row: last})
}

// Between returns the range of all entities from first to last, both included, in the
// order of the table: (b, 5) to (d, 5) contains the rows of b from 5, all of c, and the
// rows of d up to 5. An empty key means no bound. A bound with a row key needs a partition
// key.
func Between(first, last keys.Key) Range {
	r := Range{first: first, last: last}
	r.err = r.check()
	return r
}

func (r Range) check() error {
	for _, k := range []keys.Key{r.first, r.last} {
		if err := k.Validate(); err != nil {
			return &Error{Field: "Range", Err: err}
		}
		if k.Partition == "" && k.Row != "" {
			return invalid("Range", "a bound with a row key needs a partition key")
		}
	}
	if r.last.Partition == "" {
		return nil
	}
	c := keys.Compare(r.first.Partition, r.last.Partition)
	if c > 0 || c == 0 && r.last.Row != "" && keys.Compare(r.first.Row, r.last.Row) > 0 {
		return invalid("Range", "the range contains no keys: its last key is before its first")
	}
	return nil
}

// Err returns the reason why the range cannot be signed, an *[Error], or nil.
func (r Range) Err() error { return r.err }

// Contains reports whether a signature for the range covers the entity with key k. If
// the range cannot be signed, it contains no key.
func (r Range) Contains(k keys.Key) bool {
	if r.err != nil {
		return false
	}
	if f := r.first; f.Partition != "" {
		c := keys.Compare(k.Partition, f.Partition)
		if c < 0 || c == 0 && keys.Compare(k.Row, f.Row) < 0 {
			return false
		}
	}
	if l := r.last; l.Partition != "" {
		c := keys.Compare(k.Partition, l.Partition)
		if c > 0 || c == 0 && l.Row != "" && keys.Compare(k.Row, l.Row) > 0 {
			return false
		}
	}
	return true
}

// highest is the character that sorts, in UTF-16 order, after every character that
// occurs in text.
const highest = "\uFFFD"

// lastIn returns the inclusive upper bound for r, or "" if r has no upper bound.
func lastIn(r keys.Range) (string, error) {
	if r.To == "" {
		return "", nil
	}
	if err := keys.Check("upper bound", r.To); err != nil {
		return "", &Error{Field: "Range", Err: err}
	}
	c, size := utf8.DecodeLastRuneInString(r.To)
	head := r.To[:len(r.To)-size]
	prev, ok := before(c)
	switch {
	case !ok && head == "":
		return "", invalid("Range", "the range contains only the empty key, which cannot be a bound")
	case !ok: // no key sorts between head and head + the lowest character
		return head, nil
	}
	last := head + string(prev)
	if keys.Check("", last+highest) == nil {
		last += highest
	}
	return last, nil
}

// before returns the character before c, in UTF-16 order, that a key may contain. In
// that order the characters above U+FFFF are between U+D7FF and U+E000.
func before(c rune) (rune, bool) {
	for c > ' ' {
		switch c {
		case 0x10000:
			c = 0xD7FF
		case 0xE000:
			c = utf8.MaxRune
		default:
			c--
		}
		if keys.Check("", string(c)) == nil {
			return c, true
		}
	}
	return 0, false
}
