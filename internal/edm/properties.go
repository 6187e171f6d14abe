package edm

import "maps"

// Properties are all properties of a row by name, the library's own ones too, but
// for keys, Timestamp and stamps. Values are string, bool, int32, int64, float64,
// time.Time, []byte or [16]byte.
type Properties map[string]any

// ReadProperties takes a row apart.
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

// AppendProperties appends a row of the given properties and stamp. Its checks and
// errors are those of Append.
func AppendProperties(dst []byte, p Properties, e Envelope) ([]byte, error) {
	c, err := CodecFor(bagType)
	if err != nil {
		return dst, err
	}
	bag := map[string]any(p)
	e.Reserved = true
	return c.Append(dst, &bag, e)
}

// Equal answers whether p and q have the same properties with the same types and values.
func (p Properties) Equal(q Properties) bool {
	return maps.EqualFunc(p, q, equalValue)
}
