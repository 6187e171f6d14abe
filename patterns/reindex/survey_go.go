package reindex

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"go/format"
	"go/token"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns"
)

var (
	rings   = map[string]string{"Hour": "HoursOfDay", "Minute": "MinutesOfHour"}
	goTypes = map[string]string{"Edm.String": "string", "Edm.Boolean": "bool", "Edm.Int32": "int32",
		"Edm.Int64": "int64", "Edm.Double": "float64", "Edm.DateTime": "time.Time", "Edm.Guid": "aztables.EDMGUID",
		"Edm.Binary": "[]byte", "Edm.Int32 Edm.Int64": "int64", "Edm.Double Edm.Int32": "float64"}
)

// A surveyedSeries are the properties with a name and a number.
type surveyedSeries struct{ Name, Type, Ring string }

// complete sets what follows from the relations of the kinds.
func (s *surveyor) complete() {
	slices.SortStableFunc(s.kinds, func(a, b *kind) int { return b.Rows - a.Rows })
	used := map[string]bool{}
	for _, k := range s.kinds {
		s.Kinds = append(s.Kinds, k.RowKind)
		k.Partition.Distinct, k.Row.Distinct = len(k.samples[partitions].hashes), len(k.samples[rows].hashes)
		if k.Parent == nil || k.Pattern == "compoundkey" {
			other := map[bool]string{true: "Entity", false: "Child"}[k.Parent == nil]
			k.Name = goName(cmp.Or(k.Value, k.Row.Prefix, typeName().FindString(k.Row.Constant), k.Partition.Prefix, other), used)
		}
		if k.Parts != nil {
			k.Pattern = "wideentity"
		} else if k.Discriminator != "" && k.Parent == nil {
			k.Pattern = "entitytype"
		}
	}
	for _, k := range s.kinds {
		if k.Parent != nil {
			k.Of = k.Parent.Name
		}
		k.setFields()
	}
}

// setFields sets the properties, the fields, and the series if there is one.
func (k *kind) setFields() {
	fields, slots := map[string]bool{"PartitionKey": true, "RowKey": true}, map[surveyedSeries]int{}
	for _, part := range append([]*kind{k}, k.Parts...) {
		for _, p := range part.sorted() {
			if p.Missing = part.Rows; part == k {
				k.Properties = append(k.Properties, p)
			}
			for _, n := range p.Types {
				p.Missing -= n
			}
			if k.Name != "" && p.Name != k.Discriminator && (len(k.Fields) < 252 || k.Parts != nil) && p.setGo(fields) {
				k.Fields = append(k.Fields, p)
			}
			m, slot := seriesName().FindStringSubmatch(p.Name), goTypes[p.stored()]
			if m == nil || k.Parts != nil || k.Name == "" || k.samples[rows].escaped ||
				!strings.Contains("int32 int64 float64", slot) {
				continue
			}
			series := surveyedSeries{m[1], slot, rings[m[2]]}
			if slots[series]++; slots[series] == 4 && k.Series.Name == "" {
				k.Series, k.Pattern = series, "dataseries"
			}
		}
	}
}

// goName returns an exported name that is not in used, and adds it.
func goName(name string, used map[string]bool) string {
	first, n := utf8.DecodeRuneInString(name)
	name = string(unicode.ToUpper(first)) + strings.TrimSuffix(name[n:], "_")
	if !token.IsExported(name) {
		name = "X" + name
	}
	for used[name] || used["Open"+name] {
		name += "2"
	}
	used[name], used["Open"+name] = true, true
	return name
}

func (p *Property) stored() string { return strings.Join(slices.Sorted(maps.Keys(p.Types)), " ") }

// textTypes are the Go types for texts of a form, with the tags.
var textTypes = [][3]string{{"time", "time.Time", ",string"}, {"int64", "int64", ",string"},
	{"JSON", "json.RawMessage", ",json"}}

// setGo sets the source of the field. It returns false if there is none.
func (p *Property) setGo(used map[string]bool) bool {
	goType, tag, texts := goTypes[p.stored()], "", p.Types["Edm.String"]
	if goType == "" || !token.IsIdentifier("X"+p.Name) {
		return false
	}
	name := goName(p.Name, used)
	if name != p.Name {
		tag = p.Name
	}
	for _, t := range textTypes { // small numbers may be names
		if texts > 0 && !p.keyed && p.Forms[t[0]] == texts && (t[0] != "int64" || p.Forms["large int64"] > 0) {
			goType, tag = t[1], tag+t[2]
		}
	}
	if nillable := goType == "json.RawMessage" || goType == "[]byte"; !nillable && (p.Missing > 0 || p.omitted) {
		if p.Forms["zero"] > 0 {
			goType = "*" + goType
		} else {
			tag += ",omitempty"
		}
	}
	if p.Go = name + " " + goType; tag != "" {
		p.Go += " `table:" + strconv.Quote(tag) + "`"
	}
	return true
}

//go:embed survey.tmpl
var programText string

const module = "github.com/azpatterns/azpatterns/"

var importable = strings.Fields("encoding/json errors strings time github.com/Azure/azure-sdk-for-go/sdk/data/aztables " +
	module + "keys " + module + "patterns " + module + "query " + module + "patterns/compoundkey " +
	module + "patterns/dataseries " + module + "patterns/entitytype " + module + "patterns/indexentity " +
	module + "patterns/secondaryindex " + module + "patterns/wideentity")

var notCode = expression(`(?m)^\s*//.*$|"(?:\\.|[^"\\])*"`)

// WriteGo writes a Go package of that name, "" for tables: for each kind of entities the Go type,
// and a function that opens its rows with the options for their layout. Comments contain the rest
// of the report. An update of one field with it changes no other property, if the report is of all
// rows. The error is that of w, or [patterns.ErrBadOption] if name cannot be that of a package.
func (r *SurveyReport) WriteGo(w io.Writer, name string) error {
	if name = cmp.Or(name, "tables"); !token.IsIdentifier(name) || name == "_" {
		return failed("survey", patterns.ErrBadOption)
	}
	types := map[string][]*kind{}
	for _, k := range r.kinds {
		types[k.Discriminator] = append(types[k.Discriminator], k)
	}
	delete(types, "")
	t := template.Must(template.New("").Funcs(template.FuncMap{
		"field":   func(p *Property) string { return strings.Fields(p.Go)[0] },
		"pointer": func(p *Property) bool { return strings.Contains(p.Go, " *") },
	}).Parse(programText))
	var text bytes.Buffer
	if err := t.Execute(&text, map[string]any{"Report": r, "Kinds": r.kinds, "Types": types}); err != nil {
		return failed("survey", err)
	}
	header, code := "", notCode().ReplaceAllString(text.String(), "")
	for _, imported := range importable {
		if strings.Contains(code, path.Base(imported)+".") {
			header += fmt.Sprintf("%q\n", imported)
		}
	}
	source, err := format.Source(fmt.Appendf(nil, "// Package %s has the Go types and options for a table.\npackage %s\n\n"+
		"import (\n%s)\n%s", name, name, header, text.Bytes()))
	if err != nil {
		return failed("survey", err)
	}
	_, err = w.Write(source)
	return err
}
