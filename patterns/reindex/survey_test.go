package reindex_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
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
	harness.Must(client.CreateTable(t.Context(), nil))(t)
	for k, properties := range h.rows {
		harness.Must(client.AddEntity(t.Context(), body(k, properties), nil))(t)
	}
	return client
}

// raw returns the rows as the service sends them, member by member.
func raw(t *testing.T, client *aztables.Client) map[keys.Key]map[string]string {
	rows := map[keys.Key]map[string]string{}
	for _, text := range harness.Rows(t, client) {
		var members map[string]json.RawMessage
		harness.NoError(t, json.Unmarshal(text, &members))
		var k keys.Key
		harness.NoError(t, errors.Join(json.Unmarshal(members["PartitionKey"], &k.Partition), json.Unmarshal(members["RowKey"], &k.Row)))
		rows[k] = map[string]string{}
		for name, value := range members {
			if !strings.HasPrefix(name, "azp_") && !strings.HasPrefix(name, "odata.") && !strings.HasPrefix(name, "Timestamp") {
				rows[k][name] = string(value)
			}
		}
	}
	return rows
}

// kindsOf returns the kinds of a report with their patterns.
func kindsOf(r *reindex.SurveyReport) string {
	var all []string
	for _, k := range r.Kinds {
		text := k.Name
		if k.Pattern != "" {
			text += ":" + k.Pattern
		}
		if k.Of != "" {
			text += "(" + k.Of + ")"
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// program returns the calls that change the entities of a table by the package that was generated
// for it.
func (h *handTable) program(r *reindex.SurveyReport) string {
	var b strings.Builder
	for _, k := range r.Kinds {
		if k.Name == "" || len(h.entities[k.Name]) == 0 {
			continue
		}
		touch := h.touched[h.entities[k.Name][0]]
		at := fmt.Sprintf("entities[%q]", k.Name)
		open := h.name + "." + cmp.Or(h.opens[k.Name], "Open"+k.Name)
		touchIt := fmt.Sprintf("func(e *%s.%s) error { e.%s++; return nil }", h.name, k.Name, touch)
		indexed := slices.ContainsFunc(r.Kinds, func(o *reindex.RowKind) bool { return o.Of == k.Name && strings.Contains(o.Pattern, "index") })
		switch {
		case k.Pattern == "dataseries":
			fmt.Fprintf(&b, "\tset(%s, must(%sSeries(client)), %q)\n", at, open, touch)
		case k.Pattern == "compoundkey":
			fmt.Fprintf(&b, "\tchild(%s, must(%s.Open%s%s(client)), %s)\n", at, h.name, k.Of, k.Name, touchIt)
		case k.Pattern == "entitytype":
			fmt.Fprintf(&b, "\ttyped(%s, must(%s.OpenBy%s(client)), %s)\n", at, h.name, k.Discriminator, touchIt)
		case k.Pattern == "wideentity":
			fmt.Fprintf(&b, "\twide(%s, must(%s(client)), %s)\n", at, open, touchIt)
		case indexed:
			fmt.Fprintf(&b, "\tindexed(%s, must(%s(client, queue{})), %s)\n", at, open, touchIt)
		default:
			fmt.Fprintf(&b, "\tplain(%s, must(%s(client)), %s)\n", at, open, touchIt)
		}
	}
	return b.String()
}

// buildPrograms generates the packages in one module and returns the program that uses them.
func buildPrograms(t *testing.T, tables []*handTable, reports []*reindex.SurveyReport) string {
	dir := t.TempDir()
	root := harness.Must(filepath.Abs("../.."))(t)
	mod := string(harness.Must(os.ReadFile(filepath.Join(root, "go.mod")))(t))
	mod = strings.Replace(mod, "module github.com/azpatterns/azpatterns", "module surveyed", 1) +
		"\nrequire github.com/azpatterns/azpatterns v0.0.0\nreplace github.com/azpatterns/azpatterns => " + root + "\n"
	write := func(name string, text []byte) {
		harness.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		harness.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	write("go.mod", []byte(mod))
	write("go.sum", harness.Must(os.ReadFile(filepath.Join(root, "go.sum")))(t))
	var imports, calls strings.Builder
	for i, h := range tables {
		var source bytes.Buffer
		harness.NoError(t, reports[i].WriteGo(&source, h.name))
		write(h.name+"/tables.go", source.Bytes())
		fmt.Fprintf(&imports, "\t%q\n", "surveyed/"+h.name)
		fmt.Fprintf(&calls, "\tclient, entities = begin(%q)\n%s", h.name, h.program(reports[i]))
	}
	main := string(harness.Must(os.ReadFile("testdata/surveyed.txt"))(t))
	main = strings.Replace(main, "// imports\n", imports.String(), 1)
	main = strings.Replace(main, "// calls\n", calls.String(), 1)
	write("main.go", []byte(main))
	// Most of the time is for the code that each package instantiates, and need not be fast.
	build := exec.Command("go", "build", "-gcflags=surveyed/...=-N -l -dwarf=false", "-ldflags=-s -w", "-o", "surveyed", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return filepath.Join(dir, "surveyed")
}

// The tables of the guide as the guide prints them, and with generated rows, are surveyed. The
// program that WriteGo writes changes one property of each entity. Only that changes, in the entity and
// its copies, and no view has a finding.
func TestTheProgramOfASurveyChangesOnePropertyAndNothingElse(t *testing.T) {
	t.Parallel() // with the schedules
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("AZPATTERNS_SURVEY_SEED"); text != "" {
		seed = harness.Must(strconv.ParseUint(text, 10, 64))(t)
	}
	t.Logf("AZPATTERNS_SURVEY_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tables := append(layoutsOfTheGuide("g", nil), layoutsOfTheGuide("r", r)...)
	for i := range 6 {
		tables = append(tables, mixedTable(fmt.Sprint("mixed", i), r))
	}
	tables = append(tables, nastyTable())
	acct := storagetest.New(t)
	before := map[*handTable]map[keys.Key]map[string]string{}
	var reports []*reindex.SurveyReport
	all := map[string]map[string][]keys.Key{}
	tables = slices.DeleteFunc(tables, func(h *handTable) bool {
		client := h.store(t, acct)
		report := harness.Must(reindex.Survey(t.Context(), client, nil))(t)
		if got := kindsOf(report); got != h.want {
			t.Errorf("%s: the kinds are %s, want %s", h.name, got, h.want)
			return true
		}
		reports, before[h], all[h.name] = append(reports, report), raw(t, client), h.entities
		return false
	})
	server := harness.Must(acct.Serve())(t)
	program := exec.Command(buildPrograms(t, tables, reports))
	program.Stdin = bytes.NewReader(harness.Must(json.Marshal(all))(t))
	program.Env = append(os.Environ(), "AZURE_STORAGE_CONNECTION_STRING="+server.ConnectionString())
	if output, err := program.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("%v\n%.5000s", err, output)
	}
	for _, h := range tables {
		h.check(t, before[h], raw(t, acct.Tables().NewClient(h.name)))
	}
}

func (h *handTable) check(t *testing.T, before, after map[keys.Key]map[string]string) {
	for k, old := range before {
		if name := h.touched[k]; name != "" {
			n := harness.Must(strconv.Atoi(old[name]))(t)
			old[name] = strconv.Itoa(n + 1)
		}
		if !maps.Equal(after[k], old) {
			for name := range maps.Clone(old) {
				if after[k][name] == old[name] {
					delete(old, name)
					delete(after[k], name)
				}
			}
			t.Errorf("%s: row %v has %v, want %v", h.name, k, after[k], old)
		}
		delete(after, k)
	}
	for k, row := range after {
		if len(row) > 2 {
			t.Errorf("%s: a new row %v: %v", h.name, k, row)
		}
	}
}

func TestSurveyReportsKeysAndProperties(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		for i := range 4 {
			k := keys.Key{Partition: "Sales", Row: fmt.Sprintf("id_%04d", i)}
			p := map[string]string{"Whole": "3", "At": `"2026-03-01T00:00:00+02:00"`, "Doc": `"{\"a\": 1}"`, "Big": `"4611686018427387904"`, "Both": `"x"`, "Name": `"K"`}
			if i == 0 {
				p = map[string]string{"Whole:Double": "0.5", "At": `"2026-03-01T00:00:00Z"`, "Doc": `"[]"`, "Big": `"1"`, "Both": "1", "azp_views": `"x"`}
			}
			harness.Must(client.AddEntity(t.Context(), body(k, p), nil))(t)
		}
		harness.Must(client.AddEntity(t.Context(), body(keys.Key{Partition: "Sales", Row: "~azp_x"}, nil), nil))(t)
		b.ResetRequests()
		r := harness.Must(reindex.Survey(t.Context(), client, nil))(t)
		b.WantRequestCount(t, 1)
		if r.Rows != 5 || r.Managed != 1 || r.Requests != 1 || r.Sample || len(r.Kinds) != 1 {
			t.Fatalf("%+v", r)
		}
		got := harness.Must(json.Marshal(r.Kinds[0]))(t)
		want := `{"Name":"Id","Pattern":"","Of":"","Rows":4,"Partition":{"Prefix":"","Form":"text","Width":5,"Constant":"Sales","Distinct":1},` +
			`"Row":{"Prefix":"id_","Form":"digits","Width":4,"Constant":"","Distinct":4},"Discriminator":"","Value":"","Properties":[` +
			`{"Name":"At","Missing":0,"Types":{"Edm.String":4},"Forms":{"time":4,"zoned time":3},"Go":"At time.Time ` + "`table:\\\",string\\\"`" + `"},` +
			`{"Name":"Big","Missing":0,"Types":{"Edm.String":4},"Forms":{"int64":4,"large int64":3},"Go":"Big int64 ` + "`table:\\\",string\\\"`" + `"},` +
			`{"Name":"Both","Missing":0,"Types":{"Edm.Int32":1,"Edm.String":3},"Forms":{},"Go":""},` +
			`{"Name":"Doc","Missing":0,"Types":{"Edm.String":4},"Forms":{"JSON":4},"Go":"Doc json.RawMessage ` + "`table:\\\",json\\\"`" + `"},` +
			`{"Name":"Name","Missing":1,"Types":{"Edm.String":3},"Forms":{},"Go":"Name string ` + "`table:\\\",omitempty\\\"`" + `"},` +
			`{"Name":"Whole","Missing":0,"Types":{"Edm.Double":1,"Edm.Int32":3},"Forms":{},"Go":"Whole float64"}],"Others":0}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for key, form := range map[string]string{"2516350751999999999": "ticks", "2516350751999999999_8f3a": "ticks_text", "20140731": "date", "2014073118": "date",
			"2014-07-31T15:04:05Z": "date", "0B4F6D1E-8a35-4c8e-9f0d-000000000001": "GUID", "jonesj@contoso.com": "mail", "000123_2012": "digits_digits", "": "empty", "Jones": "text",
			"20149931": "digits"} {
			client := b.Table(t)
			harness.Must(client.AddEntity(t.Context(), body(keys.Key{Row: key}, nil), nil))(t)
			if k := harness.Must(reindex.Survey(t.Context(), client, nil))(t).Kinds[0]; k.Row.Form != form || k.Row.Width != len(key) || k.Row.Constant != key || k.Partition.Form != "empty" {
				t.Errorf("%q: %+v", key, k)
			}
		}
	})
}

// A sample is bounded, takes few requests, and the whole table one for each page. The rows have more
// kinds and properties than a survey distinguishes.
func TestASurveyIsBounded(t *testing.T) {
	client := storagetest.New(t).TablesWith(harness.Accelerated()).NewClient("Large")
	harness.Must(client.CreateTable(t.Context(), nil))(t)
	table := harness.Must(patterns.NewTable(client, &patterns.TableOptions[map[string]any]{Keyless: true}))(t)
	const n = 6000
	_, err := table.Bulk(t.Context(), func(yield func(patterns.Op[map[string]any]) bool) {
		for i := range n {
			row := map[string]any{"Age": int32(i), fmt.Sprint("Name", i): "x"}
			if !yield(patterns.InsertOp(&row).At(keys.Key{Partition: fmt.Sprintf("p%03d", i/50), Row: fmt.Sprintf("a%d_%d", i, i)})) {
				return
			}
		}
	}, nil)
	harness.NoError(t, err)
	r := harness.Must(reindex.Survey(t.Context(), client, &reindex.SurveyOptions{Parallel: 1}))(t)
	properties, others, rows := 0, 0, 0
	for _, k := range r.Kinds {
		rows, others = rows+k.Rows, others+k.Others
		for _, p := range k.Properties {
			properties++
			others += p.Types["Edm.String"] + p.Types["Edm.Int32"]
		}
	}
	if r.Rows != n || rows != n || r.Requests != 6 || r.Sample || len(r.Kinds) > 256 || properties > 4096 || others != 2*n {
		t.Errorf("%d rows, %d in %d kinds, %d requests, %d properties, %d values", r.Rows, rows, len(r.Kinds), r.Requests, properties, others)
	}
	harness.NoError(t, r.WriteGo(new(bytes.Buffer), ""))
	for rows, requests := range map[int]int{1: 2, 50: 2, 51: 3, 1600: 17, n: 16, n + 1: 16} { // the next page was requested
		r := harness.Must(reindex.Survey(t.Context(), client, &reindex.SurveyOptions{Rows: rows, Parallel: 1}))(t)
		if r.Rows != min(rows, n) || r.Sample != (rows < n) || r.Requests != requests {
			t.Errorf("a sample of %d: %d rows, %v, %d requests", rows, r.Rows, r.Sample, r.Requests)
		}
	}
	// The ranges are read concurrently, so that a sample is of several partitions.
	r = harness.Must(reindex.Survey(t.Context(), client, &reindex.SurveyOptions{Rows: 800}))(t)
	if r.Rows != 800 || !r.Sample || r.Requests > 16+8*16 {
		t.Errorf("%d rows, %d requests", r.Rows, r.Requests)
	}
	for _, o := range []reindex.SurveyOptions{{Rows: -1}, {Parallel: -1}} {
		if _, err := reindex.Survey(t.Context(), client, &o); !errors.Is(err, patterns.ErrBadOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := r.WriteGo(new(bytes.Buffer), "a b"); !errors.Is(err, patterns.ErrBadOption) {
		t.Error(err)
	}
	if _, err := reindex.Survey(t.Context(), storagetest.New(t).Tables().NewClient("Missing"), nil); !errors.Is(err, patterns.ErrTableNotFound) {
		t.Error(err)
	}
}
