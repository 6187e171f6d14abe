package edm

import (
	"reflect"
	"sync"
	"time"
)

// Meta is what the service keeps about a row beside its own properties.
type Meta struct {
	PartitionKey, RowKey string
	ETag                 string // as in odata.etag, byte for byte
	Stamp                string // the property azp_stamp
	Timestamp            time.Time
}

// An Envelope is what a written row holds beside the properties of its Go value.
type Envelope struct {
	PartitionKey, RowKey string
	Unknown              *Unknown // nil = none
	Stamp                string   // "" = none
	Reserved             bool     // a bag may hold names that begin with azp_
	Only                 []string // nil = all; else the fields to write
}

// A Field is a property that a Go type maps. Keys, Timestamp and ETag are not among
// them.
type Field struct {
	Name string
	Type reflect.Type
	EDM  Type

	Index []int // as in reflect.Value.FieldByIndex
	Blob  bool  // may stand in a blob instead
	JSON  bool  // the property is JSON text
}

// A Codec turns values of one Go type into rows of the Table service and back. It
// is safe for concurrent use.
//
// The type is a struct or a map[string]any. A struct is mapped field by field:
// exported fields only, embedded structs flattened as encoding/json does, names and
// options from the tag "table", or from the tag "json" where there is no "table":
//
//	table:"Name"       the property's name
//	table:"-"          not a property
//	table:",omitempty" left out when zero or empty
//	table:",omitzero"  left out when zero, or when its IsZero method says so
//	table:",json"      any value, as JSON in an Edm.String
//	table:",blob"      a string, byte slice, or any other value as JSON; left out when zero.
//	                   Package largeentity moves it to a blob when it is large
//	table:",bag"       a map[string]any for all properties that have no field
//	table:",reserved"  allows a name that begins with azp_; for this library itself
//
// Go types have these property types:
//
//	string kinds                         Edm.String
//	bool kinds                           Edm.Boolean
//	int8, int16, int32, uint8, uint16    Edm.Int32
//	int, int64, uint32, time.Duration    Edm.Int64
//	uint, uint64, uintptr                Edm.Int64, an error over 1<<63-1
//	float32, float64                     Edm.Double, also when whole, NaN or infinite
//	time.Time                            Edm.DateTime, UTC, cut to 100 ns, years 1601 to 9999
//	byte slices                          Edm.Binary
//	arrays of 16 bytes                   Edm.Guid
//	EDMInt64, EDMDateTime, EDMGUID, EDMBinary of aztables, likewise
//	text marshalers and unmarshalers     Edm.String
//	json.RawMessage, table:",json"       Edm.String
//	pointers to these                    the same; nil is left out
//
// Reading is as exact: a value of another property type than the field's is a
// *PropertyError. These alone are taken beside it: whole numbers of either width for
// integer fields, if the value fits; Edm.Int32 for floats; Edm.String for all that
// is text in JSON, except int64, since clients that do not annotate store it so; and
// for aztables.EDMInt64. In an answer without metadata, digits are an int64.
//
// The zero time is outside the range of Edm.DateTime and therefore an error unless
// the field says omitempty or omitzero. A nil byte slice is left out, as is a nil
// pointer, map or slice under ",json". The json option string keeps what
// encoding/json writes: an Edm.String, except that an Edm.Int64 stays one.
//
// A string field with another one for its annotation, tagged json:"X@odata.type", is
// written as the type that this one names, as is a text in a map beside a key
// "X@odata.type".
//
// Maps and bags give string, bool, int32, int64, float64, time.Time, []byte and
// [16]byte, and take these, int, and every type that a field may have. The
// Properties of an aztables.EDMEntity give the EDM types of aztables instead.
// Names that begin with azp_ stay out of them, in Unknown.
//
// Fields called PartitionKey, RowKey (strings), Timestamp (time.Time, EDMDateTime
// or string), ETag or odata.etag (string kinds) are filled when a row is read and
// never written as properties. Fields for the other control members of an entity
// (odata.type, odata.id, odata.editLink, X@odata.type) are filled where present.
type Codec struct {
	plan     *plan
	decoders sync.Pool
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

// CodecFor returns the codec of the struct or map type t. The error is a
// *FieldError. Results are kept for ever.
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
	kept, _ := codecs.LoadOrStore(k, r)
	r = kept.(codecResult)
	return r.codec, r.err
}

func newCodec(p *plan) *Codec {
	c := &Codec{plan: p}
	c.decoders.New = func() any { return newDecoder(p) }
	return c
}

// Fields lists the properties that the type maps, in the order they are written.
func (c *Codec) Fields() []Field {
	fields := make([]Field, 0, len(c.plan.fields))
	for i := range c.plan.fields {
		f := &c.plan.fields[i]
		fields = append(fields, Field{Name: f.name, Type: f.typ, EDM: f.edm,
			Index: f.index, Blob: f.blob, JSON: f.shape == shapeJSON})
	}
	return fields
}

// Open answers whether the type takes every property of a row, in a bag: then
// Fields are not all that a read has to ask for.
func (c *Codec) Open() bool { return c.plan.open() }

// HasKeys answers whether the type has the fields PartitionKey and RowKey. A map has
// none: its entries may come and go.
func (c *Codec) HasKeys() bool {
	var found [2]bool
	for i := range c.plan.system {
		if s := &c.plan.system[i]; s.slot <= slotRowKey && !s.note {
			found[s.slot] = true
		}
	}
	return found[slotPartitionKey] && found[slotRowKey]
}

// Keys returns the values of the fields PartitionKey and RowKey of *entity. It is
// false when the type, or the map, does not have both, and when they are in an
// embedded struct that a nil pointer leads to.
func (c *Codec) Keys(entity any) (pk, rk string, ok bool) {
	v := reflect.ValueOf(entity).Elem()
	p := c.plan
	if p.isMap {
		m := bagOf(v)
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

// SetKeys fills the fields PartitionKey and RowKey of *entity, where the type has
// them, and the entries of those names in a map that has them.
func (c *Codec) SetKeys(entity any, pk, rk string) {
	v := reflect.ValueOf(entity).Elem()
	if c.plan.isMap {
		m := bagOf(v)
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
		case s.note:
		case s.slot == slotPartitionKey:
			s.field.reach(v).SetString(pk)
		case s.slot == slotRowKey:
			s.field.reach(v).SetString(rk)
		}
	}
}
