package api

import (
	"cmp"
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/azpatterns/azpatterns"

// describer writes the lines of packages.
type describer struct {
	// public are the names of internal types that a public package exports by an alias: "patterns.Error" for
	// "internal/azerr.Error".
	public map[string]string
}

var internalName = regexp.MustCompile(`\binternal/[\w/]+\.\w+`)

func newDescriber(packages []*types.Package) describer {
	d := describer{map[string]string{}}
	for _, pkg := range packages {
		for _, name := range pkg.Scope().Names() {
			obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if ok && obj.Exported() && obj.IsAlias() {
				if of, ok := types.Unalias(obj.Type()).(*types.Named); ok && of.Obj().Pkg() != nil {
					d.public[path(of.Obj().Pkg())+"."+of.Obj().Name()] = path(pkg) + "." + name
				}
			}
		}
	}
	return d
}

func path(pkg *types.Package) string { return strings.TrimPrefix(pkg.Path(), module+"/") }

// text writes a type. Renaming an internal type that has a public name does not change it.
func (d describer) text(t types.Type) string {
	return internalName.ReplaceAllStringFunc(types.TypeString(bare(t), path), func(name string) string {
		return cmp.Or(d.public[name], name)
	})
}

func (d describer) signature(f types.Object) string {
	return strings.TrimPrefix(d.text(f.Type()), "func")
}

func (d describer) typeParams(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var params []string
	for p := range list.TypeParams() {
		params = append(params, p.Obj().Name()+" "+d.text(p.Constraint()))
	}
	return "[" + strings.Join(params, ", ") + "]"
}

// describe returns the sorted lines of a package: one for each exported constant, variable, function, type, field and method.
func (d describer) describe(pkg *types.Package) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.Const:
			add("const %s %s = %s", name, d.text(obj.Type()), obj.Val().ExactString())
		case *types.Var:
			add("var %s %s", name, d.text(obj.Type()))
		case *types.Func:
			add("func %s%s%s", name, d.typeParams(obj.Signature().TypeParams()), d.signature(obj))
		case *types.TypeName:
			d.describeType(obj, add)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func (d describer) describeType(obj *types.TypeName, add func(string, ...any)) {
	name := obj.Name()
	of := types.Unalias(obj.Type())
	named, _ := of.(*types.Named)
	if obj.IsAlias() {
		if named == nil || named.Obj().Pkg() == nil || !strings.Contains(path(named.Obj().Pkg()), "internal/") {
			add("type %s = %s", name, d.text(of))
			return
		}
		// An internal type has no lines of its own: it is described by its public name.
	}
	full := name + d.typeParams(named.TypeParams())
	switch u := named.Underlying().(type) {
	case *types.Struct:
		add("type %s struct", full)
		d.describeFields(name, u, add)
	case *types.Interface:
		if !u.IsMethodSet() {
			add("type %s %s", full, d.text(u))
			return
		}
		// All names are in one line: a new method breaks those who implement the interface.
		var methods []string
		for m := range u.Methods() {
			if !m.Exported() {
				methods = append(methods, "unexported methods")
				continue
			}
			methods = append(methods, m.Name())
			add("type %s interface, %s%s", name, m.Name(), d.signature(m))
		}
		slices.Sort(methods)
		add("type %s interface { %s }", full, strings.Join(slices.Compact(methods), ", "))
		return
	default:
		add("type %s %s", full, d.text(u))
	}
	values := types.NewMethodSet(of)
	for m := range types.NewMethodSet(types.NewPointer(of)).Methods() {
		if m.Obj().Exported() {
			receiver := "*" + name
			if values.Lookup(nil, m.Obj().Name()) != nil {
				receiver = name
			}
			add("method (%s) %s%s", receiver, m.Obj().Name(), d.signature(m.Obj()))
		}
	}
}

// describeFields also describes the fields that an embedded unexported struct promotes.
func (d describer) describeFields(name string, s *types.Struct, add func(string, ...any)) {
	for f := range s.Fields() {
		switch {
		case f.Exported() && f.Embedded():
			add("type %s struct, embedded %s", name, d.text(f.Type()))
		case f.Exported():
			add("type %s struct, %s %s", name, f.Name(), d.text(f.Type()))
		case f.Embedded():
			t := f.Type().Underlying()
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem().Underlying()
			}
			if s, ok := t.(*types.Struct); ok {
				d.describeFields(name, s, add)
			}
		}
	}
}

// bare returns t without the names of parameters, which no caller depends on.
func bare(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Pointer:
		return types.NewPointer(bare(t.Elem()))
	case *types.Slice:
		return types.NewSlice(bare(t.Elem()))
	case *types.Array:
		return types.NewArray(bare(t.Elem()), t.Len())
	case *types.Map:
		return types.NewMap(bare(t.Key()), bare(t.Elem()))
	case *types.Chan:
		return types.NewChan(t.Dir(), bare(t.Elem()))
	case *types.Signature:
		// Without its type parameters, which belong to one signature only; typeParams writes them.
		return types.NewSignatureType(nil, nil, nil, bareTuple(t.Params()), bareTuple(t.Results()), t.Variadic())
	}
	return t
}

func bareTuple(vars *types.Tuple) *types.Tuple {
	var out []*types.Var
	for v := range vars.Variables() {
		out = append(out, types.NewParam(v.Pos(), v.Pkg(), "", bare(v.Type())))
	}
	return types.NewTuple(out...)
}
