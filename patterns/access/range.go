package access

import (
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/keys"
)

// Range is the part of a table that a signature reaches. The zero Range is the
// whole table. A Range that cannot be expressed keeps its error for [Sign] and
// [Range.Err].
type Range struct {
	first, last keys.Key // inclusive; "" is no bound
	err         error
}

// Partition is one whole partition. Its key may not be empty: the service reads
// an empty bound as none.
func Partition(partitionKey string) Range {
	return Rows(partitionKey, keys.Range{})
}

// Partitions is every entity whose PartitionKey is in r; see [Rows] for how
// exact the end is.
func Partitions(r keys.Range) Range {
	last, err := lastIn(r)
	if err != nil {
		return Range{err: err}
	}
	return Between(keys.Key{Partition: r.From}, keys.Key{Partition: last})
}

// Rows is every entity of one partition whose RowKey is in r; the zero r is the
// whole partition.
//
// A signature names its last key, where r names the first key beyond. Between
// the two stand, for "email_b", the keys that begin with "email_a"; the last
// that is named is "email_a" and U+FFFD, which is above every character that
// text is made of. So a Range never reaches a key outside r, and of r it leaves
// out only keys that go on, at that place, with U+FFFD and more or with one of
// the two noncharacters above. A range of one key is exact.
func Rows(partitionKey string, r keys.Range) Range {
	if partitionKey == "" {
		return Range{err: &Error{Field: "Range", Reason: "the partition with the empty key cannot be bound"}}
	}
	last, err := lastIn(r)
	if err != nil {
		return Range{err: err}
	}
	return Between(keys.Key{Partition: partitionKey, Row: r.From}, keys.Key{Partition: partitionKey, Row: last})
}

// Between is every entity from one pair of keys to another, both included, in
// the order of the table: (b, 5) to (d, 5) has the rows from 5 on of b, all of c,
// and the rows up to 5 of d. An empty key is no bound, and a bound for rows needs
// one for its partition.
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
			return &Error{Field: "Range", Reason: "a bound for rows needs one for the partition"}
		}
	}
	if r.last.Partition == "" {
		return nil
	}
	c := keys.Compare(r.first.Partition, r.last.Partition)
	if c > 0 || c == 0 && r.last.Row != "" && keys.Compare(r.first.Row, r.last.Row) > 0 {
		return &Error{Field: "Range", Reason: "the range holds no keys: its last is before its first"}
	}
	return nil
}

// Err is why the range cannot be signed, an *[Error], or nil.
func (r Range) Err() error { return r.err }

// Contains reports whether a signature for the range reaches the entity.
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

// top is the highest character that text is made of, in UTF-16 order.
const top = "\uFFFD"

// lastIn gives the key that stands for the inclusive end of r, "" if r has none.
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
		return "", &Error{Field: "Range", Reason: "the range holds the empty key only, which cannot be bound"}
	case !ok: // nothing stands between head and head + the least character
		return head, nil
	}
	last := head + string(prev)
	if keys.Check("", last+top) == nil {
		last += top
	}
	return last, nil
}

// before gives the legal character before c in UTF-16 order, in which the
// characters above U+FFFF stand between U+D7FF and U+E000.
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
