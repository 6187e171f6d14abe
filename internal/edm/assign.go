package edm

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// assign fills the struct v and m from toks.
func (d *decoder) assign(v reflect.Value, m *Meta) error {
	d.buffer.Grow(d.textBytes)
	p := d.plan
	d.unusual = d.unusual[:0]
	d.opened = d.opened[:0]
	toks := d.toks[firstFieldSlot:][:len(p.fields)]
	for i := range toks {
		t, f := &toks[i], &p.fields[i]
		if t.kind == tokNone || t.kind == tokNull {
			d.unusual = append(d.unusual, i)
			continue
		}
		var fv reflect.Value
		if f.flat && !f.ptr {
			fv = v.Field(f.first)
		} else {
			fv = f.settable(v)
		}
		if f.sealed != nil && d.box != nil {
			if err := d.setSealed(i, t, fv); err != nil {
				return err
			}
			continue
		}
		if !d.set(f, t, fv) {
			return d.mismatch(f, t)
		}
		if l := &p.looks[i]; l.usual == String && t.edm == 0 && t.end > t.start { // mostly
			continue
		} else if !d.plain(l, t) {
			d.unusual = append(d.unusual, i)
		}
	}
	if err := d.assignMeta(m); err != nil {
		return err
	}
	for i := range p.system {
		if err := d.setSystem(&p.system[i], v, m); err != nil {
			return err
		}
	}
	return nil
}

// assignMeta fills m from the slots that every type has.
func (d *decoder) assignMeta(m *Meta) (err error) {
	if d.inPartition() {
		m.PartitionKey = *d.partition
	} else if m.PartitionKey, err = d.textOf(partitionKeyName, &d.toks[slotPartitionKey]); err != nil {
		return err
	}
	if m.RowKey, err = d.textOf(rowKeyName, &d.toks[slotRowKey]); err != nil {
		return err
	}
	if m.ETag, err = d.textOf(etagName, &d.toks[slotETag]); err != nil {
		return err
	}
	if d.toks[slotETag].kind != tokNone {
		if err := azerr.CheckVersion(m.ETag); err != nil {
			return err
		}
	}
	if m.Stamp, err = d.textOf(stampName, &d.toks[slotStamp]); err != nil {
		return err
	}
	var at time.Time
	if t := &d.toks[slotTimestamp]; t.kind != tokNone && t.kind != tokNull {
		var ok bool
		if t.kind == tokString {
			at, ok = parseDateTime(d.unescaped(t))
		}
		if !ok {
			return &types.PropertyError{Property: timestampName, Want: DateTime.String(), Got: t.describe(d.data[t.start:t.end])}
		}
	}
	m.Timestamp = at
	return nil
}

// inPartition reports whether the row does not contain its partition key, and the caller has
// passed it.
func (d *decoder) inPartition() bool {
	return d.partition != nil && d.toks[slotPartitionKey].kind == tokNone
}

// setSystem fills a field for a key, a control member or an annotation.
func (d *decoder) setSystem(s *systemField, v reflect.Value, m *Meta) error {
	t := &d.toks[s.slot]
	if s.annotation {
		if t.edm != 0 && t.edm != edmUnknown {
			s.field.settable(v).SetString(t.edm.String())
		}
		return nil
	}
	if (t.kind == tokNone || t.kind == tokNull) && (s.slot != slotPartitionKey || !d.inPartition()) {
		return nil
	}
	v = s.field.settable(v)
	switch s.slot {
	case slotPartitionKey:
		v.SetString(m.PartitionKey)
	case slotRowKey:
		v.SetString(m.RowKey)
	case slotETag:
		v.SetString(m.ETag)
	case slotTimestamp:
		switch s.field.shape {
		case shapeTime:
			*v.Addr().Interface().(*time.Time) = m.Timestamp
		case shapeEDMTime:
			*v.Addr().Interface().(*aztables.EDMDateTime) = aztables.EDMDateTime(m.Timestamp)
		default:
			text, err := d.textOf(s.field.name, t)
			if err != nil {
				return err
			}
			v.SetString(text)
		}
	default:
		text, err := d.textOf(s.field.name, t)
		if err != nil {
			return err
		}
		v.SetString(text)
	}
	return nil
}

// bufferText appends a string to the buffer and returns its text there.
func (d *decoder) bufferText(t *token) (string, bool) {
	raw := d.data[t.start:t.end]
	if t.escaped {
		text, ok := unescape(d.scratch[:0], raw)
		d.scratch = text
		if !ok {
			return "", false
		}
		raw = text
	}
	from := d.buffer.Len()
	d.buffer.Write(raw)
	return d.buffer.String()[from:], true
}

// textOf returns the text of a value that must be a string, "" if there is no value.
func (d *decoder) textOf(name string, t *token) (string, error) {
	if t.kind == tokNone || t.kind == tokNull {
		return "", nil
	}
	if t.kind == tokString && (t.edm == 0 || t.edm == String) {
		if text, ok := d.bufferText(t); ok {
			return text, nil
		}
	}
	return "", &types.PropertyError{Property: name, Want: String.String(), Got: t.describe(d.data[t.start:t.end])}
}

