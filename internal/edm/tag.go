package edm

import (
	"reflect"
	"strings"
)

// tagOptions is what a table tag says, or the json tag where there is none.
type tagOptions struct {
	name      string
	named     bool // by the tag
	skip      bool
	omitEmpty bool
	omitZero  bool
	quoted    bool // json:",string"
	nested    bool // table:",json"
	blob      bool // table:",blob"
	bag       bool // table:",bag"
	reserved  bool // table:",reserved": an azp_ name of the library itself
}

func parseTag(f reflect.StructField) (o tagOptions, reason string) {
	text, table := f.Tag.Lookup("table")
	if !table {
		text = f.Tag.Get("json")
	}
	o.name = f.Name
	if text == "-" {
		o.skip = true
		return o, ""
	}
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
			o.nested = true
		case option == "blob" && table:
			o.blob, o.omitZero = true, true
		case option == "bag" && table:
			o.bag = true
		case option == "reserved" && table:
			o.reserved = true
		case table:
			return o, "the table tag knows omitempty, omitzero, json, blob, bag and reserved only"
		}
	}
	return o, ""
}
