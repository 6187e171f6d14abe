package secondaryindex

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/keys"
)

// layout encodes values in the row keys of an index:
//
//	lead value                      unique
//	lead value SPACE SPACE suffix   not unique
//
// The value is escaped, so it contains no "_". The suffix is the primary's key, so that
// two primaries never share a row.
//
// The space is the lowest character of a key. Because two of them end a value, the rows
// of a value precede those of all longer values that begin with it, and keys are ordered
// by value. For that, a value must neither contain two spaces nor end in one. So in a
// value that is followed by a suffix, "!" is inserted after every space that precedes a
// space, a "!" or the end: "De Vries" is unchanged, "a  b" becomes "a ! b". As "!" is the
// lowest character above the space, this does not change the order.
type layout struct {
	lead   string // "email_", or "" if the name is in the partition key
	fold   bool
	shared bool // several primaries may have one value
}

const divider = "  "

// text returns the value as the row key contains it.
func (l layout) text(value string) (string, error) {
	text, err := l.escape(value)
	if l.shared && strings.HasSuffix(text, " ") {
		text += "!"
	}
	return text, err
}

// escape returns text without the change at the value's end. It fails if no key can
// contain the value.
func (l layout) escape(value string) (string, error) {
	if l.fold {
		value = naming.Fold(value)
	}
	text := keys.Escape(value)
	if l.shared {
		text = spaced(text)
	}
	return text, keys.Check("indexed value", text)
}

// spaced inserts a "!" after each space that precedes a space or a "!".
func spaced(text string) string {
	if !strings.Contains(text, divider) && !strings.Contains(text, " !") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if text[i] == ' ' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '!') {
			b.WriteByte('!')
		}
	}
	return b.String()
}

// row returns the row key of the copy of a primary with the value. suffix is not used if
// values are unique.
func (l layout) row(value, suffix string) (string, error) {
	text, err := l.text(value)
	if l.shared {
		text += divider + suffix
	}
	row := l.lead + text
	if err == nil {
		err = keys.Check("indexed value", row) // with lead and suffix
	}
	return row, err
}

// value returns the value in a row key. ok is false if the key is not one of the index.
func (l layout) value(row string) (value string, ok bool) {
	text, ok := strings.CutPrefix(row, l.lead)
	if l.shared && ok {
		text, _, ok = strings.Cut(text, divider)
		text = strings.ReplaceAll(text, " !", " ")
	}
	if !ok {
		return "", false
	}
	value, err := keys.Unescape(text)
	return value, err == nil
}

// exactly returns the range of the rows with the value.
func (l layout) exactly(value string) (keys.Range, error) {
	row, err := l.row(value, "")
	if l.shared {
		return keys.Prefix(row), err
	}
	return keys.Range{From: row, To: row + " "}, err
}

// between returns the range of the rows with a value from from, inclusive, to to,
// exclusive. "" is no bound.
func (l layout) between(from, to string) (keys.Range, error) {
	first, err := l.text(from)
	if err != nil {
		return keys.Range{}, err
	}
	last, err := l.text(to)
	if err != nil {
		return keys.Range{}, err
	}
	return keys.Range{From: first, To: last}.Under(l.lead), nil
}

// prefix returns the range of the rows with a value that begins with p.
func (l layout) prefix(p string) (keys.Range, error) {
	first, err := l.text(p)
	if err != nil {
		return keys.Range{}, err
	}
	last, err := l.escape(p)
	return keys.Range{From: first, To: last + keys.EscapedPrefix("").To}.Under(l.lead), err
}
