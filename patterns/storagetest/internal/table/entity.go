package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// entity is the body of a write: the keys, if it contains them, and the properties that are
// not null.
type entity struct {
	partition, row       string
	hasPartition, hasRow bool
	props                []property
}

// parseEntity reads the body of a write, and checks what can be checked without the
// stored row.
func parseEntity(r *request.Request) (entity, *reply.Error) {
	var e entity
	members, ok := r.Object()
	if !ok {
		return e, errInvalidInput.Because("the body is not a flat JSON object in UTF-8, with its surrogates in pairs")
	}
	if name, ok := duplicate(members); ok {
		return e, errDuplicateProp.Because(name + ": twice in the body")
	}
	e.props = make([]property, 0, len(members))
	for _, m := range members {
		if err := e.add(r, m, members); err != nil {
			return e, err
		}
	}
	if len(e.props) > maxProperties {
		return e, errTooManyProps.Because("an entity has at most 252 properties of its own")
	}
	return e, nil
}

func (e *entity) add(r *request.Request, m request.Member, all []request.Member) *reply.Error {
	switch m.Name {
	case "PartitionKey", "RowKey":
		return e.addKey(m)
	case "Timestamp":
		return nil // only the service sets it
	}
	if strings.HasPrefix(m.Name, "odata.") || strings.Contains(m.Name, "@odata.") {
		return nil
	}
	if err := checkName(m.Name); err != nil {
		return err
	}
	if m.Kind == request.NullValue {
		return nil // a null is never stored
	}
	note, err := annotation(m.Name, all)
	if err != nil {
		return err
	}
	if note == "" && beyondInt32(m) {
		// The reader of OData tries Int32 and then a floating type.
		if err := r.Undecided(m.Name, "a whole number beyond Int32 without a type is stored as a Double, which may lose digits", errInvalidInput); err != nil {
			return err
		}
		note = filter.Double.String()
	}
	value, err := valueOf(m, note)
	if err != nil {
		return err
	}
	e.props = append(e.props, property{m.Name, value})
	return nil
}

func (e *entity) addKey(m request.Member) *reply.Error {
	switch m.Kind {
	case request.NullValue:
		return nil
	case request.StringValue:
	default:
		return errInvalidInput.Because(m.Name + ": a key is a text")
	}
	if err := request.CheckKey(m.Name, m.Text); err != nil {
		return err
	}
	if m.Name == "PartitionKey" {
		e.partition, e.hasPartition = m.Text, true
	} else {
		e.row, e.hasRow = m.Text, true
	}
	return nil
}

// beyondInt32 reports whether m is a whole number that is no Int32.
func beyondInt32(m request.Member) bool {
	if m.Kind != request.NumberValue || strings.ContainsAny(m.Text, ".eE") {
		return false
	}
	_, err := strconv.ParseInt(m.Text, 10, 32)
	return err != nil
}

const noteSuffix = "@odata.type"

func annotation(name string, all []request.Member) (string, *reply.Error) {
	for i := range all {
		n := all[i].Name
		if len(n) == len(name)+len(noteSuffix) && n[:len(name)] == name && n[len(name):] == noteSuffix {
			if all[i].Kind != request.StringValue {
				return "", errInvalidInput.Because(name + noteSuffix + ": the name of a type is a text")
			}
			return all[i].Text, nil
		}
	}
	return "", nil
}

// duplicate returns a name that occurs twice, if there is one. A small number of members is compared pairwise, which needs
// no memory.
func duplicate(members []request.Member) (string, bool) {
	if len(members) > 32 {
		names := make([]string, len(members))
		for i, m := range members {
			names[i] = m.Name
		}
		slices.Sort(names)
		for i := range names[1:] {
			if names[i] == names[i+1] {
				return names[i], true
			}
		}
		return "", false
	}
	for i := range members {
		for j := range i {
			if members[i].Name == members[j].Name {
				return members[i].Name, true
			}
		}
	}
	return "", false
}
