package oldprogram

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// Nested stores a value as JSON text in a string property, as programs on encoding/json do: the service has no properties with
// members.
type Nested struct{ value any }

func (n Nested) MarshalText() ([]byte, error)     { return json.Marshal(n.value) }
func (n *Nested) UnmarshalText(text []byte) error { return json.Unmarshal(text, &n.value) }

// program is the struct of an old program, and the one of the same rows for azpatterns.
type program struct {
	seed     uint64
	old, new reflect.Type
	docs     map[string]reflect.Type // of the fields of the type Nested
}

func typ[T any]() reflect.Type { return reflect.TypeFor[T]() }

// kinds are the types of properties: of the old program, those by which azpatterns may read them, and options of the json tag. The
// weight is how often a kind is drawn.
var kinds = []struct {
	weight  int
	old     reflect.Type
	new     []reflect.Type
	options []string
}{
	{6, typ[string](), []reflect.Type{typ[string](), typ[Name]()}, []string{"omitempty"}},
	{2, typ[bool](), []reflect.Type{typ[bool](), typ[Truth]()}, []string{"omitempty", "string"}},
	{4, typ[int](), []reflect.Type{typ[int](), typ[int64](), typ[int32](), typ[Count]()}, []string{"omitempty", "string", "omitzero"}},
	{2, typ[int64](), []reflect.Type{typ[int64](), typ[int]()}, []string{"omitempty", "string"}},
	{1, typ[int8](), nil, nil},
	{1, typ[int16](), nil, nil},
	{2, typ[int32](), nil, []string{"omitempty"}},
	{1, typ[uint8](), nil, nil},
	{1, typ[uint16](), nil, nil},
	{1, typ[uint32](), nil, nil},
	{1, typ[uint64](), nil, nil},
	{1, typ[float32](), nil, nil},
	{5, typ[float64](), []reflect.Type{typ[float64](), typ[float64](), typ[Amount]()}, []string{"omitempty", "string"}},
	{6, typ[time.Time](), []reflect.Type{typ[time.Time](), typ[time.Time](), typ[Stamp]()}, []string{"omitzero"}},
	{1, typ[Stamp](), []reflect.Type{typ[Stamp](), typ[time.Time]()}, nil},
	{2, typ[[]byte](), []reflect.Type{typ[[]byte](), typ[Blob]()}, []string{"omitempty"}},
	{2, typ[json.Number](), []reflect.Type{typ[json.Number](), typ[json.Number](), typ[float64]()}, []string{"omitempty", "string"}},
	{1, typ[time.Duration](), nil, nil},
	{1, typ[time.Month](), nil, nil},
	{1, typ[Level](), []reflect.Type{typ[Level](), typ[string]()}, nil},
	{1, typ[Money](), []reflect.Type{typ[Money](), typ[float64]()}, nil},
	{1, typ[Cents](), []reflect.Type{typ[Cents](), typ[string]()}, nil},
	{1, typ[Flag](), []reflect.Type{typ[Flag](), typ[string]()}, nil},
	{1, typ[Day](), []reflect.Type{typ[Day](), typ[string]()}, nil},
	{1, typ[Unix](), nil, nil},
	{1, typ[uuid.UUID](), []reflect.Type{typ[string]()}, nil},
	{1, typ[netip.Addr](), nil, nil},
	{2, typ[*big.Int](), []reflect.Type{typ[*big.Int](), typ[*big.Int](), typ[big.Int](), typ[int64]()}, nil},
	{1, typ[*string](), []reflect.Type{typ[*string](), typ[string]()}, []string{"omitempty"}},
	{1, typ[*bool](), nil, []string{"omitempty"}},
	{2, typ[*int](), []reflect.Type{typ[*int](), typ[int]()}, []string{"omitempty"}},
	{2, typ[*float64](), []reflect.Type{typ[*float64](), typ[float64]()}, nil},
	{2, typ[*time.Time](), []reflect.Type{typ[*time.Time](), typ[time.Time]()}, []string{"omitempty"}},
	{1, typ[*Money](), nil, nil},
	{1, typ[aztables.EDMInt64](), []reflect.Type{typ[aztables.EDMInt64](), typ[int64]()}, nil},
	{1, typ[aztables.EDMDateTime](), []reflect.Type{typ[aztables.EDMDateTime](), typ[time.Time]()}, nil},
	{1, typ[aztables.EDMGUID](), []reflect.Type{typ[aztables.EDMGUID](), typ[uuid.UUID]()}, nil},
	{1, typ[aztables.EDMBinary](), []reflect.Type{typ[aztables.EDMBinary](), typ[[]byte]()}, nil},
	{6, typ[Nested](), nil, nil},
}

