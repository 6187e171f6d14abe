package oldprogram

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// layout is where the derived rows of a view are, and what they contain.
type layout struct {
	name   string
	byHand bool // the old program stores the rows too
	remote bool
	value  string // the property that the view depends on
	only   []string

	// rows returns the row of a primary; of a list that the old program stores, also if the primary is not a member.
	rows func(l *layout, key keys.Key, primary stored, others []string, present bool) (keys.Key, stored)
}

// layouts are those of the library, and those of the guide that programs written by hand have.
var layouts = []*layout{
	{name: "full", value: "Mail", rows: copyRow},
	{name: "group", value: "Group", rows: copyRow},
	{name: "slim", value: "Mail", only: []string{"Mail", "Group"}, rows: copyRow},
	{name: "remote", value: "Mail", remote: true, rows: copyRow},
	{name: "remotegroup", value: "Group", remote: true, rows: copyRow},
	{name: "remoteslim", value: "Mail", remote: true, only: []string{"Group"}, rows: copyRow},
	{name: "guide", value: "Mail", byHand: true, rows: copyRow},
	{name: "guideslim", value: "Mail", byHand: true, only: []string{"ID", "Group"}, rows: copyRow},
	{name: "guideremote", value: "Mail", byHand: true, remote: true, rows: copyRow},
	{name: "adopt", value: "Mail", byHand: true, rows: copyRow},
	{name: "adoptremote", value: "Group", byHand: true, remote: true, rows: copyRow},
	{name: "list", value: "Group", byHand: true, rows: listRow},
	{name: "listremote", value: "Group", byHand: true, remote: true, rows: listRow},
	{name: "members", value: "Group", rows: listRow},
	{name: "department", value: "Mail", rows: departmentRow},
	{name: "departmentremote", value: "Mail", remote: true, rows: departmentRow},
}

func (l *layout) guide() bool { return strings.HasPrefix(l.name, "guide") }
func (l *layout) list() bool {
	return l.name == "list" || l.name == "listremote" || l.name == "members"
}

// ofGroup reports whether several primaries may have the value.
func (l *layout) ofGroup() bool { return l.value == "Group" }

func (l *layout) partition(of string) string {
	if l.remote {
		return of + "-" + l.name
	}
	return of
}

func textIn(p property) (text string) {
	if p.text != "" {
		must(json.Unmarshal([]byte(p.text), &text))
	}
	return text
}

func textProperty(text string) property {
	return property{string(textOf(reflect.ValueOf(&text).Elem())), "Edm.String"}
}

// copyRow is the copy of a primary.
func copyRow(l *layout, key keys.Key, primary stored, _ []string, present bool) (keys.Key, stored) {
	row := keys.Escape(textIn(primary[l.value]))
	if !l.remote {
		row = l.name + "_" + row
	}
	if l.ofGroup() {
		row += "  " + keys.Escape(key.Row)
		if l.remote {
			row = keys.Escape(textIn(primary[l.value])) + "  " + keys.Escape(key.Partition) + "_" + keys.Escape(key.Row)
		}
	}
	content := primary.without()
	if l.guide() {
		delete(content, "Mail")
		content["ID"] = textProperty(key.Row)
	}
	if l.only != nil {
		maps.DeleteFunc(content, func(name string, _ property) bool { return !slices.Contains(l.only, name) })
	}
	if !present {
		content = nil
	}
	return keys.Key{Partition: l.partition(key.Partition), Row: row}, content
}

// listRow is a list that contains the primary and others.
func listRow(l *layout, key keys.Key, primary stored, others []string, present bool) (keys.Key, stored) {
	value := textIn(primary[l.value])
	lead := ""
	if l.remote {
		lead = key.Partition + "/"
	}
	var members []string
	if l.byHand && slices.Contains(others, value) {
		members = append(members, lead+"000000", lead+"999999")
	}
	if present {
		members = append(members, lead+key.Row)
	}
	slices.Sort(members)
	at := keys.Key{Partition: l.partition(key.Partition), Row: keys.Escape(value)}
	if l.name == "members" {
		at.Row = l.name + "_" + at.Row
	}
	switch {
	case len(members) == 0:
		return at, nil
	case l.name == "members":
		return at, stored{"Members": textProperty(string(textOf(reflect.ValueOf(&members).Elem())))}
	}
	return at, stored{l.property(): textProperty(strings.Join(members, ","))}
}

