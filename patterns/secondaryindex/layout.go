package secondaryindex

import (
	"strings"

	"github.com/azpatterns/azpatterns/internal/indexed"
	"github.com/azpatterns/azpatterns/keys"
)

// layout writes the row keys of an index:
//
//	lead value                      unique
//	lead value SPACE SPACE suffix   not unique
//
// value is escaped, so it holds no "_". suffix is the primary's key, so that two
// primaries never share a row.
//
// The space is the least character of a key, which is why two of them divide: what
// follows a value is then below all that continues it, and keys sort by value.
// For that no value may hold two spaces or end in one. So in a value that is
// followed by a suffix, every space before a space, before "!", and at the end, is
// followed by a "!": "De Vries" stays as it is, "a  b" becomes "a ! b". As "!" is
// the least character above the space, that changes nothing about the order.
type layout struct {
	lead   string // "email_", or "" where the partition leads
	fold   bool
	shared bool // several primaries may have one value
}

const divider = "  "

// text is the value as it stands in the row key.
func (l layout) text(value string) (string, error) {
	text, err := l.escape(value)
	if l.shared && strings.HasSuffix(text, " ") {
		text += "!"
	}
	return text, err
}

// escape is text without what depends on the value's end. Its error, of what can
// stand in no key, names the value.
func (l layout) escape(value string) (string, error) {
	if l.fold {
		value = indexed.Fold(value)
	}
	text := keys.Escape(value)
	if l.shared {
		text = spaced(text)
	}
	return text, keys.Check("indexed value", text)
}

// spaced puts a "!" behind each space that a space or a "!" follows.
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

// row is the row key of a primary with the value. suffix is not used where the
// value is unique.
func (l layout) row(value, suffix string) (string, error) {
	text, err := l.text(value)
	if l.shared {
		text += divider + suffix
	}
	row := l.lead + text
	if err == nil {
		err = keys.Check("indexed value", row) // with what stands around it
	}
	return row, err
}

// value reads the value off a row key; ok is false where the key is none of the
// index.
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

// exactly is the range of the rows with the value.
func (l layout) exactly(value string) (keys.Range, error) {
	row, err := l.row(value, "")
	if l.shared {
		return keys.Prefix(row), err
	}
	return keys.Range{From: row, To: row + " "}, err
}

// between is the range of the rows with a value from from up to, and without, to.
// "" is no bound.
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

// prefix is the range of the rows with a value that begins with p.
func (l layout) prefix(p string) (keys.Range, error) {
	first, err := l.text(p)
	if err != nil {
		return keys.Range{}, err
	}
	last, err := l.escape(p)
	return keys.Range{From: first, To: last + keys.EscapedPrefix("").To}.Under(l.lead), err
}
