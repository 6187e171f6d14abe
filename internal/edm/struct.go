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
	f := flattening{of: t, taken: map[string]int{}}
	visited := map[reflect.Type]bool{}
	for here := []embedded{{typ: t}}; len(here) > 0; {
		var deeper []embedded
		f.atThisDepth = len(f.found)
		for _, e := range here {
			if visited[e.typ] {
				continue
			}
			inner, err := f.addFields(e)
			if err != nil {
				return nil, err
			}
			deeper = append(deeper, inner...)
		}
		for _, e := range here {
			visited[e.typ] = true
		}
		here = deeper
	}
	slices.SortFunc(f.found, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return f.found, nil
}

// flattening is the work of [flatten].
type flattening struct {
	of          reflect.Type
	found       []field
	taken       map[string]int // name to index in found
	atThisDepth int            // index in found of the first field at the depth of the current struct
}

// embedded is the type to flatten, or a struct embedded in it.
type embedded struct {
	typ    reflect.Type
	index  []int
	goName string
}

// addFields adds the fields of a struct, and returns those that are structs embedded in it.
func (f *flattening) addFields(e embedded) (inner []embedded, err error) {
	for i := range e.typ.NumField() {
		sf := e.typ.Field(i)
		g, reason := e.field(sf, i)
		if reason == "" && !g.skip {
			if typ, pointer, ok := g.embeds(sf); !ok {
				reason = f.add(g)
			} else if inner = append(inner, embedded{typ, g.index, g.goName + "."}); pointer && !sf.IsExported() {
				reason = "an embedded pointer to an unexported struct cannot be set"
			}
		}
		if reason != "" {
			return nil, &FieldError{Type: f.of.String(), Field: g.goName, Reason: reason}
		}
	}
	return inner, nil
}

// field returns field i of the struct. An unexported one that embeds nothing is skipped.
func (e embedded) field(sf reflect.StructField, i int) (f field, reason string) {
	f = field{goName: e.goName + sf.Name, typ: sf.Type}
	f.index = append(slices.Clone(e.index), i)
	f.first, f.flat = f.index[0], len(f.index) == 1
	f.tagOptions, reason = parseTag(sf)
	if !sf.IsExported() {
		_, _, embeds := f.embeds(sf)
		f.skip = f.skip || !embeds
		return f, ""
	}
	if e.typ == edmEntityType && sf.Name == "Properties" {
		f.unknown, f.shape = true, shapeMap // shapeMap: the values have the types of aztables
	}
	if f.name == "ETag" && !f.named && (sf.Type == etagType || sf.Type == reflect.PointerTo(etagType)) { // a string of that name is a property, as for aztables
		f.name = etagName
	}
	return f, reason
}

// embeds reports whether the fields of f, a struct or a pointer to one, are fields of the entity.
func (f *field) embeds(sf reflect.StructField) (inner reflect.Type, pointer, ok bool) {
	inner = sf.Type
	if pointer = inner.Kind() == reflect.Pointer; pointer {
		inner = inner.Elem()
	}
	if inner.Kind() != reflect.Struct {
		return inner, pointer, false
	}
	return inner, pointer, f.inline || sf.Anonymous && !f.named && !f.asJSON && !f.blob && isContainer(inner)
}

// add adds a field, unless another one hides it.
func (f *flattening) add(g field) (reason string) {
	if g.unknown = g.unknown || g.inline; g.unknown {
		f.found = append(f.found, g)
		return ""
	}
	at, ok := f.taken[g.name]
	switch {
	case !ok:
		f.taken[g.name] = len(f.found)
		f.found = append(f.found, g)
	case at < f.atThisDepth: // hidden by a field at a lesser depth
	case g.named && !f.found[at].named:
		f.found[at] = g
	case g.named || !f.found[at].named:
		return "has the same property name as " + f.found[at].goName
	}
	return ""
}

// isContainer reports whether the fields of an embedded struct of type t are mapped. They
// are not if the struct is itself a value, such as time.Time. JSON methods do not make it one,
// because those of an embedded struct would be the methods of the entity.
func isContainer(t reflect.Type) bool {
	if t == edmEntityType {
		return true
	}
	k, _ := classify(t)
	return k.shape == shapeNone || k.shape == shapeScalar
}

// isSystem reports whether the member is set by the service, or is one of the keys, and
// so is not a property.
func isSystem(name string) bool {
	return slices.Contains(systemNames[:], name) || strings.HasPrefix(name, "odata.") || strings.HasSuffix(name, annotationSuffix)
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
	encrypted bool // table:",encrypted": stored encrypted, for the row and the property
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
	if o.encrypted && (o.inline || o.blob || o.reserved) {
		reason = "the option encrypted is for a property that is in the row, and not with inline, blob and reserved"
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
		case option == "encrypted" && table:
			o.encrypted = true
		case option == "reserved" && table:
			o.reserved = true
		case table && typeOptions[option] != 0:
			o.stored = typeOptions[option]
		case table:
			return "the options of the table tag are omitempty, omitzero, json, blob, bag, encrypted, reserved, " +
				"and the types string, int32, int64, double, datetime, guid and binary"
		}
	}
	return ""
}
