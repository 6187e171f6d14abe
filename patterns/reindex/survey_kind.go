package reindex

import (
	"cmp"
	"encoding/json"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

const maxKinds, maxProperties, sampleSize = 256, 4096, 128 // further rows are of the last kind

// A sample consists of the least hashes of a set of texts, in order. Two samples show how much of
// one set is in another: if both sets have an element, both samples have its hash or neither.
type sample struct {
	hashes  []uint64
	escaped bool // some text contains what the pattern packages escape
}

func (s *sample) add(parts ...string) {
	s.merge(sample{[]uint64{hashOf(parts...)}, strings.Contains(parts[len(parts)-1], "_")})
}

func (s *sample) merge(other sample) {
	s.escaped = s.escaped || other.escaped
	for _, x := range other.hashes {
		if i, found := slices.BinarySearch(s.hashes, x); !found && i < sampleSize {
			s.hashes = slices.Insert(s.hashes[:min(len(s.hashes), sampleSize-1)], i, x)
		}
	}
}

// isIn reports whether other has nearly all elements of the set. Tables that were maintained by
// hand have a few rows that were forgotten.
func (s sample) isIn(other sample) bool {
	all, both := 0, 0
	for _, x := range s.hashes {
		i, found := slices.BinarySearch(other.hashes, x)
		if all += min(1, sampleSize-i); found {
			both++
		}
	}
	return both > 0 && 10*both >= 9*all
}

// The samples of a kind: of partition keys and row keys, each also without its prefix, of both
// keys, and of both keys up to the last "_" of the row key.
const partitions, partitionRests, rows, rests, both, heads, samples = 0, 1, 2, 3, 4, 5, 6

// kind is what is known of the rows of a kind. The template reads what is exported.
type kind struct {
	*RowKind
	shape   [6]string // rows with another one are of another kind, until kinds are merged
	samples [samples]sample
	Part    string // "01" of 000123_01; "" if the rows have several
	Parent  *kind  // to whose entities the rows belong
	Parts   []*kind
	Views   []*surveyedView
	Fields  []*Property

	Series, Slot, Ring string // the name of a series, the type of its values, and their place
}

// surveyedView is an index: rows that contain copies of the entities, or lists of them.
type surveyedView struct {
	Name, Separator string
	Rows            *kind
	Local, Swaps    bool // the rows are in the entities' partitions; in those with another prefix
	Value, ID, List *Property
	Clear, Slim     bool // copies lack the value; they lack other properties
}

// fieldTypes are in turns a type of decoded values, its EDM type, and the type of a field for them.
// Numbers have two types if a program has not annotated them.
var fieldTypes = strings.Fields("string Edm.String string bool Edm.Boolean bool int32 Edm.Int32 int32 int64 Edm.Int64 int64 " +
	"float64 Edm.Double float64 time.Time Edm.DateTime time.Time []uint8 Edm.Binary []byte [16]uint8 Edm.Guid aztables.EDMGUID " +
	"- Edm.Int32,Edm.Int64 int64 - Edm.Double,Edm.Int32 float64")

// expression compiles at the first use, not in every program that imports the package.
func expression(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

var (
	keyLead      = expression(`^[A-Za-z][A-Za-z0-9]*_`)
	partEnd      = expression(`_(0[1-9]|[1-9]\d)$`)
	typeName     = expression(`^[A-Za-z][A-Za-z0-9]{0,63}$`)
	typeProperty = expression(`(?i)^([\pL_][\pL\p{Nd}_]*)?(type|kind)$`)
	seriesName   = expression(`^(.*(Hour|Minute))01$`)
	keyForms     = expression(`^(?:(?P<empty>)|(?P<ticks>\d{19})|(?P<date>(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?:[0-2]\d|[T ].*)?)|` +
		`(?P<digits>\d+)|(?P<GUID>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})|(?P<mail>[^@\s]+@[^@\s]+\.[A-Za-z]+)|(?P<text>[^_]*|.*_.*_.*))$`)
)

// formOf returns the KeyForm.Form of a key.
func formOf(key string) string {
	if match := keyForms().FindStringSubmatch(key); match != nil {
		return keyForms().SubexpNames()[1+slices.Index(match[1:], key)]
	}
	first, rest, _ := strings.Cut(key, "_")
	return formOf(first) + "_" + formOf(rest)
}

// newKeyForm returns the form of one key.
func newKeyForm(key string) KeyForm {
	prefix := keyLead().FindString(key)
	return KeyForm{prefix, formOf(key[len(prefix):]), len(key) - len(prefix), key, 0}
}

// join returns what the forms of keys have in common.
func (f KeyForm) join(g KeyForm) KeyForm {
	if f.Prefix != g.Prefix {
		return KeyForm{Form: "text"}
	}
	return KeyForm{f.Prefix, common(f.Form, g.Form, "text"), common(f.Width, g.Width, 0), common(f.Constant, g.Constant, ""), 0}
}

// isText reports whether the property has a field of type string in a Go type.
func (p *Property) isText() bool {
	return p.Types["Edm.String"] > 0 && len(p.Types) == 1 && token.IsIdentifier(p.Name+"_")
}

// common returns what both are, or else otherwise.
func common[T comparable](a, b, otherwise T) T { return map[bool]T{true: a, false: otherwise}[a == b] }

// add adds a row to its kind. Of rows whose keys are names, those are of one kind that have a
// property in common.
func (r *SurveyReport) add(key keys.Key, properties map[string]any) {
	if r.Rows++; properties["azp_view"] != nil || properties["azp_part"] != nil || properties["azp_layout"] != nil || strings.HasPrefix(key.Row, "~azp") {
		r.Managed++
		return
	}
	maps.DeleteFunc(properties, func(name string, _ any) bool { return name == "Timestamp" || strings.HasPrefix(name, "azp_") })
	row := &kind{RowKind: &RowKind{Partition: newKeyForm(key.Partition), Row: newKeyForm(key.Row)}}
	for name, value := range properties {
		if text, _ := value.(string); typeProperty().MatchString(name) && typeName().MatchString(text) && (row.Discriminator == "" || name < row.Discriminator) {
			row.Discriminator, row.Value = name, text
		}
	}
	row.Part = strings.TrimPrefix(partEnd().FindString(key.Row), "_")
	row.shape = [...]string{row.Partition.Prefix, row.Row.Prefix, row.Row.Form, row.Discriminator, row.Value, row.Part}
	names := strings.Split(key.Row, "_")
	for i, parts := range [samples][]string{{key.Partition}, {key.Partition[len(row.Partition.Prefix):]}, {key.Row}, {key.Row[len(row.Row.Prefix):]},
		{key.Partition, key.Row}, {key.Partition, strings.Join(names[:max(1, len(names)-1)], "_")}} {
		row.samples[i].add(parts...)
	}
	i := slices.IndexFunc(r.kinds, func(k *kind) bool {
		return k.shape == row.shape && (row.Row.Form != "text" || row.Row.Prefix != "" || len(properties) == 0 ||
			slices.ContainsFunc(k.Properties, func(p *Property) bool { return properties[p.Name] != nil }))
	})
	if i < 0 && len(r.kinds) < maxKinds {
		r.kinds = append(r.kinds, row)
	}
	k := r.kinds[min(uint(i), uint(len(r.kinds)-1))]
	k.merge(row)
	k.Rows++
	for name, value := range properties {
		if n := len(k.Properties); r.properties < maxProperties || k.Has(name) {
			k.property(name).add(value)
			r.properties += len(k.Properties) - n
		} else {
			k.Others++
		}
	}
}

// property returns the property of that name, which it adds if there is none.
func (k *kind) property(name string) *Property {
	i, found := slices.BinarySearchFunc(k.Properties, name, func(p *Property, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		k.Properties = slices.Insert(k.Properties, i, &Property{Name: name, Types: map[string]int{}, Forms: map[string]int{}})
	}
	return k.Properties[i]
}

// Has reports whether some row has a property of that name.
func (k *kind) Has(name string) bool {
	return slices.ContainsFunc(k.Properties, func(p *Property) bool { return p.Name == name })
}

// shared counts the properties that rows of both kinds have.
func (k *kind) shared(o *kind) int {
	return len(slices.DeleteFunc(slices.Clone(k.Properties), func(p *Property) bool { return !o.Has(p.Name) }))
}

// add adds a value.
func (p *Property) add(value any) {
	v := reflect.ValueOf(value)
	p.Types[fieldTypes[slices.Index(fieldTypes, v.Type().String())+1]]++
	text, isText := value.(string)
	at, notTime := time.Parse(time.RFC3339Nano, text)
	n, _ := strconv.ParseInt(text, 10, 64)
	isNumber := strconv.FormatInt(n, 10) == text
	for i, is := range []bool{v.IsZero() || notTime == nil && at.IsZero() || text == "0", notTime == nil, notTime == nil && !strings.HasSuffix(text, "Z"),
		strings.IndexAny(text, "{[") == 0 && json.Valid([]byte(text)), isNumber, isNumber && int64(int32(n)) != n} {
		if is {
			p.Forms[[]string{"zero", "time", "zoned time", "JSON", "int64", "large int64"}[i]]++
		}
	}
	if !isText {
		return
	}
	p.values.add(text)
	i := strings.IndexAny(text, "[,;|")
	p.separator = cmp.Or(p.separator, text[max(i, 0):i+1])
	for m := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(`,;|[]"`, r) }) {
		p.members.add(strings.Split(m, "/")...)
	}
}

// merge adds the rows of other to k, of the same type.
func (k *kind) merge(other *kind) {
	for i, differ := range [samples]bool{rests: k.Row.Prefix != other.Row.Prefix, partitionRests: k.Partition.Prefix != other.Partition.Prefix} {
		if k.samples[i].merge(other.samples[i]); differ {
			k.samples[i] = sample{escaped: true}
		}
	}
	k.Partition, k.Row = k.Partition.join(other.Partition), k.Row.join(other.Row)
	k.Discriminator, k.Value = common(k.Discriminator, other.Discriminator, ""), common(k.Value, other.Value, "")
	k.Part, k.Rows, k.Others = common(k.Part, other.Part, ""), k.Rows+other.Rows, k.Others+other.Others
	for _, q := range other.Properties {
		p := k.property(q.Name)
		for _, counts := range [][2]map[string]int{{p.Types, q.Types}, {p.Forms, q.Forms}} {
			for name, n := range counts[1] {
				counts[0][name] += n
			}
		}
		p.values.merge(q.values)
		p.members.merge(q.members)
		p.separator = max(p.separator, q.separator)
	}
}

// similar reports whether rows with such keys and properties are probably of one Go type.
func (k *kind) similar(other *kind) bool {
	n, all := k.shared(other), len(k.Properties)+len(other.Properties)
	return k.Row.Form == other.Row.Form && n == min(len(k.Properties), len(other.Properties)) || 10*n >= 7*(all-n)
}

// relations set the pattern and the parent of other if its rows belong to those of k. The first two are
// tried again with kinds that were merged.
var relations = []func(k, other *kind){(*kind).index, (*kind).same, (*kind).index, (*kind).same, (*kind).below}

// relate relates the kinds of rows.
func (r *SurveyReport) relate() {
	for _, k := range r.kinds { // rows of other types have other properties
		if !slices.ContainsFunc(r.kinds, func(o *kind) bool { return k.Discriminator == o.Discriminator && k.Value != o.Value && !k.similar(o) }) {
			k.Discriminator, k.Value = "", ""
		} else {
			k.Pattern = "entitytype"
		}
	}
	for _, relation := range relations {
		slices.SortStableFunc(r.kinds, func(a, b *kind) int { // IDs come before names
			return cmp.Or(strings.Compare(a.Row.Form, b.Row.Form), b.Rows-a.Rows, strings.Compare(a.Row.Prefix, b.Row.Prefix), strings.Compare(a.Part, b.Part))
		})
		for i := range len(r.kinds) * len(r.kinds) {
			if k, other := r.kinds[i/len(r.kinds)], r.kinds[i%len(r.kinds)]; k != other && k.Parent == nil && other.Parent == nil {
				relation(k, other)
			}
		}
		r.kinds = slices.DeleteFunc(r.kinds, func(k *kind) bool { return k.Pattern == "merged" })
	}
}

// same merges kinds that are of one Go type.
func (k *kind) same(other *kind) {
	if k.Value == other.Value && k.Discriminator == other.Discriminator && len(other.Views) == 0 && (k.Value != "" || k.similar(other) && !k.isParentOf(other) && !other.isParentOf(k)) {
		k.merge(other)
		other.Pattern, other.Parent = "merged", k
	}
}

// isParentOf reports whether the rows of other have the keys of children of the rows of k.
func (k *kind) isParentOf(other *kind) bool {
	return !k.samples[rows].escaped && !other.samples[heads].escaped && other.samples[heads].isIn(k.samples[both])
}

// below recognises the further rows of wide entities, and rows whose keys are those of the rows of
// k, "_" and a name.
func (k *kind) below(other *kind) {
	if k.isParentOf(other) {
		other.Pattern, other.Parent = "compoundkey", k
	} else if k.Part == "01" && other.Part > "01" && k.shared(other)+len(k.Views) == 0 && !k.samples[heads].escaped && other.samples[heads].isIn(k.samples[heads]) {
		k.Pattern, k.Parts, other.Pattern, other.Parent = "wideentity", append(k.Parts, other), "wideentity", k
	}
}
