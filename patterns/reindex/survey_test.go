package reindex_test

import (
	"bytes"
	"cmp"
	"encoding/json"
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

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

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
	root := assert.Must(filepath.Abs("../.."))(t)
	mod := string(assert.Must(os.ReadFile(filepath.Join(root, "go.mod")))(t))
	mod = strings.Replace(mod, "module github.com/azpatterns/azpatterns", "module surveyed", 1) +
		"\nrequire github.com/azpatterns/azpatterns v0.0.0\nreplace github.com/azpatterns/azpatterns => " + root + "\n"
	write := func(name string, text []byte) {
		assert.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		assert.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	write("go.mod", []byte(mod))
	write("go.sum", assert.Must(os.ReadFile(filepath.Join(root, "go.sum")))(t))
	var imports, calls strings.Builder
	for i, h := range tables {
		var source bytes.Buffer
		assert.NoError(t, reports[i].WriteGo(&source, h.name))
		write(h.name+"/tables.go", source.Bytes())
		fmt.Fprintf(&imports, "\t%q\n", "surveyed/"+h.name)
		fmt.Fprintf(&calls, "\tclient, entities = begin(%q)\n%s", h.name, h.program(reports[i]))
	}
	main := string(assert.Must(os.ReadFile("testdata/surveyed.txt"))(t))
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
		seed = assert.Must(strconv.ParseUint(text, 10, 64))(t)
	}
	t.Logf("AZPATTERNS_SURVEY_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tables := layoutsOfTheGuide("r", r)
	mixed := 6
	if testing.Short() { // the compiler needs most of the time, some seconds for each program
		r.Shuffle(len(tables), func(i, k int) { tables[i], tables[k] = tables[k], tables[i] })
		tables, mixed = tables[:len(tables)/2], 1
	} else {
		tables = append(tables, layoutsOfTheGuide("g", nil)...)
	}
	for i := range mixed {
		tables = append(tables, mixedTable(fmt.Sprint("mixed", i), r))
	}
	tables = append(tables, nastyTable())
	acct := storagetest.New(t)
	before := map[*handTable]map[keys.Key]map[string]string{}
	var reports []*reindex.SurveyReport
	all := map[string]map[string][]keys.Key{}
	tables = slices.DeleteFunc(tables, func(h *handTable) bool {
		client := h.store(t, acct)
		report := assert.Must(reindex.Survey(t.Context(), client, nil))(t)
		if got := kindsOf(report); got != h.want {
			t.Errorf("%s: the kinds are %s, want %s", h.name, got, h.want)
			return true
		}
		reports, before[h], all[h.name] = append(reports, report), raw(t, client), h.entities
		return false
	})
	server := assert.Must(acct.Serve())(t)
	program := exec.Command(buildPrograms(t, tables, reports))
	program.Stdin = bytes.NewReader(assert.Must(json.Marshal(all))(t))
	program.Env = append(os.Environ(), "AZURE_STORAGE_CONNECTION_STRING="+server.ConnectionString())
	assert.Equal(t, len(assert.Must(program.CombinedOutput())(t)), 0)
	for _, h := range tables {
		h.check(t, before[h], raw(t, acct.Tables().NewClient(h.name)))
	}
}

func (h *handTable) check(t *testing.T, before, after map[keys.Key]map[string]string) {
	for k, old := range before {
		if name := h.touched[k]; name != "" {
			n := assert.Must(strconv.Atoi(old[name]))(t)
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
			assert.Must(client.AddEntity(t.Context(), body(k, p), nil))(t)
		}
		assert.Must(client.AddEntity(t.Context(), body(keys.Key{Partition: "Sales", Row: "~azp_x"}, nil), nil))(t)
		b.ResetRequests()
		r := assert.Must(reindex.Survey(t.Context(), client, nil))(t)
		b.WantRequestCount(t, 1)
		if r.Rows != 5 || r.Managed != 1 || r.Requests != 1 || r.Sample || len(r.Kinds) != 1 {
			t.Fatalf("%+v", r)
		}
		got := assert.Must(json.Marshal(r.Kinds[0]))(t)
		want := `{"Name":"Id","Pattern":"","Of":"","Rows":4,"Partition":{"Prefix":"","Form":"text","Width":5,"Constant":"Sales","Distinct":1},` +
			`"Row":{"Prefix":"id_","Form":"digits","Width":4,"Constant":"","Distinct":4},"Discriminator":"","Value":"","Properties":[` +
			`{"Name":"At","Missing":0,"Types":{"Edm.String":4},"Forms":{"time":4,"zoned time":3},"Go":"At time.Time ` + "`table:\\\",string\\\"`" + `"},` +
			`{"Name":"Big","Missing":0,"Types":{"Edm.String":4},"Forms":{"int64":4,"large int64":3},"Go":"Big int64 ` + "`table:\\\",string\\\"`" + `"},` +
			`{"Name":"Both","Missing":0,"Types":{"Edm.Int32":1,"Edm.String":3},"Forms":{},"Go":""},` +
			`{"Name":"Doc","Missing":0,"Types":{"Edm.String":4},"Forms":{"JSON":4},"Go":"Doc json.RawMessage ` + "`table:\\\",json\\\"`" + `"},` +
			`{"Name":"Name","Missing":1,"Types":{"Edm.String":3},"Forms":{},"Go":"Name string ` + "`table:\\\",omitempty\\\"`" + `"},` +
			`{"Name":"Whole","Missing":0,"Types":{"Edm.Double":1,"Edm.Int32":3},"Forms":{},"Go":"Whole float64"}],"Others":0}`
		assert.Equal(t, string(got), want, "got", got)
		for key, form := range map[string]string{"2516350751999999999": "ticks", "2516350751999999999_8f3a": "ticks_text", "20140731": "date", "2014073118": "date",
			"2014-07-31T15:04:05Z": "date", "0B4F6D1E-8a35-4c8e-9f0d-000000000001": "GUID", "jonesj@contoso.com": "mail", "000123_2012": "digits_digits", "": "empty", "Jones": "text",
			"20149931": "digits"} {
			client := b.Table(t)
			assert.Must(client.AddEntity(t.Context(), body(keys.Key{Row: key}, nil), nil))(t)
			if k := assert.Must(reindex.Survey(t.Context(), client, nil))(t).Kinds[0]; k.Row.Form != form || k.Row.Width != len(key) || k.Row.Constant != key || k.Partition.Form != "empty" {
				t.Errorf("%q: %+v", key, k)
			}
		}
	})
}

