package edm

import "reflect"

// noted writes a text whose type another field of the struct names, as in
//
//	Count     string
//	CountType string `json:"Count@odata.type"`
func (w *encoder) noted(f *field, v reflect.Value, note *field, entity reflect.Value) error {
	annotation := ""
	if nv, ok := note.get(entity); ok {
		annotation = nv.String()
	}
	if annotation == "" || annotation == String.String() {
		return w.field(f, v)
	}
	return w.notedText(f, v.String(), annotation)
}

// notedText writes a text as a value of the type that annotation names.
func (w *encoder) notedText(f *field, value, annotation string) error {
	edm := edmNamed([]byte(annotation))
	text := []byte(value)
	typed := field{tagOptions: tagOptions{name: f.name}, cost: f.cost, edm: edm}
	typed.lead, _ = leads(f.name, edm)
	bad := &PropertyError{Property: f.name, Want: edm.String(), Got: "other text"}
	switch edm {
	case Int64:
		if i, ok := parseInt(text); ok {
			w.dst = append(w.dst, typed.lead...)
			w.integer(&typed, i)
			return nil
		}
	case DateTime:
		if t, ok := parseDateTime(text); ok {
			return w.dateTime(&typed, t)
		}
	case Guid:
		var g [16]byte
		if parseGUID(&g, text) {
			w.dst = append(w.dst, typed.lead...)
			w.guid(&typed, &g)
			return nil
		}
	case Binary:
		if b, ok := decodeBase64(nil, text); ok {
			return w.binary(&typed, b)
		}
	case Double:
		if value == "NaN" || value == "Infinity" || value == "-Infinity" {
			_, typed.lead = leads(f.name, edm)
			w.dst = append(append(w.dst, typed.lead...), `"`+value+`"`...)
			w.sizer.add(&typed, 8)
			return nil
		}
	default:
		bad.Want, bad.Got = "the name of a type that is text", edm.String()
	}
	return bad
}
