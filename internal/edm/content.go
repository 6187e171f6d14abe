package edm

import (
	"bytes"
	"maps"
	"reflect"
	"time"
)

// contentCodec reads every property into a map, also those with reserved names.
var contentCodec = func() *Codec {
	p := &plan{typ: mapType, isMap: true, withReserved: true}
	p.addMembers()
	return newCodec(p)
}()

// EqualContent reports whether two bodies of one entity have the same keys and the same
// properties with the same types and values. It ignores control members, Timestamp, the
// order of members and the spelling of values. A null is treated as absent. The error is
// that of DecodeEntity.
func EqualContent(sent, read []byte) (bool, error) { return compareContent(sent, read, false) }

// HasContent reports whether the row read has all the properties and values sent, as it
// has after a merge. It may have others.
func HasContent(sent, read []byte) (bool, error) { return compareContent(sent, read, true) }

func compareContent(sent, read []byte, allowMore bool) (bool, error) {
	a, err := content(sent)
	if err != nil {
		return false, err
	}
	b, err := content(read)
	if err != nil {
		return false, err
	}
	if len(a) != len(b) && !allowMore {
		return false, nil
	}
	for name, x := range a {
		y, ok := b[name]
		if !ok || !equalValue(x, y) {
			return false, nil
		}
	}
	return true, nil
}

// Stamps returns the write stamps of a row as it was read, "" for none.
func Stamps(read []byte) (string, error) {
	var properties map[string]any
	var m Meta
	err := contentCodec.DecodeEntity(read, &properties, &m, nil)
	return m.Stamp, err
}

func content(body []byte) (map[string]any, error) {
	var properties map[string]any
	var m Meta
	if err := contentCodec.DecodeEntity(body, &properties, &m, nil); err != nil {
		return nil, err
	}
	delete(properties, timestampName)
	if m.Stamp != "" {
		properties[stampName] = m.Stamp
	}
	return properties, nil
}

func equalValue(x, y any) bool {
	switch x := x.(type) {
	case []byte:
		y, ok := y.([]byte)
		return ok && bytes.Equal(x, y)
	case time.Time:
		y, ok := y.(time.Time)
		return ok && x.Equal(y)
	case float64:
		y, ok := y.(float64)
		return ok && (x == y || x != x && y != y)
	}
	return reflect.TypeOf(x) == reflect.TypeOf(y) && x == y
}

// Properties are all properties of a row by name, also those with reserved names, but not
// the keys, Timestamp and stamps. Values are string, bool, int32, int64, float64,
// time.Time, []byte or [16]byte.
type Properties map[string]any

// ReadProperties decodes a row into its properties.
func ReadProperties(body []byte) (Properties, Meta, error) {
	var properties map[string]any
	var m Meta
	if err := contentCodec.DecodeEntity(body, &properties, &m, nil); err != nil {
		return nil, Meta{}, err
	}
	for _, name := range []string{partitionKeyName, rowKeyName, timestampName} {
		delete(properties, name)
	}
	return properties, m, nil
}

// AppendProperties appends a row with the given properties. Its checks and errors are those
// of Append.
func AppendProperties(dst []byte, p Properties, e Envelope) ([]byte, error) {
	c, err := CodecFor(mapType)
	if err != nil {
		return dst, err
	}
	properties := map[string]any(p)
	e.Reserved = true
	return c.Append(dst, &properties, e)
}

// Equal reports whether p and q have the same properties with the same types and values.
func (p Properties) Equal(q Properties) bool {
	return maps.EqualFunc(p, q, equalValue)
}
