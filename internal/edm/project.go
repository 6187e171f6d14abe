package edm

import (
	"reflect"
	"slices"
)

// Keep removes all properties of *entity but the named ones: fields are set to zero, entries
// of maps are deleted. Keys, Timestamp and ETag stay. *entity must be freshly decoded, so that
// it shares no map with another value.
func (c *Codec) Keep(entity any, names []string) {
	v := reflect.ValueOf(entity).Elem()
	for i := range c.plan.fields {
		f := &c.plan.fields[i]
		if slices.Contains(names, f.name) {
			continue
		}
		whole := *f
		whole.ptr = false // the pointer itself, not what it points to
		if fv, ok := whole.get(v); ok {
			fv.SetZero()
		}
	}
	properties := c.plan.unknownIn(v)
	for _, name := range propertyNames(properties) {
		if !slices.Contains(names, name) {
			delete(properties, name)
		}
	}
}

// Keep returns the properties of u whose names keep returns true for.
func (u *Unknown) Keep(keep func(name string) bool) Unknown {
	var raw []byte
	u.each(func(p *unknownProperty) {
		if keep(string(p.name)) {
			raw = append(raw, p.member...)
		}
	})
	return Unknown{raw: raw}
}
