package edm

import (
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
