package table

import (
	"slices"
	"strings"
	"unique"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// entity is the body of a write: the keys, where it names them, and the
// properties that have a value.
type entity struct {
	partition, row       string
	hasPartition, hasRow bool
	props                []property
}

// parseEntity reads and checks the body of a write, as far as that can be
// checked without the row that is stored.
func parseEntity(body []byte) (entity, *rest.Error) {
	var e entity
	members, ok := scanObject(body)
	if !ok {
		return e, errInvalidInput
	}
	if duplicate(members) {
		return e, errDuplicateProp
	}
	e.props = make([]property, 0, len(members))
	for _, m := range members {
		if err := e.add(m, members); err != nil {
			return e, err
		}
	}
	if len(e.props) > maxProperties {
		return e, errTooManyProps
	}
	return e, nil
}

func (e *entity) add(m member, all []member) *rest.Error {
	switch m.name {
	case "PartitionKey", "RowKey":
		return e.addKey(m)
	case "Timestamp":
		return nil // set by the service alone
	}
	if strings.HasPrefix(m.name, "odata.") || strings.Contains(m.name, "@odata.") {
		return nil
	}
	if err := checkName(m.name); err != nil {
		return err
	}
	if m.kind == kindNull {
		return nil // a null is never stored
	}
	note, err := annotation(m.name, all)
	if err != nil {
		return err
	}
	typ, value, err := valueOf(m, note)
	if err != nil {
		return err
	}
	e.props = append(e.props, property{unique.Make(m.name).Value(), typ, value})
	return nil
}

func (e *entity) addKey(m member) *rest.Error {
	switch m.kind {
	case kindNull:
		return nil
	case kindString:
	default:
		return errInvalidInput
	}
	if err := checkKey(m.text); err != nil {
		return err
	}
	if m.name == "PartitionKey" {
		e.partition, e.hasPartition = m.text, true
	} else {
		e.row, e.hasRow = m.text, true
	}
	return nil
}

const noteSuffix = "@odata.type"

func annotation(name string, all []member) (string, *rest.Error) {
	for i := range all {
		n := all[i].name
		if len(n) == len(name)+len(noteSuffix) && n[:len(name)] == name && n[len(name):] == noteSuffix {
			if all[i].kind != kindString {
				return "", errInvalidInput
			}
			return all[i].text, nil
		}
	}
	return "", nil
}

// duplicate reports whether a name occurs twice. Few members are compared
// with each other, which needs no memory.
func duplicate(members []member) bool {
	if len(members) > 32 {
		names := make([]string, len(members))
		for i, m := range members {
			names[i] = m.name
		}
		slices.Sort(names)
		return len(slices.Compact(names)) < len(members)
	}
	for i := range members {
		for j := range i {
			if members[i].name == members[j].name {
				return true
			}
		}
	}
	return false
}
