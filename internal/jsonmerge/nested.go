package jsonmerge

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode"
)

// nested is a JSON value. An object or an array is taken apart.
type nested struct {
	text  string
	id    int // values that one parser has read have equal ones if their texts are equal
	parts []nestedPart
	open  string // up to the first part
	end   string // after the last one
}

// nestedPart is a member of an object or an element of an array.
type nestedPart struct {
	gap   string // before it: the comma and white space; "" for the first
	name  string // of a member
	label string // of a member, up to its value
	value nested
}

// kind returns '{' for an object and '[' for an array.
func (n *nested) kind() byte { return n.text[0] }

// index returns the members by name, the last one of several.
func (n *nested) index() map[string]int {
	index := make(map[string]int, len(n.parts))
	for i := range n.parts {
		index[n.parts[i].name] = i
	}
	return index
}

// A parser takes valid values apart. It reads each character once, however deep it is nested.
type parser struct {
	text string
	at   int
	ids  map[string]int // by what a value consists of, with the ids of its parts
}

// parse takes apart a text that is one valid value.
func (p *parser) parse(text string) nested {
	p.text, p.at = text, skipSpace(text, 0)
	return p.value()
}

func (p *parser) value() nested {
	begin := p.at
	var n nested
	var key []byte
	switch p.text[p.at] {
	case '{', '[':
		key = p.inside(&n)
	case '"':
		p.at = skipText(p.text, p.at)
	default:
		for p.at < len(p.text) && strings.IndexByte(",]} \t\r\n", p.text[p.at]) < 0 {
			p.at++
		}
	}
	n.text = p.text[begin:p.at]
	if key == nil {
		key = []byte(n.text)
	}
	id, ok := p.ids[string(key)]
	if !ok {
		id = len(p.ids)
		p.ids[string(key)] = id
	}
	n.id = id
	return n
}

// inside reads an object or an array and returns what distinguishes it from others.
func (p *parser) inside(n *nested) (key []byte) {
	object := p.text[p.at] == '{'
	begin := p.at
	p.at = skipSpace(p.text, p.at+1)
	n.open = p.text[begin:p.at]
	key = append(key, n.open...)
	end := p.at // of the last value
	for p.text[p.at] != '}' && p.text[p.at] != ']' {
		var q nestedPart
		q.gap = p.text[end:p.at]
		if object {
			begin := p.at
			p.at = skipText(p.text, p.at)
			_ = json.Unmarshal([]byte(p.text[begin:p.at]), &q.name) // it is valid
			p.at = skipSpace(p.text, skipSpace(p.text, p.at)+1)
			q.label = p.text[begin:p.at]
		}
		q.value = p.value()
		key = append(append(key, q.gap...), q.label...)
		key = append(binary.AppendVarint(append(key, 0), int64(q.value.id)), 0) // no text of JSON has a zero byte
		n.parts = append(n.parts, q)
		end = p.at
		if p.at = skipSpace(p.text, p.at); p.text[p.at] == ',' {
			p.at = skipSpace(p.text, p.at+1)
		}
	}
	p.at++
	n.end = p.text[end:p.at]
	return append(key, n.end...)
}

func skipSpace(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
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

// folded returns a text that is the same for names that differ only in case.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// rebuilt is an object or an array that is put together from the parts of another one.
type rebuilt struct {
	*strings.Builder
	of    *nested
	begun bool
}

// part begins part i of the other one. Its value follows.
func (r *rebuilt) part(i int) {
	p := &r.of.parts[i]
	r.begin(p.gap)
	r.WriteString(p.label)
}

// append adds a part that the other one does not have.
func (r *rebuilt) append(p *nestedPart) {
	r.begin("")
	r.WriteString(p.label)
	r.WriteString(p.value.text)
}

// begin begins a part. A part without a gap of its own has that of the last one.
func (r *rebuilt) begin(gap string) {
	if !r.begun {
		r.begun = true
		r.WriteString(r.of.open)
		return
	}
	if n := len(r.of.parts); gap == "" && n > 0 {
		gap = r.of.parts[n-1].gap
	}
	if gap == "" {
		gap = ","
	}
	r.WriteString(gap)
}

func (r *rebuilt) close() {
	if !r.begun {
		r.WriteString(r.of.open)
	}
	r.WriteString(r.of.end)
}
