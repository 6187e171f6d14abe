package jsonmerge

import (
	"encoding/json"
	"strings"
)

// nested is an object or an array, taken apart.
type nested struct {
	parts []part
	open  string // up to the first part
	end   string // after the last one
}

// part is a member of an object or an element of an array.
type part struct {
	gap   string // before it: the comma and white space; "" for the first
	name  string // of a member
	label string // of a member, up to its value
	value string
}

// index returns the members by name, the last one of several.
func (n nested) index() map[string]int {
	index := make(map[string]int, len(n.parts))
	for i, p := range n.parts {
		index[p.name] = i
	}
	return index
}

// parse takes a valid object or array apart.
func parse(text string) nested {
	var n nested
	at := skipSpace(text, 1)
	n.open = text[:at]
	end := 0 // of the last value
	for text[at] != '}' && text[at] != ']' {
		var p part
		if end > 0 {
			p.gap = text[end:at]
		}
		if text[0] == '{' {
			key := skipText(text, at)
			_ = json.Unmarshal([]byte(text[at:key]), &p.name) // it is valid
			value := skipSpace(text, skipSpace(text, key)+1)
			p.label, at = text[at:value], value
		}
		end = skipValue(text, at)
		p.value = text[at:end]
		n.parts = append(n.parts, p)
		if at = skipSpace(text, end); text[at] == ',' {
			at = skipSpace(text, at+1)
		}
	}
	n.end = text[max(end, len(n.open)):]
	return n
}

func skipSpace(text string, at int) int {
	for strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at
}

// skipText returns the end of the string that begins at the index at.
func skipText(text string, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func skipValue(text string, at int) int {
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '"':
			if at = skipText(text, at); depth == 0 {
				return at
			}
			at--
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // of a number or a word
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
	}
	return at
}

// rebuilt is an object or an array that is put together from the parts of another one.
type rebuilt struct {
	of   nested
	text strings.Builder
}

// add adds part i of the other one, with a value.
func (r *rebuilt) add(i int, value string) {
	p := r.of.parts[i]
	r.begin(p.gap)
	r.text.WriteString(p.label)
	r.text.WriteString(value)
}

// append adds a part that the other one does not have.
func (r *rebuilt) append(p part) {
	r.begin("")
	r.text.WriteString(p.label)
	r.text.WriteString(p.value)
}

// begin begins a part. A part without a gap of its own has that of the last one.
func (r *rebuilt) begin(gap string) {
	if r.text.Len() == 0 {
		r.text.WriteString(r.of.open)
		return
	}
	if n := len(r.of.parts); gap == "" && n > 0 {
		gap = r.of.parts[n-1].gap
	}
	if gap == "" {
		gap = ","
	}
	r.text.WriteString(gap)
}

func (r *rebuilt) close() string {
	if r.text.Len() == 0 {
		r.text.WriteString(r.of.open)
	}
	r.text.WriteString(r.of.end)
	return r.text.String()
}
