package edm

import "errors"

// entityStart opens an entity that has its types, as an answer with metadata does.
const entityStart = `{"odata.metadata":"x"`

// DecodeAs decodes the properties of r into *dst, as if the row had been read with this
// codec; what it has no field for goes to rest.
func (r *Unknown) DecodeAs(c *Codec, pk, rk string, dst any, rest *Unknown) error {
	body := make([]byte, 0, len(entityStart)+len(r.raw)+len(pk)+len(rk)+64)
	body = append(body, entityStart...)
	e := encoder{dst: append(body, `,"PartitionKey":`...)}
	if err := e.key(partitionKeyName, pk); err != nil {
		return err
	}
	e.dst = append(e.dst, `,"RowKey":`...)
	if err := e.key(rowKeyName, rk); err != nil {
		return err
	}
	body = append(e.dst, r.raw...)
	var m Meta
	return c.DecodeEntity(append(body, '}'), dst, &m, rest)
}

// Value is one property of r, as the Go value of its type.
func (r *Unknown) Value(name string) (value any, ok bool, err error) {
	r.each(func(p *restProperty) {
		if p.name != name || ok || err != nil {
			return
		}
		one := Unknown{raw: p.member}
		var all map[string]any
		err = one.DecodeAs(contentCodec, "", "", &all, nil)
		value, ok = all[name]
	})
	if ok && err == nil && value == nil {
		err = errors.New("property without a value")
	}
	return value, ok, err
}