// A sample is bounded, takes few requests, and the whole table one for each page. The rows have more
// kinds and properties than a survey distinguishes.
func TestASurveyIsBounded(t *testing.T) {
	client := storagetest.New(t).TablesWith(harness.Accelerated()).NewClient("Large")
	assert.Must(client.CreateTable(t.Context(), nil))(t)
	table := assert.Must(patterns.NewTable(client, &patterns.TableOptions[map[string]any]{Keyless: true}))(t)
	const n = 6000
	_, err := table.Bulk(t.Context(), func(yield func(patterns.Op[map[string]any]) bool) {
		for i := range n {
			row := map[string]any{"Age": int32(i), fmt.Sprint("Name", i): "x"}
			if !yield(patterns.InsertOp(&row).At(keys.Key{Partition: fmt.Sprintf("p%03d", i/50), Row: fmt.Sprintf("a%d_%d", i, i)})) {
				return
			}
		}
	}, nil)
	assert.NoError(t, err)
	r := assert.Must(reindex.Survey(t.Context(), client, &reindex.SurveyOptions{Parallel: 1}))(t)
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
	assert.NoError(t, r.WriteGo(new(bytes.Buffer), ""))
	for rows, requests := range map[int]int{1: 2, 50: 2, 51: 3, 1600: 17, n: 16, n + 1: 16} { // the next page was requested
		r := assert.Must(reindex.Survey(t.Context(), client, &reindex.SurveyOptions{Rows: rows, Parallel: 1}))(t)
		if r.Rows != min(rows, n) || r.Sample != (rows < n) || r.Requests != requests {
			t.Errorf("a sample of %d: %d rows, %v, %d requests", rows, r.Rows, r.Sample, r.Requests)
		}
	}
	// The ranges are read concurrently, so that a sample is of several partitions.
	r = assert.Must(reindex.Survey(t.Context(), client, &reindex.SurveyOptions{Rows: 800}))(t)
	if r.Rows != 800 || !r.Sample || r.Requests > 16+8*16 {
		t.Errorf("%d rows, %d requests", r.Rows, r.Requests)
	}
	for _, o := range []reindex.SurveyOptions{{Rows: -1}, {Parallel: -1}} {
		assert.WantError(t, assert.ErrorOf(reindex.Survey(t.Context(), client, &o)), patterns.ErrBadOption, o)
	}
	assert.WantError(t, r.WriteGo(new(bytes.Buffer), "a b"), patterns.ErrBadOption)
	assert.WantError(t, assert.ErrorOf(reindex.Survey(t.Context(), storagetest.New(t).Tables().NewClient("Missing"), nil)), patterns.ErrTableNotFound)
}
