package edm

import (
	"bytes"
	"maps"
	"reflect"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// contentCodec reads every property into a map, also those with reserved names, and nothing else.
var contentCodec = func() *Codec {
	p := &plan{typ: mapType, isMap: true, onlyProperties: true, withReserved: true}
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

// content returns the keys, the properties and the stamps of a row.
func content(body []byte) (map[string]any, error) {
	var properties map[string]any
	var m Meta
	if err := contentCodec.DecodeEntity(body, &properties, &m, nil); err != nil {
		return nil, err
	}
	properties[partitionKeyName], properties[rowKeyName] = m.PartitionKey, m.RowKey
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

// PropertiesCodec returns the codec of *map[string]any that decodes every property of a
// row, also those with reserved names, as [ReadProperties] does.
func PropertiesCodec() *Codec { return contentCodec }

// ReadProperties decodes a row into its properties. The service has sent it with its types, or this package has encoded it.
func ReadProperties(body []byte) (Properties, Meta, error) {
	var row ContentBuffer
	err := contentCodec.DecodeAppended(body, &row.properties, &row.Meta, nil)
	if err != nil {
		return nil, Meta{}, err
	}
	return row.properties, row.Meta, nil
}

// AppendProperties appends a row with the given properties. Its checks and errors are those
// of Append.
func AppendProperties(dst []byte, p Properties, e Envelope) ([]byte, error) {
	properties := map[string]any(p)
	return contentCodec.Append(dst, &properties, e)
}

// Equal reports whether p and q have the same properties with the same types and values.
func (p Properties) Equal(q Properties) bool {
	return maps.EqualFunc(p, q, equalValue)
}

// Content is a row taken apart, to be changed and written back.
type Content struct {
	Properties
	Stamp     string    // the write stamps
	Timestamp time.Time // of the last write
	texts     Unknown   // of properties that are written as they were read
}

// ContentOf takes apart a row that this library has encoded or read.
func ContentOf(body []byte) (Content, error) {
	var row ContentBuffer
	if err := contentCodec.DecodeAppended(body, &row.properties, &row.Meta, &row.unknown); err != nil {
		return Content{}, err
	}
	return row.Content(), nil
}

// TextsOf returns c with the spellings that other has of the properties for which from returns true, and with its own of all others.
func (c Content) TextsOf(other Content, from func(name string) bool) Content {
	c.texts = c.texts.TextsOf(&other.texts, from)
	return c
}

// Text returns a text property, "" if there is none.
func (c Content) Text(name string) string {
	text, _ := c.Properties[name].(string)
	return text
}

// Encode returns the row at key with that content, in the JSON of the Table service.
func (c Content) Encode(key keys.Key) ([]byte, error) {
	return AppendProperties(nil, c.Properties, Envelope{PartitionKey: key.Partition, RowKey: key.Row, Stamp: c.Stamp, Unknown: &c.texts})
}

// ContentBuffer is what the codec of [PropertiesCodec] decodes one row into.
type ContentBuffer struct {
	Meta       Meta
	properties map[string]any
	unknown    Unknown
}

// Dst returns the arguments with which the row is decoded.
func (b *ContentBuffer) Dst() (dst any, m *Meta, unknown *Unknown) {
	return &b.properties, &b.Meta, &b.unknown
}

// Content returns the row that was decoded.
func (b *ContentBuffer) Content() Content {
	return Content{b.properties, b.Meta.Stamp, b.Meta.Timestamp, b.unknown.OnlyTexts()}
}
