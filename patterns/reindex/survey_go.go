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
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/azpatterns/azpatterns/patterns"
)

// complete sets what follows from the relations of the kinds.
func (r *SurveyReport) complete() {
	slices.SortStableFunc(r.kinds, func(a, b *kind) int { return b.Rows - a.Rows })
	used := map[string]bool{}
	for _, k := range r.kinds {
		r.Kinds, k.Partition.Distinct, k.Row.Distinct = append(r.Kinds, k.RowKind), len(k.samples[partitions].hashes), len(k.samples[rows].hashes)
		if k.Parent == nil || k.Pattern == "compoundkey" {
			k.Name = unique(used, strings.TrimSuffix(cmp.Or(k.Value, k.Row.Prefix, typeName().FindString(k.Row.Constant),
				k.Partition.Prefix, map[bool]string{true: "Entity", false: "Child"}[k.Parent == nil]), "_"))
		}
	}
	for _, k := range r.kinds {
		k.Of = cmp.Or(k.Parent, &kind{RowKind: &RowKind{}}).Name
		k.setFields()
	}
}

// setFields sets the fields, and the series if there is one.
func (k *kind) setFields() {
	used := map[string]bool{"PartitionKey": true, "RowKey": true, "Timestamp": true, "ETag": true} // fields of the library
	for _, part := range append([]*kind{k}, k.Parts...) {
		for _, p := range part.Properties {
			p.Missing = part.Rows
			for _, n := range p.Types {
				p.Missing -= n
			}
			if k.Name == "" || p.Name == k.Discriminator || len(k.Fields) == 252 && k.Parts == nil || !p.setGo(used) {
				continue
			}
			k.Fields = append(k.Fields, p)
			m, slot := seriesName().FindStringSubmatch(p.Name), strings.Fields(p.Go)[1]
			if m != nil && k.Parts == nil && !k.samples[rows].escaped && k.Has(m[1]+"02") && k.Has(m[1]+"03") && k.Has(m[1]+"04") && strings.Contains("int32 int64 float64", slot) {
				k.Pattern, k.Series, k.Slot, k.Ring = "dataseries", m[1], slot, map[string]string{"Hour": "HoursOfDay", "Minute": "MinutesOfHour"}[m[2]]
			}
		}
	}
}

// unique returns an exported name that is not in used, and adds it.
func unique(used map[string]bool, name string) string {
	letters := []rune(name)
	if name = string(unicode.ToUpper(letters[0])) + string(letters[1:]); !token.IsExported(name) {
		name = "X" + name
	}
	for ; used[name]; name += "2" {
	}
	used[name] = true
	return name
}

// setGo sets the source of the field. It returns false if there is none.
func (p *Property) setGo(used map[string]bool) bool {
	i, texts := slices.Index(fieldTypes, strings.Join(slices.Sorted(maps.Keys(p.Types)), ",")), p.Types["Edm.String"]
	if i < 0 || !token.IsIdentifier(p.Name+"_") {
		return false
	}
	name, goType := unique(used, p.Name), fieldTypes[i+1]
	tag := strings.TrimPrefix(p.Name, name)
	for form, as := range map[string][2]string{"time": {"time.Time", ",string"}, "int64": {"int64", ",string"}, "JSON": {"json.RawMessage", ",json"}} {
		if texts > 0 && !p.keyed && p.Forms[form] == texts && (form != "int64" || p.Forms["large int64"] > 0) { // small numbers may be names
			goType, tag = as[0], tag+as[1]
		}
	}
	tag += map[bool]string{true: ",omitempty"}[p.Missing > 0 || p.omitted]
	p.Go = strings.TrimSuffix(fmt.Sprintf("%s %s `table:%q`", name, goType, tag), " `table:\"\"`")
	return true
}

//go:embed survey.tmpl
var programText string

var importable = strings.Fields(strings.ReplaceAll("encoding/json errors strings time github.com/Azure/azure-sdk-for-go/sdk/data/aztables "+
	"~keys ~patterns ~query ~patterns/compoundkey ~patterns/dataseries ~patterns/entitytype ~patterns/indexentity ~patterns/secondaryindex ~patterns/wideentity", "~", "github.com/azpatterns/azpatterns/"))

var notCode = expression(`(?m)^\s*//.*$|"(?:\\.|[^"\\])*"`)

// WriteGo writes a Go package of that name, "" for tables: for each kind of entities the Go type,
// and a function that opens its rows with the options for their layout. Comments contain the rest
// of the report. An update of one field with it changes no other property, if the report is of all
// rows. The error is that of w, or [patterns.ErrBadOption] if name cannot be that of a package.
func (r *SurveyReport) WriteGo(w io.Writer, name string) error {
	if name = cmp.Or(name, "tables"); !token.IsIdentifier(name) || name == "_" {
		return failed("survey", patterns.ErrBadOption)
	}
	types, used := map[string][]*kind{}, map[string]bool{}
	for _, k := range r.kinds {
		used[k.Name], types[k.Discriminator] = true, append(types[k.Discriminator], k)
	}
	delete(types, "")
	var text bytes.Buffer
	err := template.Must(template.New("").Funcs(template.FuncMap{
		"field":    func(p *Property) string { return strings.Fields(p.Go)[0] },
		"function": func(name ...string) string { return unique(used, strings.Join(name, "")) },
	}).Parse(programText)).Execute(&text, map[string]any{"Report": r, "Kinds": r.kinds, "Types": types})
	header, code := "", notCode().ReplaceAllString(text.String(), "")
	for _, imported := range importable {
		if strings.Contains(code, imported[strings.LastIndex(imported, "/")+1:]+".") {
			header += fmt.Sprintf("%q\n", imported)
		}
	}
	source, invalid := format.Source(fmt.Appendf(nil, "// Package %s has the Go types and options for a table.\npackage %s\n\n"+
		"import (\n%s)\n%s", name, name, header, text.Bytes()))
	_, unwritten := w.Write(source)
	return failed("survey", cmp.Or(err, invalid, unwritten))
}