// laterKinds are the types of fields of a later release, which the rows lack.
var laterKinds = []reflect.Type{
	typ[string](), typ[int](), typ[float64](), typ[bool](), typ[*string](), typ[time.Time](), typ[[]byte](), typ[int32](), typ[Level](),
}

// memberKinds are the types of members of nested values.
var memberKinds = []reflect.Type{
	typ[string](), typ[int](), typ[float64](), typ[bool](), typ[time.Time](), typ[*int](), typ[[]byte](), typ[json.Number](), typ[Level](), typ[Money](),
	typ[Point](), typ[any](), typ[[]string](), typ[map[string]int](), typ[json.RawMessage](),
}

var vocabulary = []string{
	"Name", "City", "Age", "Price", "Born", "Active", "Note", "Rate", "Visits", "Photo", "Address", "Tags", "Due", "Total", "Größe", "Memo", "Code", "Kind", "Size", "Start",
}

// generator makes the types of a program. Its seed determines them.
type generator struct{ *rand.Rand }

func (g generator) chance(p float64) bool { return g.Float64() < p }

func generate(seed uint64) *program {
	g := generator{rand.New(rand.NewPCG(seed, 7))}
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	lower := g.chance(0.4)  // json tags in lower case
	lacks := g.chance(0.5)  // the new struct lacks some fields of the old one
	embeds := g.chance(0.4) // some fields are those of an embedded struct
	p := &program{seed: seed, docs: map[string]reflect.Type{}}
	var old, new, oldBase, newBase []reflect.StructField
	for i, n := range g.Perm(len(vocabulary))[:3+g.IntN(12)] {
		name := vocabulary[n]
		property := name
		if lower {
			property = strings.ToLower(name[:1]) + name[1:]
		}
		o, w := &old, &new
		if embeds && i%3 == 2 {
			o, w = &oldBase, &newBase
		}
		at := g.IntN(total)
		for _, k := range kinds {
			if at -= k.weight; at < 0 {
				of, nf := g.field(p, name, property, k.old, k.new, k.options)
				*o = append(*o, of...)
				if !lacks || g.chance(0.7) {
					*w = append(*w, nf...)
				}
				break
			}
		}
	}
	if g.chance(0.4) {
		for i := range 1 + g.IntN(2) {
			new = append(new, reflect.StructField{Name: fmt.Sprintf("Later%d", i), Type: pick(g.Rand, laterKinds...)})
		}
	}
	text := typ[string]()
	entity := []reflect.StructField{{Name: "PartitionKey", Type: text}, {Name: "RowKey", Type: text}}
	if g.chance(0.5) {
		entity = []reflect.StructField{{Name: "Entity", Type: typ[aztables.Entity](), Anonymous: true}}
	}
	newEntity := pick(g.Rand, entity, []reflect.StructField{{Name: "Part", Type: text, Tag: `table:"PartitionKey"`}, {Name: "Row", Type: text, Tag: `json:"RowKey"`}})
	index := []reflect.StructField{{Name: "ID", Type: text, Tag: `json:",omitempty"`}, {Name: "Mail", Type: text, Tag: `json:",omitempty"`}, {Name: "Group", Type: text}}
	if embeds {
		old = append(old, reflect.StructField{Name: "Base", Type: reflect.StructOf(oldBase), Anonymous: true})
		new = append(new, reflect.StructField{Name: "Base", Type: reflect.StructOf(newBase), Anonymous: true})
		if g.chance(0.3) {
			new[len(new)-1].Type = reflect.PointerTo(new[len(new)-1].Type)
		}
	}
	join := func(parts ...[]reflect.StructField) reflect.Type {
		var all []reflect.StructField
		for _, part := range parts {
			all = append(all, part...)
		}
		return reflect.StructOf(all)
	}
	p.old, p.new = join(entity, index, old), join(newEntity, index, new)
	return p
}

