package reindex

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// surveyedView is an index: rows that contain copies of the entities, or lists of them.
type surveyedView struct {
	Name, Separator string
	Rows            *kind
	Local           bool // the rows are in the partitions of the entities
	Swaps           bool // their partition keys differ from those of the entities in the prefix only
	Value, ID       *Property
	List            *Property // nil for copies
	Clear, Slim     bool      // copies lack the value; they lack other properties
}

// sorted returns the properties in the order of their names.
func (k *kind) sorted() []*Property {
	return slices.SortedFunc(maps.Values(k.ByName), func(a, b *Property) int { return strings.Compare(a.Name, b.Name) })
}

// similar reports whether rows with such keys and properties are probably of one Go type.
func (k *kind) similar(other *kind) bool {
	n, all := shared(k.ByName, other.ByName), len(k.ByName)+len(other.ByName)
	return k.Row.Form == other.Row.Form && n == min(len(k.ByName), len(other.ByName)) || 10*n >= 7*(all-n)
}

// relations return the pattern of the rows of other if they belong to those of k, "" if they do not.
// The first two are tried again with kinds that were merged.
var relations = []func(k, other *kind) string{(*kind).index, (*kind).same, (*kind).index, (*kind).same, (*kind).below}

// recognise relates the kinds of rows.
func (s *surveyor) recognise() {
	untyped := slices.DeleteFunc(slices.Clone(s.kinds), func(k *kind) bool { // rows of other types have other properties
		return slices.ContainsFunc(s.kinds, func(other *kind) bool {
			return k.Discriminator == other.Discriminator && k.Value != other.Value && !k.similar(other)
		})
	})
	for _, k := range untyped {
		k.Discriminator, k.Value = "", ""
	}
	for _, relation := range relations {
		slices.SortStableFunc(s.kinds, func(a, b *kind) int { // IDs come before names
			return cmp.Or(strings.Compare(a.Row.Form, b.Row.Form), b.Rows-a.Rows,
				strings.Compare(a.Row.Prefix, b.Row.Prefix), strings.Compare(a.Part, b.Part))
		})
		for _, k := range s.kinds {
			for _, other := range s.kinds {
				if k != other && k.Pattern+other.Pattern == "" {
					if other.Pattern = relation(k, other); other.Pattern != "" {
						other.Parent = k
					}
				}
			}
		}
		s.kinds = slices.DeleteFunc(s.kinds, func(k *kind) bool { return k.Pattern == "merged" })
	}
}

// same merges kinds that are of one Go type.
func (k *kind) same(other *kind) string {
	if k.Value == other.Value && k.Discriminator == other.Discriminator && len(other.Views) == 0 &&
		(k.Value != "" || k.similar(other) && !k.isParentOf(other) && !other.isParentOf(k)) {
		k.merge(other)
		return "merged"
	}
	return ""
}

// isParentOf reports whether the rows of other have the keys of children of the rows of k.
func (k *kind) isParentOf(other *kind) bool {
	return !k.samples[rows].escaped && !other.samples[heads].escaped && other.samples[heads].isIn(k.samples[both])
}

// below recognises the further rows of wide entities, and rows whose keys are those of the rows of
// k, "_" and a name.
func (k *kind) below(other *kind) string {
	head := other.samples[heads]
	switch {
	case head.escaped:
	case k.isParentOf(other):
		return "compoundkey"
	case k.Part == "01" && other.Part > "01" && shared(k.ByName, other.ByName)+len(k.Views) == 0 &&
		!k.samples[heads].escaped && head.isIn(k.samples[heads]):
		k.Parts = append(k.Parts, other)
		return "wideentity"
	}
	return ""
}

// index recognises copies of the rows of k, and lists of them.
func (k *kind) index(other *kind) string {
	v := &surveyedView{Rows: other, Name: strings.Trim(cmp.Or(other.Row.Prefix, other.Partition.Prefix), "_")}
	v.Local = k.Partition.Prefix == other.Partition.Prefix && other.samples[partitions].isIn(k.samples[partitions])
	v.Swaps = other.Partition.Prefix != "" && other.samples[partitionRests].isIn(k.samples[partitionRests])
	if k.Discriminator+other.Discriminator != "" || other.samples[rests].escaped ||
		!v.Local && (other.Row.Prefix != "" || other.Partition.Constant == "" && !v.Swaps) {
		return ""
	}
	for _, p := range k.sorted() {
		named := strings.HasPrefix(strings.ToLower(p.Name), strings.ToLower(v.Name))
		if other.samples[rests].isIn(p.values) && (v.Value == nil || named) {
			v.Value = p
		}
	}
	members := map[bool]int{true: rows, false: both}[v.Local]
	for _, p := range other.sorted() {
		if p.values.isIn(k.samples[rests]) && (v.ID == nil || k.ByName[p.Name] == nil) {
			v.ID = p
		}
		if p.members.isIn(k.samples[members]) {
			v.List = p
		}
	}
	common := shared(other.ByName, k.ByName)
	more := len(other.ByName) - common
	pattern := "secondaryindex"
	switch {
	case v.Value == nil:
		return ""
	case common == 0 && more == 1 && v.List != nil && (v.Local || other.Partition.Constant != ""):
		pattern, v.Name = "indexentity", cmp.Or(v.Name, strings.ToLower(v.Value.Name))
		v.Separator = cmp.Or(v.List.separator, ",")
	case common == 0 || v.Name == "" || more > 1 || more == 1 && (v.ID == nil || k.ByName[v.ID.Name] != nil):
		return ""
	default:
		v.List, v.Clear = nil, other.ByName[v.Value.Name] == nil
		v.Value.omitted = v.Value.omitted || v.Clear
		v.Slim = len(k.ByName) > common && !(v.Clear && len(k.ByName) == common+1)
		if more == 1 {
			v.ID = k.property(v.ID.Name)
			v.ID.Types["Edm.String"], v.ID.omitted = 0, true
		}
		if v.ID != nil {
			v.ID.keyed = true
		}
	}
	v.Value.keyed = true
	k.Views = append(k.Views, v)
	return pattern
}
