package reindex_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// handTable is a table that a program on aztables has written. Its rows are JSON members.
type handTable struct {
	name     string
	rows     map[keys.Key]map[string]string
	touched  map[keys.Key]string   // the property that the program changes: an Edm.Int32
	entities map[string][]keys.Key // by the names of their kinds, in the report
	want     string                // the kinds of the report, with their patterns
	opens    map[string]string     // the functions of kinds for which the usual name is taken
}

// row adds a row. Properties are names and JSON text in turns; a name may have a type after a colon.
func (h *handTable) row(kind, partition, row, touched string, properties map[string]string) {
	k := keys.Key{Partition: partition, Row: row}
	if h.rows == nil {
		h.rows, h.touched, h.entities = map[keys.Key]map[string]string{}, map[keys.Key]string{}, map[string][]keys.Key{}
	}
	h.rows[k], h.touched[k] = maps.Clone(properties), touched
	if kind != "" {
		h.entities[kind] = append(h.entities[kind], k)
	}
}

func body(k keys.Key, properties map[string]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"PartitionKey":%s,"RowKey":%s`, text(k.Partition), text(k.Row))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		value := properties[name]
		name, edm, annotated := strings.Cut(name, ":")
		if annotated {
			fmt.Fprintf(&b, `,"%s@odata.type":"Edm.%s"`, name, edm)
		}
		fmt.Fprintf(&b, `,"%s":%s`, name, value)
	}
	return append(b.Bytes(), '}')
}

func text(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// mixed returns a generator of properties of all types, as different programs store them.
func mixed(r *rand.Rand) func() map[string]string {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	days := func() time.Time { return time.Unix(r.Int64N(2e9), r.Int64N(1e7)*100) }
	zones := func() *time.Location { return time.FixedZone("", r.IntN(27*4)*900-13*3600) }
	makers := []func() (string, string){
		func() (string, string) {
			return "", text(one("", "a", "Grüße", "1", "000123", "x/y#?", strings.Repeat("z", r.IntN(50))))
		},
		func() (string, string) { return "", one("true", "false") },
		func() (string, string) { return "", strconv.Itoa(r.IntN(5) - 2) },
		func() (string, string) {
			return ":Int64", `"` + one("0", "-9223372036854775808", strconv.FormatInt(r.Int64(), 10)) + `"`
		},
		func() (string, string) { return "", one("0", "3", "-7", "1000000") }, // a whole float
		func() (string, string) {
			return ":DateTime", `"` + days().UTC().Format("2006-01-02T15:04:05.0000000Z") + `"`
		},
		func() (string, string) {
			return ":Guid", fmt.Sprintf(`"%08x-0000-4000-8000-%012x"`, r.Uint32(), r.Int64N(1<<48))
		},
		func() (string, string) {
			return ":Binary", `"` + base64.StdEncoding.EncodeToString(make([]byte, r.IntN(4))) + `"`
		},
		func() (string, string) { return "", text(days().In(zones()).Format(time.RFC3339Nano)) },
		func() (string, string) {
			return "", text(one("2026-03-01T00:00:00.120Z", "2026-03-01T00:00:00+00:00", "0001-01-01T00:00:00Z"))
		},
		func() (string, string) {
			return "", text(one(`{"City":"Bern", "Zip":"3000"}`, `{"b":1,"a":[1.0,2e3,null]}`, `{}`, ` {"x":1}`[1:], `[1,  2]`))
		},
		func() (string, string) {
			return "", text(one(strconv.FormatInt(r.Int64(), 10), "0", "-4611686018427387904"))
		},
		func() (string, string) { return one(":Int64", ""), `"12"` },
	}
	type property struct {
		name    string
		make    func() (string, string)
		present float64
	}
	var all []property
	for i := range 3 + r.IntN(12) {
		maker := r.IntN(len(makers))
		p := property{fmt.Sprintf("%s%d", one("Prop", "prop", "_p", "Ärger", "type", "ETag"), i), makers[maker], one2(r, 1, 0.5)}
		if maker == 4 { // among Doubles
			p.make = func() (string, string) {
				if r.IntN(2) == 0 {
					return ":Double", one("0.5", "-2.25", "1e+100", `"NaN"`, `"-Infinity"`, "3.0")
				}
				return makers[4]()
			}
		}
		all = append(all, p)
	}
	return func() map[string]string {
		values := map[string]string{}
		for _, p := range all {
			if r.Float64() < p.present {
				edm, value := p.make()
				values[p.name+edm] = value
			}
		}
		return values
	}
}

func one2(r *rand.Rand, a, b float64) float64 {
	if r.IntN(2) == 0 {
		return a
	}
	return b
}

func with(properties map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, properties)
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

func less(properties map[string]string, names ...string) map[string]string {
	all := maps.Clone(properties)
	for _, name := range names {
		delete(all, name)
	}
	return all
}

// An employee of the guide, with further properties.
type handEmployee struct {
	department, id, first, last, mail string
	age                               int
	more                              map[string]string
}

func (e *handEmployee) properties() map[string]string {
	return with(e.more, "FirstName", text(e.first), "LastName", text(e.last), "Age", strconv.Itoa(e.age))
}

// handEmployees returns the employees of the guide if r is nil, otherwise generated ones.
func handEmployees(r *rand.Rand) (all []handEmployee) {
	if r == nil {
		return []handEmployee{
			{"Sales", "000223", "Mary", "Jones", "jonesj@contoso.com", 34, nil},
			{"Sales", "000152", "Ken", "Jones", "kenk@contoso.com", 23, nil},
			{"Marketing", "000001", "Don", "Hall", "donh@contoso.com", 34, nil},
			{"Marketing", "000002", "Jun", "Cao", "junc@contoso.com", 47, nil},
		}
	}
	more := mixed(r)
	for i := range 20 + r.IntN(40) {
		all = append(all, handEmployee{fmt.Sprint("Dept", r.IntN(4)), fmt.Sprintf("%06d", i*7), fmt.Sprint("F", r.IntN(9)), fmt.Sprint("Last", r.IntN(12)),
			fmt.Sprintf("p%d@contoso.com", i), 20 + r.IntN(40), more()})
	}
	return all
}

// layoutsOfTheGuide are tables by the figures of the guide.
func layoutsOfTheGuide(suffix string, r *rand.Rand) []*handTable {
	all := map[string]*handTable{}
	var names []string
	in := func(name, want string) *handTable {
		if all[name] == nil {
			all[name] = &handTable{name: name + suffix, want: want}
			names = append(names, name)
		}
		return all[name]
	}
	people := handEmployees(r)
	lists, everywhere := map[keys.Key][]string{}, map[string][]string{}
	departments := map[string]int{}
	for i := range people {
		e := &people[i]
		p, mail, id := e.properties(), "email_"+e.mail, text(e.id)
		departments[e.department]++
		withMail, byID := with(p, "EmailAddress", text(e.mail)), with(p, "EmployeeId", id)

		h := in("figure01", "Department Entity")
		h.row("Entity", e.department, e.id, "Age", withMail)
		h = in("figure04", "Customer:entitytype Employee:entitytype")
		if i%2 == 0 {
			h.row("Employee", e.department, e.mail, "Age", with(p, "PersonType", `"Employee"`, "Department", text(e.department), "EmployeeID", id))
		} else {
			h.row("Customer", e.department, e.mail, "Loyalty", map[string]string{"PersonType": `"Customer"`, "FirstName": text(e.first), "Loyalty": "1", "Phone": `"1"`, "Address": `"Main St."`})
		}
		h = in("figure07", ":secondaryindex(Empid) Empid")
		h.row("Empid", e.department, "empid_"+e.id, "Age", withMail)
		h.row("", e.department, mail, "Age", byID)
		h = in("names", ":secondaryindex(Entity) Entity")
		h.row("Entity", e.department, "K"+e.id, "Age", withMail)
		h.row("", e.department, mail, "Age", with(p, "EmployeeId", text("K"+e.id)))
		h = in("figure08", ":secondaryindex(Empid) Empid")
		h.row("Empid", e.department, "empid_"+e.id, "Age", withMail)
		h.row("", e.department, mail, "", less(byID, "Age"))
		h = in("figure10", ":secondaryindex(Empid) Empid")
		h.row("Empid", "empid_"+e.department, e.id, "Age", withMail)
		h.row("", "email_"+e.department, e.mail, "Age", byID)
		h = in("figure11", ":secondaryindex(Empid) Empid")
		h.row("Empid", "empid_"+e.department, e.id, "Age", withMail)
		h.row("", "email_"+e.department, e.mail, "", map[string]string{"FirstName": text(e.first), "LastName": text(e.last), "EmployeeId": id})

		in("figure14", ":indexentity(Entity) Department Entity").row("Entity", e.department, e.id, "Age", withMail)
		in("figure15", ":indexentity(Entity) Entity").row("Entity", e.department, e.id, "Age", withMail)
		at := keys.Key{Partition: e.department, Row: e.last}
		lists[at] = append(lists[at], e.id)
		everywhere[e.last] = append(everywhere[e.last], e.department+"/"+e.id)

		h = in("figure20", "Child:compoundkey(Entity) Entity")
		h.row("Entity", e.department, e.id, "Age", withMail)
		for year := 2011; year < 2012+i%3; year++ {
			h.row("Child", e.department, fmt.Sprint(e.id, "_", year), "ManagerRating", with(e.more, "ManagerRating", "3", "PeerRating", strconv.Itoa(i), "Comments", text("C"+e.id)))
		}
		hours := with(p, "Since", `"2014"`)
		for hour := range 24 {
			if i == 0 || (i+hour)%5 > 0 {
				hours[fmt.Sprintf("MessageCountHour%02d", hour+1)] = strconv.Itoa(hour * i)
			}
		}
		in("figure23", "Entity:dataseries").row("Entity", e.department, e.id, "MessageCountHour24", with(hours, "MessageCountHour24", "7"))
		days := []map[string]string{{}, {}}
		for day := range 365 {
			days[day/252][fmt.Sprintf("MessageCountDay%03d", day+1)] = strconv.Itoa(day)
		}
		wide := []map[string]string{with(days[0], "Age", "1"), with(days[1], "Name", text(e.first))}
		delete(wide[0], "MessageCountDay252")
		for part := range 2 {
			if i < 5 {
				row := fmt.Sprintf("%s_%02d", e.id, part+1)
				kind := map[int]string{0: "Entity"}[part]
				in("figure24", ":wideentity(Entity) Entity:wideentity").row(kind, e.department, row, []string{"MessageCountDay001", ""}[part], days[part])
				in("wide", ":wideentity(Entity) Entity:wideentity").row(kind, e.department, row, []string{"Age", ""}[part], wide[part])
			}
		}
		in("prefixes", "DEPARTMENT EMPLOYEE").row("EMPLOYEE", e.department, "EMPLOYEE_"+e.id, "Age", withMail)
		if r == nil {
			continue // the others differ from mixed tables in their keys only
		}
		in("figure21", "Entity").row("Entity", "user"+e.id, fmt.Sprintf("2014-07-31T15:%02d:07.1234567Z", i%60), "Count", with(e.more, "SourceIPAddress", `"::1"`, "SuccessfulLogin", "true", "Count", "1"))
		in("figure26", "Entity").row("Entity", fmt.Sprintf("20140731%02d", i%24), e.id+"_evt00042", "Count", with(e.more, "EventType", `"Login"`, "EventTimestamp:DateTime", `"2014-07-31T18:00:00Z"`, "Count", "1"))
		in("figure27", "Entity").row("Entity", e.department+"_"+e.id, "2014073118_evt00042", "Count", with(e.more, "EventText", `"x"`, "Count", "1"))
		in("figure28", "Entity").row("Entity", "2014073118", fmt.Sprintf("150405_%08x-0000-4000-8000-000000000000", i), "Severity", with(e.more, "Severity", "1", "Source", `"s"`))
		in("logtail", "Entity").row("Entity", e.id, fmt.Sprintf("25163507519999%05d_8f3a", i), "Severity", with(e.more, "Severity", "1"))
	}
	for at, ids := range lists {
		all["figure14"].row("", at.Partition, at.Row, "", map[string]string{"EmployeeIDs": text(strings.Join(ids, ","))})
	}
	for name, ids := range everywhere {
		all["figure15"].row("", "indexentities", name, "", map[string]string{"EmployeeDetails": text(strings.Join(ids, ","))})
	}
	for name, n := range departments {
		department := map[string]string{"DepartmentName": text(name), "EmployeeCount": strconv.Itoa(n), "ManagerName": `"Don"`}
		all["figure01"].row("Department", name, "Department", "EmployeeCount", department)
		all["figure14"].row("Department", name, "Department", "EmployeeCount", department)
		all["prefixes"].row("DEPARTMENT", name, "DEPARTMENT_"+name, "EmployeeCount", department)
	}
	var tables []*handTable
	for _, name := range names {
		tables = append(tables, all[name])
	}
	return tables
}

// mixedTable is a table of one type with properties of all types.
func mixedTable(name string, r *rand.Rand) *handTable {
	h := &handTable{name: name, want: "Entity"}
	more := mixed(r)
	for i := range 40 {
		h.row("Entity", fmt.Sprint("P", i%3), fmt.Sprint("row", i), "Touched", with(more(), "Touched", strconv.Itoa(i)))
	}
	return h
}

// nastyTable has properties and kinds whose Go names are taken, reserved or impossible, and values that
// would end a comment or a text.
func nastyTable() *handTable {
	h := &handTable{name: "nasty", want: "Error OpenT T", opens: map[string]string{"T": "OpenT2"}}
	names := strings.Fields("error T type func nil a_b A_b AB ab X x _x x_ X2 Xx ETag eTag partitionKey rowKey timestamp OpenX Ünïcode ünïcode 日本 ǆ e\u0301 Touched")
	for i := range 5 {
		for j, prefix := range []string{"error_", "T_", "OpenT_"} {
			properties := map[string]string{"Touched": "1"}
			for n, name := range names {
				if n%3 == j || name == "ETag" {
					properties[name] = []string{strconv.Itoa(i), text("`\"*/\n" + name)}[n%2]
				}
			}
			h.row(strings.ToUpper(prefix[:1])+prefix[1:len(prefix)-1], "P`\"", fmt.Sprint(prefix, i), "Touched", with(properties, "Touched", "1"))
		}
	}
	return h
}

func (h *handTable) store(t *testing.T, acct *storagetest.Account) *aztables.Client {
	client := acct.Tables().NewClient(h.name)
	assert.Must(client.CreateTable(t.Context(), nil))(t)
	for k, properties := range h.rows {
		assert.Must(client.AddEntity(t.Context(), body(k, properties), nil))(t)
	}
	return client
}

// raw returns the rows as the service sends them, member by member.
func raw(t *testing.T, client *aztables.Client) map[keys.Key]map[string]string {
	rows := map[keys.Key]map[string]string{}
	for _, text := range harness.Rows(t, client) {
		var members map[string]json.RawMessage
		assert.NoError(t, json.Unmarshal(text, &members))
		var k keys.Key
		assert.NoError(t, errors.Join(json.Unmarshal(members["PartitionKey"], &k.Partition), json.Unmarshal(members["RowKey"], &k.Row)))
		rows[k] = map[string]string{}
		for name, value := range members {
			if !strings.HasPrefix(name, "azp_") && !strings.HasPrefix(name, "odata.") && !strings.HasPrefix(name, "Timestamp") {
				rows[k][name] = string(value)
			}
		}
	}
	return rows
}
