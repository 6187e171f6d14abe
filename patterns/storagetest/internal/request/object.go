package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"unicode/utf8"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of a value in a flat object.
const (
	NullValue Kind = iota
	BoolValue
	NumberValue
	StringValue
)

// Member is a name and a value of a flat JSON object.
type Member struct {
	Name string
	Kind Kind
	Text string // the decoded string, the number as written, "true" or "false"
}

// object is the body as a JSON object.
type object struct {
	members []Member
	ok      bool
}

// Object parses the body as a JSON object and returns its members in order. It returns
// false if the body is not a flat JSON object.
func (r *Request) Object() ([]Member, bool) {
	if r.object == nil {
		body, refusal := r.Body(MaxTableBody)
		members, ok := scanObject(body)
		r.object = &object{members, ok && refusal == nil}
	}
	return r.object.members, r.object.ok
}

// paired matches a text whose escaped surrogates are all in pairs. Package encoding/json
// replaces a lone one.
var paired = regexp.MustCompile(`^(?s:[^\\]|\\[^u]|\\u(?:[^dD]|[dD][0-7]|[dD][89abAB]..\\u[dD][c-fC-F]))*$`)

// scanObject parses a JSON object whose values are scalars, as those of an entity are. It
// refuses everything that RFC 8259 does not allow, and also nested values, invalid UTF-8
// and lone surrogates.
func scanObject(b []byte) ([]Member, bool) {
	if !utf8.Valid(b) || bytes.Contains(b, []byte(`\u`)) && !paired.Match(b) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	members := make([]Member, 0, 16)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		value, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := Member{Name: name.(string)}
		switch v := value.(type) {
		case nil:
		case bool:
			m.Kind, m.Text = BoolValue, "false"
			if v {
				m.Text = "true"
			}
		case json.Number:
			m.Kind, m.Text = NumberValue, v.String()
		case string:
			m.Kind, m.Text = StringValue, v
		default:
			return nil, false
		}
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, false
	}
	_, err := d.Token()
	return members, errors.Is(err, io.EOF)
}