// property is that of a list by hand. Two lists of one table need different ones: they are recognized by them.
func (l *layout) property() string {
	if l.remote {
		return "EmployeeDetails"
	}
	return "EmployeeIDs"
}

// departmentRow is what a primary adds to the row of its department.
func departmentRow(l *layout, key keys.Key, primary stored, _ []string, _ bool) (keys.Key, stored) {
	return l.department(key), stored{"EmployeeCount": {"1", "Edm.Int32"}, "ManagerMail": primary["Mail"]}
}

func (l *layout) department(of keys.Key) keys.Key {
	return keys.Key{Partition: l.partition(of.Partition), Row: "Department"}
}

// foreignDepartment is the row of a department that another program has stored.
func foreignDepartment(r *rand.Rand, key keys.Key) []byte {
	e := foreignRow(r, reflect.TypeFor[struct{ Name string }]())
	e.PartitionKey, e.RowKey = key.Partition, key.Row
	e.Properties["EmployeeCount"] = int32(0)
	return textOf(reflect.ValueOf(&e).Elem())
}

// viewsOf declares the views of a layout.
func viewsOf[N any](l *layout) []patterns.View[N] {
	value := func(n *N) (string, bool) { return textField(n, l.value), textField(n, l.value) != "" }
	in := func(partition, _ string) string { return l.partition(partition) }
	var view patterns.View[N]
	switch {
	case l.name == "members":
		view = indexentity.Intra(l.name, value, &indexentity.Options[N]{})
	case l.name == "list":
		view = indexentity.Intra(l.name, value, &indexentity.Options[N]{Property: l.property(), Separator: ",", Bare: true, Plain: true})
	case l.list():
		view = indexentity.Inter(l.name, nil, value, &indexentity.Options[N]{Property: l.property(), Separator: ",", Plain: true, Partition: in})
	case strings.HasPrefix(l.name, "department"):
		type manager struct{ ManagerMail string }
		at := func(n *N) keys.Key { return l.department(keyOf(n)) }
		boss := denormalize.Into(func(n *N) (keys.Key, manager, bool) { return at(n), manager{textField(n, "Mail")}, true })
		count := denormalize.Count("EmployeeCount", func(n *N) (keys.Key, bool) { return at(n), true })
		if l.remote {
			return []patterns.View[N]{denormalize.Inter(l.name+"-manager", nil, boss, nil), denormalize.Inter(l.name, nil, count, nil)}
		}
		return []patterns.View[N]{denormalize.Intra(l.name+"-manager", boss, nil), denormalize.Intra(l.name, count, nil)}
	default:
		opts := &secondaryindex.Options[N]{NonUnique: l.ofGroup(), Only: l.only}
		if l.guide() {
			opts.Copy = func(n *N) N {
				c := *n
				v := reflect.ValueOf(&c).Elem()
				v.FieldByName("ID").SetString(keyOf(n).Row)
				v.FieldByName("Mail").SetString("")
				return c
			}
			opts.Owner = func(n *N, at keys.Key) (keys.Key, bool) {
				of, remote := strings.CutSuffix(at.Partition, "-"+l.name)
				id := textField(n, "ID")
				return keys.Key{Partition: of, Row: id}, id != "" && remote == l.remote
			}
		}
		if !l.remote {
			view = secondaryindex.Intra(l.name, value, opts)
			break
		}
		opts.Partition = in
		view = secondaryindex.Inter(l.name, nil, value, opts)
	}
	return []patterns.View[N]{view}
}

func textField[N any](n *N, name string) string {
	return reflect.ValueOf(n).Elem().FieldByName(name).String()
}

// keyOf returns the key that a value of a new struct contains.
func keyOf[N any](n *N) keys.Key {
	v := reflect.ValueOf(n).Elem()
	if part := v.FieldByName("Part"); part.IsValid() {
		return keys.Key{Partition: part.String(), Row: v.FieldByName("Row").String()}
	}
	return keys.Key{Partition: v.FieldByName("PartitionKey").String(), Row: v.FieldByName("RowKey").String()}
}

func (l *layout) String() string { return fmt.Sprintf("layout %q", l.name) }
