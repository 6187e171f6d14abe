package edm

import (
	"reflect"
	"slices"
	"strings"
)

// flatten returns the fields of a struct type and of the structs embedded in it, by the
// rules of encoding/json: of several fields with one name, the one at the least depth
// wins, and of those at one depth, the one with the name in its tag. If that does not
// decide, flatten returns an error; encoding/json would silently drop the fields.
func flatten(t reflect.Type) ([]field, error) {
	type level struct {
		typ    reflect.Type
		index  []int
		goName string
	}
	var found []field
	taken := map[string]int{} // name to index in found
	visited := map[reflect.Type]bool{}
	for here := []level{{typ: t}}; len(here) > 0; {
		var deeper []level
		atThisDepth := len(found)
		for _, l := range here {
			if visited[l.typ] {
				continue
			}
			for i := range l.typ.NumField() {
				sf := l.typ.Field(i)
				f := field{goName: l.goName + sf.Name, typ: sf.Type, first: i}
				f.index = append(slices.Clone(l.index), i)
				f.first, f.flat = f.index[0], len(f.index) == 1
				bad := func(reason string) error {
					return &FieldError{Type: t.String(), Field: f.goName, Reason: reason}
				}
				var reason string
				if f.tagOptions, reason = parseTag(sf); reason != "" && sf.IsExported() {
					return nil, bad(reason)
				}
				if f.skip {
					continue
				}
				inner, pointer := sf.Type, false
				if inner.Kind() == reflect.Pointer {
					inner, pointer = inner.Elem(), true
				}
				embedded := sf.Anonymous && !f.named && !f.asJSON && !f.blob && inner.Kind() == reflect.Struct && isContainer(inner)
				if embedded || f.inline && inner.Kind() == reflect.Struct {
					if pointer && !sf.IsExported() {
						return nil, bad("an embedded pointer to an unexported struct cannot be set")
					}
					deeper = append(deeper, level{inner, f.index, f.goName + "."})
					continue
				}
				if !sf.IsExported() {
					continue
				}
				if l.typ == edmEntityType && sf.Name == "Properties" {
					f.unknown, f.shape = true, shapeMap // shapeMap: the values have the types of aztables
				}
				if f.name == "ETag" && !f.named {
					f.name = etagName
				}
				if f.unknown = f.unknown || f.inline; f.unknown {
					found = append(found, f)
					continue
				}
				at, ok := taken[f.name]
				switch {
				case !ok:
					taken[f.name] = len(found)
					found = append(found, f)
				case at < atThisDepth: // hidden by a field at a lesser depth
				case f.named && !found[at].named:
					found[at] = f
				case f.named || !found[at].named:
					return nil, bad("has the same property name as " + found[at].goName)
				}
			}
		}
		for _, l := range here {
			visited[l.typ] = true
		}
		here = deeper
	}
	slices.SortFunc(found, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return found, nil
}

// isContainer reports whether the fields of an embedded struct of type t are mapped. They
// are not if the struct is itself a value, such as time.Time. JSON methods do not make it one,
// because those of an embedded struct would be the methods of the entity.
func isContainer(t reflect.Type) bool {
	if t == edmEntityType {
		return true
	}
	s, _, _, _ := classify(t)
	return s == shapeNone || s == shapeScalar
}

// isSystem reports whether the member is set by the service, or is one of the keys, and
// so is not a property.
func isSystem(name string) bool {
	switch name {
	case partitionKeyName, rowKeyName, timestampName:
		return true
	}
	return strings.HasPrefix(name, "odata.") || strings.HasSuffix(name, annotationSuffix)
}

// addSystem assigns a slot to a field that is filled and never written.
func (p *plan) addSystem(f field) (reason string) {
	s := systemField{field: f}
	if reason := s.field.resolve(); reason != "" {
		return reason
	}
	isText := s.field.shape == shapeString && !s.field.ptr
	switch f.name {
	case partitionKeyName:
		s.slot = slotPartitionKey
	case rowKeyName:
		s.slot = slotRowKey
	case timestampName:
		s.slot = slotTimestamp
		switch s.field.shape {
		case shapeTime, shapeEDMTime, shapeString:
		default:
			return "Timestamp is a time.Time, an aztables.EDMDateTime or a string"
		}
		isText = true
	case etagName:
		s.slot = slotETag
	default:
		if base, ok := strings.CutSuffix(f.name, annotationSuffix); ok {
			at := slices.IndexFunc(p.fields, func(g field) bool { return g.name == base })
			switch {
			case base == timestampName:
				s.slot = slotTimestamp
			case at >= 0:
				s.slot = firstFieldSlot + at
				p.fields[at].annotationAt = len(p.system) + 1
			default:
				return "there is no field for the property that it annotates"
			}
			s.annotation = true
			break
		}
		s.slot = p.slots
		p.slots++
	}
	if !isText {
		return f.name + " must be a string: convert the value with package keys, for example in TableOptions.Key"
	}
	p.system = append(p.system, s)
	return ""
}

// tagOptions are the options of a table tag, or of the json tag if there is none.
type tagOptions struct {
	name      string
	named     bool // the tag has the name
	skip      bool
	omitEmpty bool
	omitZero  bool
	quoted    bool // json:",string"
	asJSON    bool // table:",json"
	blob      bool // table:",blob"
	unknown   bool // table:",bag"; also a map with the option inline
	inline    bool // table:",inline": an entity within a row of the library itself
	reserved  bool // table:",reserved": an azp_ name of the library itself
	stored    Type // table:",int32" and so on: the property type
}

// parseTag parses the tag "table". If that has no name, the name and the options that omit
// a field are those of the tag "json".
func parseTag(f reflect.StructField) (o tagOptions, reason string) {
	o.name = f.Name
	text, table := f.Tag.Lookup("table")
	if text == "-" {
		o.skip = true
		return o, ""
	}
	if name, _, _ := strings.Cut(text, ","); name == "" {
		json := f.Tag.Get("json")
		switch {
		case json != "-":
			o.parse(json, false)
		case !table:
			o.skip = true
			return o, ""
		}
	}
	if table {
		o.quoted = false
		reason = o.parse(text, true)
	}
	return o, reason
}

// parse parses the tag "table", or the tag "json".
func (o *tagOptions) parse(text string, table bool) (reason string) {
	name, rest, _ := strings.Cut(text, ",")
	if name != "" {
		o.name, o.named = name, true
	}
	for rest != "" {
		var option string
		option, rest, _ = strings.Cut(rest, ",")
		switch {
		case option == "omitempty":
			o.omitEmpty = true
		case option == "omitzero":
			o.omitZero = true
		case option == "string" && !table:
			o.quoted = true
		case option == "json" && table:
			o.asJSON = true
		case option == "blob" && table:
			o.blob, o.omitZero = true, true
		case option == "bag" && table:
			o.unknown = true
		case option == "inline" && table:
			o.inline = true
		case option == "reserved" && table:
			o.reserved = true
		case table && typeOptions[option] != 0:
			o.stored = typeOptions[option]
		case table:
			return "the options of the table tag are omitempty, omitzero, json, blob, bag, reserved, " +
				"and the types string, int32, int64, double, datetime, guid and binary"
		}
	}
	return ""
}
