package edm

import (
	"reflect"
	"slices"
	"sync"
	"time"
)

// Meta are the keys of a row and what the service stores with it.
type Meta struct {
	PartitionKey, RowKey string
	ETag                 string // as in odata.etag, byte for byte
	Stamp                string // the property azp_stamp
	Timestamp            time.Time
}

// An Envelope is what a row contains in addition to the properties of its Go value.
type Envelope struct {
	PartitionKey, RowKey string
	Unknown              *Unknown // nil for none
	Stamp                string   // "" for none
	Reserved             bool     // maps may contain names that begin with azp_
	Only                 []string // the properties of the value to write, nil for all
}

// A Field is a property that a Go type has a field for. Keys, Timestamp and ETag are not
// properties.
type Field struct {
	Name string
	Type reflect.Type
	EDM  Type

	Index []int // as in reflect.Value.FieldByIndex
	Blob  bool  // may be stored in a blob instead
	JSON  bool  // the property is JSON text
}

// A Codec converts values of one Go type to rows of the Table service and back. It is safe
// for concurrent use.
//
// The type is a struct or a map[string]any. Each exported field of a struct is a property.
// Embedded structs are flattened as in encoding/json. Names and options come from the tag
// "table", or from the tag "json" if there is no tag "table". If the tag "table" has no name, the
// name and the options omitempty and omitzero of the tag "json" count too:
//
//	table:"Name"       the property's name
//	table:"-"          not a property
//	table:",omitempty" omitted if zero or empty
//	table:",omitzero"  omitted if zero, or if its IsZero method returns true
//	table:",json"      any value, as JSON in an Edm.String
//	table:",int32"     the property type; also int64, double, string, datetime, guid, binary
//	table:",blob"      a string, byte slice, or any other value as JSON; omitted if zero.
//	                   Package largeentity moves it to a blob if it is large
//	table:",bag"       a map[string]any for all properties that have no field
//	table:",inline"    an entity, whose fields are properties of the row, or a map; for this
//	                   library only
//	table:",reserved"  allows a name that begins with azp_, in a bag all such names except
//	                   azp_stamp; for this library, and for programs that copy its rows
//
// Go types have these property types:
//
//	string kinds                         Edm.String
//	bool kinds                           Edm.Boolean
//	int8, int16, int32, uint8, uint16    Edm.Int32
//	int, int64, uint32, time.Duration    Edm.Int64
//	uint, uint64, uintptr                Edm.Int64; over 1<<63-1 is an error
//	float32, float64                     Edm.Double, also when whole, NaN or infinite
//	time.Time                            Edm.DateTime, UTC, truncated to 100 ns, years 1601 to 9999
//	byte slices                          Edm.Binary
//	arrays of 16 bytes                   Edm.Guid
//	EDMInt64, EDMDateTime, EDMGUID, EDMBinary of aztables, likewise
//	text marshalers and unmarshalers     Edm.String
//	JSON marshalers and unmarshalers     as the string, number or boolean that MarshalJSON returns
//	json.RawMessage, table:",json"       Edm.String
//	pointers to these                    the same; nil is omitted
//
// When a row is read, a value of another property type than the field's is a
// *PropertyError, with these exceptions. Integer fields accept Edm.Int32 and Edm.Int64 if
// the value is in range. Float fields accept Edm.Int32. Fields of types that are text in
// JSON, except int64, accept Edm.String, because clients that do not annotate store them
// so; aztables.EDMInt64 does too. In a reply without metadata, an int64 field accepts a
// string of digits.
//
// Each of these can be declared as another type: integers as Edm.Int32, Edm.Int64, Edm.Double and
// Edm.String; strings as a type that is text in JSON; the others as Edm.String, in the form
// of encoding/json. A field with a declared type is always written as this type. A value that
// the type cannot represent is a *PropertyError.
//
// A property that was read with another type than the field's, and whose type is not declared,
// is written back with the type that it had, if the Unknown of the read is passed to Append.
// An integer that an Edm.Int32 cannot represent is then a *PropertyError, so that the
// property's type never changes unnoticed. A float64 that was stored as an Edm.Int32 becomes
// an Edm.Double if it is not whole.
//
// The zero time is outside the range of Edm.DateTime and therefore omitted. As an
// Edm.String it is written. A nil byte slice is omitted, as is a nil
// pointer, map or slice with the option json. The json option string stores what
// encoding/json writes, as an Edm.String, except that an Edm.Int64 remains an Edm.Int64.
//
// If a struct has a string field X and a string field tagged json:"X@odata.type", X is
// written as the type that the latter names. The same holds for a map with a text X and a
// key "X@odata.type".
//
// Values in maps, including those for unknown properties, are read as string, bool, int32,
// int64, float64, time.Time, []byte and [16]byte; for the Properties of an
// aztables.EDMEntity, as the EDM types of aztables. They may be written from these types,
// from int, and from every type that a field may have. Properties with names that begin
// with azp_ are not stored in maps but in Unknown.
//
// Fields called PartitionKey, RowKey (strings), Timestamp (time.Time, EDMDateTime or
// string), ETag or odata.etag (string kinds) are filled when a row is read and never
// written as properties. Fields for the other control members of an entity (odata.type,
// odata.id, odata.editLink, X@odata.type) are filled if the row has them.
type Codec struct {
	plan     *plan
	decoders sync.Pool
	rowSize  usualSize
}

var codecs sync.Map // codecKey to codecResult

type codecKey struct {
	typ  reflect.Type
	wide bool
}

type codecResult struct {
	codec *Codec
	err   error
}