// set stores a value in its field. It returns false if the field cannot store it.
func (d *decoder) set(f *field, t *token, v reflect.Value) bool {
	switch f.shape {
	case shapeString:
		if t.kind != tokString || t.edm != 0 && t.edm != String && t.edm != f.edm && f.annotationAt == 0 {
			return false
		}
		text, ok := d.bufferText(t)
		if ok {
			v.SetString(text)
		}
		return ok
	case shapeInt:
		i, ok := d.integer(f, t)
		if !ok || !fitsInt(i, f.bits) {
			return false
		}
		v.SetInt(i)
		return true
	case shapeUint:
		i, ok := d.integer(f, t)
		if !ok || !fitsUint(i, f.bits) {
			return false
		}
		v.SetUint(uint64(i))
		return true
	case shapeFloat:
		x, ok := d.float(f, t)
		v.SetFloat(x)
		return ok
	case shapeBool:
		b, ok := d.boolean(f, t)
		v.SetBool(b)
		return ok
	}
	switch f.shape {
	case shapeScalar:
		return d.setScalar(t, v)
	case shapeLiteral:
		return d.setLiteral(t, v)
	}
	if t.kind != tokString || t.edm != 0 && t.edm != String && t.edm != f.native {
		return false
	}
	return d.setText(f, t, v)
}

// setText reads the types that are strings in JSON. All of them accept an Edm.String,
// because clients that do not annotate store them so.
func (d *decoder) setText(f *field, t *token, v reflect.Value) bool {
	text := d.unescaped(t)
	if t.escaped && !pairedSurrogates(d.data[t.start:t.end]) {
		return false
	}
	switch f.shape {
	case shapeTime:
		// Set is faster than Addr, which has to look up the type of the pointer.
		var ok bool
		d.time, ok = parseDateTime(text)
		if ok && text[len(text)-1] != 'Z' && t.edm != DateTime {
			d.time = inZone(d.time, text)
		}
		v.Set(d.timeVal)
		return ok
	case shapeEDMTime:
		at, ok := parseDateTime(text)
		*v.Addr().Interface().(*aztables.EDMDateTime) = aztables.EDMDateTime(at)
		return ok
	case shapeBytes:
		b, ok := decodeBase64(nil, text)
		v.SetBytes(b)
		return ok
	case shapeGUID:
		return parseGUID((*[16]byte)(v.Bytes()), text)
	case shapeEDMGUID:
		var g [16]byte
		if !parseGUID(&g, text) {
			return false
		}
		s, _ := d.bufferText(t)
		v.SetString(s)
		return true
	case shapeText:
		// The method may retain the text, so it must not be part of the body.
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(append([]byte(nil), text...)) == nil
	case shapeJSON:
		return json.Unmarshal(text, v.Addr().Interface()) == nil
	}
	return false
}

func (d *decoder) boolean(f *field, t *token) (b, ok bool) {
	if f.quoted && t.kind == tokString && (t.edm == 0 || t.edm == String) {
		text := string(d.unescaped(t))
		return text == "true", text == "true" || text == "false"
	}
	return t.kind == tokTrue, (t.kind == tokTrue || t.kind == tokFalse) && (t.edm == 0 || t.edm == Boolean)
}

// integer reads a whole number for an integer field.
func (d *decoder) integer(f *field, t *token) (int64, bool) {
	switch t.kind {
	case tokNumber:
		if f.edm == Double && t.wireType(d.data[t.start:t.end]) == Double {
			return wholeNumber(d.data[t.start:t.end])
		}
		if !t.integer || t.edm != 0 && t.edm != Int32 && t.edm != Int64 {
			return 0, false
		}
	case tokString:
		switch t.edm {
		case Int64:
		case String:
			if !f.acceptsText {
				return 0, false
			}
		case 0:
			if !f.acceptsText && !d.untyped() {
				return 0, false
			}
		default:
			return 0, false
		}
		return parseInt(d.unescaped(t))
	default:
		return 0, false
	}
	return parseInt(d.data[t.start:t.end])
}

// float reads a number for a float field: an Edm.Double, or an Edm.Int32, as which clients
// that do not annotate store whole floats.
func (d *decoder) float(f *field, t *token) (float64, bool) {
	switch t.edm {
	case 0, Double, Int32:
	case String:
		if !f.quoted {
			return 0, false
		}
	default:
		return 0, false
	}
	raw := d.data[t.start:t.end]
	if t.kind == tokNumber {
		if t.edm == String || t.edm == Int32 && !t.integer {
			return 0, false
		}
		return parseFloat(raw, f.bits)
	}
	if t.kind != tokString {
		return 0, false
	}
	if t.edm == Double {
		return t.double(d.unescaped(t))
	}
	if f.quoted {
		var s scanner
		var inner token
		s.data = d.unescaped(t)
		if s.value(&inner, 0) && inner.kind == tokNumber && s.atEnd() {
			return parseFloat(s.data[inner.start:inner.end], f.bits)
		}
		return 0, false
	}
	if t.edm == 0 && d.untyped() {
		return t.double(raw)
	}
	return 0, false
}

// double reads an Edm.Double from a number or from the name of a special value.
func (t *token) double(raw []byte) (float64, bool) {
	if t.kind == tokNumber {
		return parseFloat(raw, 64)
	}
	switch string(raw) {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "INF":
		return math.Inf(1), true
	case "-Infinity", "-INF":
		return math.Inf(-1), true
	}
	return 0, false
}

// decodeBase64 appends the bytes of the base64 text to dst. The result is never nil.
func decodeBase64(dst, text []byte) ([]byte, bool) {
	if dst == nil {
		dst = make([]byte, 0, base64.StdEncoding.DecodedLen(len(text)))
	}
	dst, err := base64.StdEncoding.AppendDecode(dst, text)
	return dst, err == nil
}

// setScalar reads a value with UnmarshalJSON.
func (d *decoder) setScalar(t *token, v reflect.Value) bool {
	start, end := t.start, t.end
	if t.kind == tokString {
		start, end = start-1, end+1
	}
	// The method may retain the text, so it must not be part of the body.
	text := append([]byte(nil), d.data[start:end]...)
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text) == nil
}
