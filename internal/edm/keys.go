package edm

import "reflect"

// SetKeys fills the fields PartitionKey and RowKey of *entity, where the type has
// them, and the entries of those names in a map that has them.
func (c *Codec) SetKeys(entity any, pk, rk string) {
	v := reflect.ValueOf(entity).Elem()
	if c.plan.isMap {
		m := bagOf(v)
		for name, text := range map[string]string{partitionKeyName: pk, rowKeyName: rk} {
			if _, ok := m[name]; ok {
				m[name] = text
			}
		}
		return
	}
	for i := range c.plan.system {
		s := &c.plan.system[i]
		switch {
		case s.note:
		case s.slot == slotPartitionKey:
			s.field.reach(v).SetString(pk)
		case s.slot == slotRowKey:
			s.field.reach(v).SetString(rk)
		}
	}
}
