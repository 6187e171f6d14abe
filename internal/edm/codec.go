package edm

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/sealed"
)

// Meta are the keys of a row and what the service stores with it.
type Meta struct {
	PartitionKey, RowKey string
	ETag                 string // as in odata.etag, byte for byte
	Stamp                string // the property azp_stamp
	Timestamp            time.Time

	// Sent, if not nil, receives the text of the row.
	Sent *[]byte
}

// An Envelope is what a row contains in addition to the properties of its Go value.
type Envelope struct {
	PartitionKey, RowKey string
	Unknown              *Unknown // nil for none
	Stamp                string   // "" for none
	Reserved             bool     // maps may contain names that begin with azp_
	Only                 []string // the properties of the value to write, nil for all
	Named                bool     // Only was asked for by name: what the row lacks is written even if it is zero
}

// A Field is a property that a Go type has a field for. Keys, Timestamp and ETag are not
// properties.
type Field struct {
	Name string
	Type reflect.Type
	EDM  Type // 0 if the value decides

	Index []int // as in reflect.Value.FieldByIndex
	Blob  bool  // may be stored in a blob instead
	JSON  bool  // the property is JSON text

	Encrypted bool // no filter can find it
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
//	table:",encrypted" stored encrypted, as an Edm.Binary: see [SealedCodecFor]
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
//	time.Time                            Edm.DateTime, UTC, truncated to 100 ns, years 1601 to 9999;
//	                                     with as many decimals as it needs
//	byte slices                          Edm.Binary
//	arrays of 16 bytes                   Edm.Guid
//	EDMInt64, EDMDateTime, EDMGUID, EDMBinary of aztables, likewise
//	json.Number                          Edm.Int32 if it is whole and fits, Edm.Int64 if it then
//	                                     fits, otherwise Edm.Double
//	text marshalers and unmarshalers     Edm.String
//	JSON marshalers and unmarshalers     as the string, number or boolean that MarshalJSON returns
//	both, such as big.Int                Edm.Int32, Edm.Double or Edm.Boolean if MarshalJSON returns
//	                                     a boolean or a number and they represent it exactly, a
//	                                     whole one as an Edm.Int32; otherwise Edm.String
//	json.RawMessage, table:",json"       Edm.String
//	pointers to these                    the same; nil is omitted
//
// When a row is read, a value of another property type than the field's is a
// *types.PropertyError, with these exceptions. Integer fields accept Edm.Int32 and Edm.Int64 if
// the value is in range. Float fields accept Edm.Int32. Fields of types that are text in
// JSON, except int64, accept Edm.String, because clients that do not annotate store them
// so; aztables.EDMInt64 does too. A json.Number, and a type with both kinds of methods, accepts
// every type of number, and an Edm.String that it can be read from. In a reply without metadata, an int64 field accepts a
// string of digits.
//
// Each of these can be declared as another type: integers as Edm.Int32, Edm.Int64, Edm.Double and
// Edm.String; strings as a type that is text in JSON, but not a json.Number; the others as Edm.String, in the form
// of encoding/json. A field with a declared type is always written as this type. A value that
// the type cannot represent is a *types.PropertyError.
//
// If the Unknown of the read is passed to Append, what has not changed since is written as it was
// read:
//
//   - A property that was read with another type than the field's, and whose type is not declared,
//     is written with the type that it had, also if its value has changed. An integer that an
//     Edm.Int32 cannot represent is then a *types.PropertyError, so that the property's type never changes
//     unnoticed. So is a json.Number that an Edm.Int64 cannot represent. A float64 or json.Number that
//     was stored as an Edm.Int32 becomes an Edm.Double if it is not whole, and a json.Number an
//     Edm.Int64 if it needs 64 bits.
//   - A value keeps its text if encoding what was decoded from it results in the same text as
//     encoding the present value: the digits of a time and its offset, the spelling of a number, of
//     a GUID, of base64 and of JSON, the text of a text unmarshaler, an empty value that the field
//     would omit. A declared type that differs from the stored one has precedence.
//   - A property that the row lacks is not added while the field has the zero value, unless
//     Envelope.Named is set.
//   - A field with the option json that has changed keeps the members that its type lacks,
//     and the text of those that have not changed, at every depth: see package jsonmerge. If the
//     field is omitted now, the members that its type lacks stay.
//
// An Edm.String with an offset is read into a time.Time with that offset, and a new time is written
// there with the offset of its own zone; every other time is read and written in UTC.
//
// The zero time is outside the range of Edm.DateTime and therefore omitted. As an
// Edm.String it is written. A nil byte slice is omitted, as is a nil
// pointer, map or slice with the option json. The json option string stores what
// encoding/json writes, as an Edm.String, except that an Edm.Int64 remains an Edm.Int64.
//
// If a struct has a string field X and a string field tagged json:"X@odata.type", X is written as
// the type that the latter names. The same holds for a map with a value X and a text with the key
// "X@odata.type": a text X is that of the named type, a number X must be one that the type can
// represent, and a value of another type is a *types.PropertyError. Such a key without X has no effect.
//
// Values in maps, including those for unknown properties, are read as string, bool, int32, int64,
// float64, time.Time, []byte and [16]byte; for the Properties of an aztables.EDMEntity, as the EDM
// types of aztables. They may be written from these types, from int, json.Number, and every type
// that a field may have. A json.Number is an Edm.Int32 or Edm.Int64 if it is whole, without a
// decimal point and an exponent, otherwise an Edm.Double. If the Unknown of the read is passed to
// Append, a value as JSON is decoded into has the type of the stored property if that can represent
// it: a json.Number, float64 or int that of a number; a string, but not in an aztables.EDMEntity,
// that of an Edm.Int64, Edm.DateTime, Edm.Guid or Edm.Binary. Properties with names that begin with
// azp_ are not stored in maps but in Unknown.
//
// Fields called PartitionKey, RowKey (strings), Timestamp (time.Time, EDMDateTime or
// string), ETag (azcore.ETag) or odata.etag (string kinds) are filled when a row is read and never
// written as properties. A field ETag of another type, or a tag with that name, is for a property of that name. Fields for the other control members of an entity (odata.type,
// odata.id, odata.editLink, X@odata.type) are filled if the row has them.
type Codec struct {
	plan     *plan
	box      *sealed.Box // of encrypted fields; nil for none
	plain    *Codec      // the same without box; nil if there is none
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
//
// A type with encrypted fields has a codec only with the keys of its table: see [SealedCodecFor].
func CodecFor(t reflect.Type) (*Codec, error) { return openCodec(codecKey{typ: t}) }

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
	c.decoders.New = func() any {
		d := newDecoder(p)
		d.box = c.box
		return d
	}
	return c
}

// Fields returns the properties that the type has fields for, in the order in which they
// are written.
func (c *Codec) Fields() []Field {
	fields := make([]Field, 0, len(c.plan.fields))
	for i := range c.plan.fields {
		f := &c.plan.fields[i]
		field := Field{Name: f.name, Type: f.typ, EDM: f.edm, Index: f.index, Blob: f.blob, JSON: f.shape == shapeJSON, Encrypted: f.encrypted}
		if f.shape == shapeLiteral && f.edm == Double {
			field.EDM = 0
		}
		if f.encrypted {
			field.EDM = Binary
		}
		fields = append(fields, field)
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

// HasField reports whether the type has a field for the property.
func (c *Codec) HasField(name string) bool { return c.plan.fieldOf(name) != nil }

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
func (c *Codec) HasKeys() bool { return !slices.Contains(c.plan.keys[:], nil) }

// Keys returns the values of the fields PartitionKey and RowKey of *entity. ok is false if
// the type, or the map, does not have both, or if they are in an embedded struct whose
// pointer is nil.
func (c *Codec) Keys(entity any) (pk, rk string, ok bool) {
	v := reflect.ValueOf(entity).Elem()
	if c.plan.isMap {
		m := mapOf(v)
		pk, hasPK := m[partitionKeyName].(string)
		rk, hasRK := m[rowKeyName].(string)
		return pk, rk, hasPK && hasRK
	}
	var texts [2]string
	found := 0
	for slot, f := range c.plan.keys {
		if f == nil {
			continue
		}
		if fv, ok := f.get(v); ok {
			texts[slot] = fv.String()
			found++
		}
	}
	return texts[slotPartitionKey], texts[slotRowKey], found == len(texts)
}

// SetKeys sets the fields PartitionKey and RowKey of *entity, if the type has them. In a
// map it only changes existing entries.
func (c *Codec) SetKeys(entity any, pk, rk string) {
	v := reflect.ValueOf(entity).Elem()
	var m map[string]any
	if c.plan.isMap {
		m = mapOf(v)
	}
	for slot, text := range [...]string{pk, rk} {
		name := systemNames[slot]
		if f := c.plan.keys[slot]; f != nil {
			f.settable(v).SetString(text)
		} else if _, ok := m[name]; ok {
			m[name] = text
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
func (u *Unknown) Keep(keep func(name []byte) bool) Unknown {
	var raw []byte
	u.each(func(p unknownProperty) {
		if keep(p.name) {
			raw = append(raw, p.member...)
		}
	})
	return Unknown{raw: raw, notes: u.notes}
}