// field makes a field of both types.
func (g generator) field(p *program, name, property string, kind reflect.Type, as []reflect.Type, options []string) (old, new []reflect.StructField) {
	tag := func(key, options string) reflect.StructTag {
		if property == name && options == "" {
			return ""
		}
		if property == name {
			return reflect.StructTag(fmt.Sprintf("%s:%q", key, options))
		}
		return reflect.StructTag(fmt.Sprintf("%s:%q", key, property+options))
	}
	o := reflect.StructField{Name: name, Type: kind, Tag: tag("json", "")}
	w := o
	if len(as) > 0 {
		w.Type = pick(g.Rand, as...)
	}
	if edm := edmTypes[kind]; edm != "" {
		annotation := reflect.StructField{Name: name + "Type", Type: typ[string](), Tag: reflect.StructTag(fmt.Sprintf("json:%q", property+"@odata.type"))}
		old, new = []reflect.StructField{o, annotation}, []reflect.StructField{w}
		if w.Type == kind && g.chance(0.5) {
			new = append(new, annotation)
		}
		return old, new
	}
	if kind == typ[Nested]() {
		oldDoc, newDoc := g.doc(2)
		p.docs[property] = oldDoc
		switch g.IntN(8) {
		case 0:
			newDoc = pick(g.Rand, typ[map[string]any](), typ[any](), typ[json.RawMessage]())
		case 1:
			newDoc = reflect.PointerTo(newDoc)
		case 2:
			w.Type = typ[string]()
			return []reflect.StructField{o}, []reflect.StructField{w}
		}
		w.Type, w.Tag = newDoc, tag("table", pick(g.Rand, ",json", ",json", ",json,omitempty"))
		return []reflect.StructField{o}, []reflect.StructField{w}
	}
	key, option := "json", ""
	if len(options) > 0 && g.chance(0.4) {
		option = "," + pick(g.Rand, options...)
		o.Tag = tag("json", option)
	}
	if option != ",string" && g.chance(0.3) {
		key = "table"
		switch {
		case w.Type == typ[time.Time]() && g.chance(0.3):
			option = ",string"
		case w.Type == typ[int]() && g.chance(0.3):
			option = ",int32"
		case g.chance(0.3):
			option = ",omitempty"
		}
	}
	w.Tag = tag(key, option)
	return []reflect.StructField{o}, []reflect.StructField{w}
}

// doc makes a nested type of the old program, and one of azpatterns that may know only a part of its members.
func (g generator) doc(depth int) (old, new reflect.Type) {
	var o, w []reflect.StructField
	for i, n := range g.Perm(len(vocabulary))[:2+g.IntN(4)] {
		kind := pick(g.Rand, memberKinds...)
		f := reflect.StructField{Name: vocabulary[n], Type: kind}
		if g.chance(0.5) {
			f.Tag = reflect.StructTag(fmt.Sprintf("json:%q", strings.ToLower(f.Name)+pick(g.Rand, "", "", ",omitempty")))
		}
		as := f
		if depth > 0 && g.chance(0.35) {
			a, b := g.doc(depth - 1)
			of := pick(g.Rand, func(t reflect.Type) reflect.Type { return t }, reflect.PointerTo, reflect.SliceOf,
				func(t reflect.Type) reflect.Type { return reflect.MapOf(typ[string](), t) },
				func(t reflect.Type) reflect.Type { return reflect.SliceOf(reflect.PointerTo(t)) })
			f.Type, as.Type = of(a), of(b)
		}
		o = append(o, f)
		if i == 0 || g.chance(0.7) {
			w = append(w, as)
		}
	}
	if g.chance(0.2) {
		w = append(w, reflect.StructField{Name: "Later", Type: pick(g.Rand, typ[string](), typ[int](), typ[*int]())})
	}
	return reflect.StructOf(o), reflect.StructOf(w)
}
