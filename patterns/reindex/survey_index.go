package reindex

import (
	"cmp"
	"slices"
	"strings"
)

// index recognises copies of the rows of k, and lists of them.
func (k *kind) index(other *kind) {
	v := k.viewIn(other)
	common := k.shared(other)
	list := common == 0 && len(other.Properties) == 1 && v.List != nil && (v.Local || other.Partition.Constant != "")
	if v.Value == nil || !k.mayBeIndexedBy(other, v) || !list && !k.isCopiedBy(other, v, common) {
		return
	}
	if list {
		other.Pattern, v.Name, v.Separator = "indexentity", cmp.Or(v.Name, strings.ToLower(v.Value.Name)), cmp.Or(v.List.separator, ",")
	} else {
		other.Pattern, v.List, v.Clear = "secondaryindex", nil, !other.Has(v.Value.Name)
		v.Slim = len(k.Properties) > common && !(v.Clear && len(k.Properties) == common+1)
		if v.ID != nil {
			v.ID = k.property(v.ID.Name)
			v.ID.Types["Edm.String"], v.ID.keyed = max(0, v.ID.Types["Edm.String"]), true // of a type, also if no row has it
		}
	}
	v.Value.keyed, v.Value.omitted, k.Views, other.Parent = true, v.Value.omitted || v.Clear, append(k.Views, v), k
}

// viewIn returns the view of k whose rows other may be: with the property of k that the row keys contain,
// and the properties of other that contain a row key of k or a list of them, nil for none.
func (k *kind) viewIn(other *kind) *surveyedView {
	v := &surveyedView{Rows: other, Name: strings.Trim(cmp.Or(other.Row.Prefix, other.Partition.Prefix), "_"),
		Local: k.Partition.Prefix == other.Partition.Prefix && other.samples[partitions].isIn(k.samples[partitions]),
		Swaps: other.Partition.Prefix != "" && other.samples[partitionRests].isIn(k.samples[partitionRests])}
	for _, p := range k.Properties {
		if p.isText() && other.samples[rests].isIn(p.values) && (v.Value == nil || strings.HasPrefix(strings.ToLower(p.Name), strings.ToLower(v.Name))) {
			v.Value = p
		}
	}
	members := both
	if v.Local {
		members = rows
	}
	for _, p := range other.Properties {
		if p.isText() && p.values.isIn(k.samples[rests]) && (!k.Has(p.Name) || v.ID == nil && k.property(p.Name).isText()) {
			v.ID = p
		}
		if p.members.isIn(k.samples[members]) {
			v.List = p
		}
	}
	return v
}

// mayBeIndexedBy reports whether the keys of other, and the views that k has, permit that other are the
// rows of v.
func (k *kind) mayBeIndexedBy(other *kind, v *surveyedView) bool {
	if k.Discriminator+other.Discriminator != "" || other.samples[rests].escaped {
		return false
	}
	if !v.Local && (other.Row.Prefix != "" || other.Partition.Constant == "" && !v.Swaps) {
		return false
	}
	name := cmp.Or(v.Name, strings.ToLower(v.Value.Name))
	return !slices.ContainsFunc(k.Views, func(o *surveyedView) bool { return o.Name == name })
}

// isCopiedBy reports whether the properties of other, of which k has a number in common, are those of
// copies.
func (k *kind) isCopiedBy(other *kind, v *surveyedView, common int) bool {
	switch more := len(other.Properties) - common; {
	case common == 0, v.Name == "", more > 1:
		return false
	case more == 1:
		return v.ID != nil && !k.Has(v.ID.Name)
	}
	return true
}
