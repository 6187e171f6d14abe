package edm

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Normal returns the normal form of the value of a property: two values have equal normal
// forms if they are the same value for c. v is one of [Properties]. The result is such a value,
// not an int32, or nil if the value is the same as none.
//
//   - Values are compared as a field of that name decodes them. A value that it cannot decode
//     is compared as one without a field.
//   - A missing property is the same as the zero value, and as what a zero field is written as. It is not if the field is a
//     pointer, which distinguishes them.
//   - A whole number is the same in every numeric type.
//   - An instant is the same in every zone and spelling in a time field.
//   - JSON text is compared by content, in a json field, and by what its Go type decodes. A member that is missing is the
//     same as one that is null, zero or empty, unless the Go type distinguishes them, as a map does.
func (c *Codec) Normal(name string, v any) any {
	c = c.Comparing()
	f := c.plan.fieldOf(name)
	if f == nil || v == nil {
		return normalValue(v)
	}
	v = c.decoded(f, v)
	if normal := normalValue(v); normal != nil || !f.ptr || v == nil {
		return normal
	}
	if i, ok := v.(int32); ok {
		return int64(i)
	}
	return v
}

// Same reports whether two values of a property are the same for c; nil is a missing one.
func (c *Codec) Same(name string, x, y any) bool {
	return equalValue(c.Normal(name, x), c.Normal(name, y))
}

// decoded returns v in the form in which the field f writes what it decodes from v.
func (c *Codec) decoded(f *field, v any) any {
	text, isText := v.(string)
	switch f.shape {
	case shapeTime, shapeEDMTime:
		if at, ok := parseDateTime([]byte(text)); isText && ok {
			if f.edm == DateTime {
				at = at.Truncate(100)
			}
			return at
		}
		return v
	case shapeJSON:
		if isText {
			return f.normal(f, text)
		}
		return v
	case shapeFloat:
		if x, ok := v.(float64); ok && f.bits == 32 {
			v = float64(float32(x))
		}
	case shapeText, shapeScalar, shapeLiteral:
		return c.rewritten(f, v)
	}
	if isText == (f.edm == String) {
		if !isText || f.shape == shapeString {
			return v
		}
	}
	return c.rewritten(f, v)
}

// rewritten decodes v into the field f and returns what the field is then written as. It returns
// nil if a zero field is written so, and v if f cannot decode it.
func (c *Codec) rewritten(f *field, v any) any {
	body, err := AppendProperties(nil, Properties{f.name: v}, Envelope{})
	if err != nil {
		return v
	}
	d := c.decoder(body)
	defer c.release(d)
	d.level = levelTyped
	entity := reflect.New(c.plan.typ)
	if !d.start('{') || !d.object() || d.store(entity.Interface(), nil, nil) != nil {
		return v
	}
	now, err := c.written(f, entity)
	if err != nil {
		return v
	}
	if zero, err := c.written(f, reflect.New(c.plan.typ)); err == nil && equalValue(now, zero) {
		return nil
	}
	return now
}

// written returns what the field f of entity is written as, nil if it is omitted.
func (c *Codec) written(f *field, entity reflect.Value) (any, error) {
	body, err := c.Append(nil, entity.Interface(), Envelope{Only: []string{f.name}})
	if err != nil {
		return nil, err
	}
	p, _, err := ReadProperties(body)
	return p[f.name], err
}

// normalValue is the normal form of a value without a field.
func normalValue(v any) any {
	switch x := v.(type) {
	case int32:
		v = int64(x)
	case float64:
		switch {
		case x != x:
			return math.NaN()
		case x == math.Trunc(x) && x >= -1<<63 && x < 1<<63:
			v = int64(x)
		}
	case time.Time:
		v = x.UTC()
	case []byte:
		if len(x) == 0 {
			return nil
		}
		return v
	}
	if v == nil || reflect.ValueOf(v).IsZero() {
		return nil
	}
	return v
}

// normalJSON returns JSON text in a form that depends on its content: the members that the field decodes, as it encodes them, and
// the others unless they are empty. It is "" if the text is the same as a missing property. Text that is not JSON stays as it is.
func (f *field) normalJSON(text string) string {
	content, err := contentOf([]byte(text), isEmptyJSON)
	if err != nil {
		return text
	}
	v := reflect.New(f.typ)
	zero, err := marshaled(v)
	if err == nil {
		err = json.Unmarshal([]byte(text), v.Interface())
	}
	if decoded, err2 := marshaled(v); err == nil && err2 == nil {
		if content == nil && reflect.DeepEqual(decoded, zero) {
			return ""
		}
		content = withMembers(decoded, content)
	}
	if content == nil {
		return ""
	}
	normal, err := json.Marshal(content)
	if err != nil {
		return text
	}
	return string(normal)
}

// marshaled returns the JSON value of v in normal form, without members that have no content.
func marshaled(v reflect.Value) (any, error) {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, err
	}
	return contentOf(text, isNoJSON)
}

// contentOf returns a JSON value in normal form, without values for which empty returns true.
func contentOf(text []byte, empty func(any) bool) (v any, err error) {
	if !json.Valid(text) {
		return nil, errNoJSON
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if v = normalContent(v, empty); empty(v) {
		return nil, nil
	}
	return v, nil
}

var errNoJSON = errors.New("text that is not JSON")

// withMembers returns known with the members of content that it lacks.
func withMembers(known, content any) any {
	switch k := known.(type) {
	case nil:
		return content
	case map[string]any:
		members, _ := content.(map[string]any)
		for name, v := range members {
			k[name] = withMembers(k[name], v)
		}
	case []any:
		if elements, ok := content.([]any); ok && len(elements) == len(k) {
			for i := range k {
				k[i] = withMembers(k[i], elements[i])
			}
		}
	}
	return known
}

// normalContent changes a decoded JSON value into its normal form, without members for which empty returns true.
func normalContent(v any, empty func(any) bool) any {
	switch x := v.(type) {
	case json.Number:
		return normalNumber(x)
	case []any:
		for i := range x {
			x[i] = normalContent(x[i], empty)
		}
	case map[string]any:
		for name, member := range x {
			if x[name] = normalContent(member, empty); empty(x[name]) {
				delete(x, name)
			}
		}
	}
	return v
}

// normalNumber returns a number in a form that does not depend on how it was written. Whole
// numbers without a fraction or an exponent keep all digits.
func normalNumber(n json.Number) json.Number {
	if !strings.ContainsAny(n.String(), ".eE") {
		return json.Number(strings.Replace(n.String(), "-0", "0", 1))
	}
	x, err := n.Float64()
	switch {
	case err != nil:
		return n
	case x == math.Trunc(x) && math.Abs(x) <= maxExact:
		return json.Number(strconv.FormatInt(int64(x), 10))
	}
	return json.Number(strconv.FormatFloat(x, 'g', -1, 64))
}

// isNoJSON reports whether a JSON value in normal form is null, or has no elements.
func isNoJSON(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	}
	return false
}

// isEmptyJSON reports whether a JSON value in normal form is the same as a missing one.
func isEmptyJSON(v any) bool {
	switch x := v.(type) {
	case string:
		return x == ""
	case bool:
		return !x
	case json.Number:
		return x == "0"
	}
	return isNoJSON(v)
}