// CodecFor returns the codec of the struct or map type t. The error is a *FieldError.
// Results are cached and never evicted.
func CodecFor(t reflect.Type) (*Codec, error) { return codecFor(codecKey{typ: t}) }

func codecFor(k codecKey) (*Codec, error) {
	if r, ok := codecs.Load(k); ok {
		r := r.(codecResult)
		return r.codec, r.err
	}
	p, err := newPlan(k.typ, k.wide)
	r := codecResult{err: err}
	if err == nil {
		r.codec = newCodec(p)
	}
	cached, _ := codecs.LoadOrStore(k, r)
	r = cached.(codecResult)
	return r.codec, r.err
}

func newCodec(p *plan) *Codec {
	c := &Codec{plan: p}
	c.decoders.New = func() any { return newDecoder(p) }
	return c
}

// Fields returns the properties that the type has fields for, in the order in which they
// are written.
func (c *Codec) Fields() []Field {
	fields := make([]Field, 0, len(c.plan.fields))
	for i := range c.plan.fields {
		f := &c.plan.fields[i]
		fields = append(fields, Field{Name: f.name, Type: f.typ, EDM: f.edm,
			Index: f.index, Blob: f.blob, JSON: f.shape == shapeJSON})
	}
	return fields
}

// Has reports whether *entity can have a property of that name: its type has a field for it,
// or its map has a value for it.
func (c *Codec) Has(entity any, name string) bool {
	if c.plan.fieldOf(name) != nil {
		return true
	}
	_, ok := c.plan.unknownIn(reflect.ValueOf(entity).Elem())[name]
	return ok && !isSystem(name)
}

// Open reports whether the type can store every property of a row, because it is a map or
// has a map for unknown properties. Then a read must not be restricted to Fields.
func (c *Codec) Open() bool { return c.plan.open() }

// Bare reports whether rows of the type can be read without metadata: its fields alone
// determine all types, and none of them takes an ETag or an annotation. timestamp reports
// whether a field takes the Timestamp.
func (c *Codec) Bare() (bare, timestamp bool) {
	bare = !c.Open()
	for i := range c.plan.system {
		s := &c.plan.system[i]
		timestamp = timestamp || s.slot == slotTimestamp
		bare = bare && !s.annotation && s.slot <= slotTimestamp
	}
	return bare, timestamp
}

// HasKeys reports whether the type has the fields PartitionKey and RowKey. It returns false
// for maps.
func (c *Codec) HasKeys() bool {
	var found [2]bool
	for i := range c.plan.system {
		if s := &c.plan.system[i]; s.slot <= slotRowKey && !s.annotation {
			found[s.slot] = true
		}
	}
	return found[slotPartitionKey] && found[slotRowKey]
}

// Keys returns the values of the fields PartitionKey and RowKey of *entity. ok is false if
// the type, or the map, does not have both, or if they are in an embedded struct whose
// pointer is nil.
func (c *Codec) Keys(entity any) (pk, rk string, ok bool) {
	v := reflect.ValueOf(entity).Elem()
	p := c.plan
	if p.isMap {
		m := mapOf(v)
		pk, hasPK := m[partitionKeyName].(string)
		rk, hasRK := m[rowKeyName].(string)
		return pk, rk, hasPK && hasRK
	}
	var found [2]bool
	for i := range p.system {
		s := &p.system[i]
		if s.slot > slotRowKey {
			continue
		}
		f, ok := s.field.get(v)
		if !ok {
			continue
		}
		found[s.slot] = true
		if s.slot == slotPartitionKey {
			pk = f.String()
		} else {
			rk = f.String()
		}
	}
	return pk, rk, found[0] && found[1]
}

// SetKeys sets the fields PartitionKey and RowKey of *entity, if the type has them. In a
// map it only changes existing entries.
func (c *Codec) SetKeys(entity any, pk, rk string) {
	v := reflect.ValueOf(entity).Elem()
	if c.plan.isMap {
		m := mapOf(v)
		for name, text := range map[string]string{partitionKeyName: pk, rowKeyName: rk} {
			if _, ok := m[name]; ok {
				m[name] = text
			}
		}
		return
	}
	for i := range c.plan.system {
		s := &c.plan.system[i]
		switch {
		case s.annotation:
		case s.slot == slotPartitionKey:
			s.field.settable(v).SetString(pk)
		case s.slot == slotRowKey:
			s.field.settable(v).SetString(rk)
		}
	}
}

// Keep removes all properties of *entity but the named ones: fields are set to zero, entries
// of maps are deleted. Keys, Timestamp and ETag stay. *entity must be freshly decoded, so that
// it shares no map with another value.
func (c *Codec) Keep(entity any, names []string) {
	v := reflect.ValueOf(entity).Elem()
	for i := range c.plan.fields {
		f := &c.plan.fields[i]
		if slices.Contains(names, f.name) {
			continue
		}
		whole := *f
		whole.ptr = false // the pointer itself, not what it points to
		if fv, ok := whole.get(v); ok {
			fv.SetZero()
		}
	}
	properties := c.plan.unknownIn(v)
	for _, name := range propertyNames(properties) {
		if !slices.Contains(names, name) {
			delete(properties, name)
		}
	}
}

// Keep returns the properties of u whose names keep returns true for.
func (u *Unknown) Keep(keep func(name string) bool) Unknown {
	var raw []byte
	u.each(func(p unknownProperty) {
		if keep(string(p.name)) {
			raw = append(raw, p.member...)
		}
	})
	return Unknown{raw: raw, types: u.types}
}
