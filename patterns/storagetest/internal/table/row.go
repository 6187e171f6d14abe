package table

import (
	"slices"
	"strconv"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// property is a property of an entity.
type property struct {
	name  string
	value filter.Value
}

// row is one stored entity. It is immutable: a write replaces it. It takes little memory,
// so that tests can have millions of rows: two allocations, one for the texts.
type row struct {
	text            string // the two keys, and the values
	shape           *shape
	stamp           int64  // in ticks; unique in the account, and increasing
	keyAt, valuesAt uint32 // in the text
}

// newRow returns a row for t. The caller holds the lock of t.
func (t *table) newRow(partition, key string, stamp int64, props []property) *row {
	if t.shapes == nil {
		t.shapes = shapes{}
	}
	keyAt, valuesAt := len(partition), len(partition)+len(key)
	b := append(append(make([]byte, 0, valuesAt+24*len(props)), partition...), key...)
	for i := range props {
		b = appendPacked(b, props[i].value)
	}
	return &row{string(b), t.shapes.of(props), stamp, uint32(keyAt), uint32(valuesAt)}
}

func (r *row) partition() string { return r.text[:r.keyAt] }
func (r *row) key() string       { return r.text[r.keyAt:r.valuesAt] }
func (r *row) props() packed     { return packed{r.shape, r.text[r.valuesAt:]} }

// etag returns the ETag, which contains the Timestamp to the last digit.
func (r *row) etag() string { return string(r.appendETag(make([]byte, 0, 48))) }

func (r *row) appendETag(b []byte) []byte {
	b = append(b, `W/"datetime'`...)
	b = appendEscaped(b, appendTime(make([]byte, 0, len(timeLayout)), r.stamp))
	return append(b, `'"`...)
}

// Value returns a property for a filter.
func (r *row) Value(name string) (filter.Value, bool) {
	switch name {
	case "PartitionKey":
		return filter.Value{Text: r.partition()}, true
	case "RowKey":
		return filter.Value{Text: r.key()}, true
	case "Timestamp":
		return filter.Value{Type: filter.DateTime, Int: r.stamp}, true
	}
	if p, ok := r.props().find(name); ok {
		return p.value(), true
	}
	return filter.Value{}, false
}

// merged returns the properties of old, replaced or extended by those of change.
func merged(old packed, change []property) []property {
	var props []property
	for p := range old.all() {
		props = append(props, property{p.name(), p.value()})
	}
	kept := len(props)
	for _, c := range change {
		if i := slices.IndexFunc(props[:kept], func(p property) bool { return p.name == c.name }); i >= 0 {
			props[i] = c
		} else {
			props = append(props, c)
		}
	}
	return props
}

// checkSize refuses an entity of more than 252 properties or 1 MiB. The size is computed by
// the formula that the team of the service published.
// https://learn.microsoft.com/archive/blogs/avkashchauhan/how-the-size-of-an-entity-is-caclulated-in-windows-azure-table-storage
func checkSize(partition, key string, props []property) *reply.Error {
	if len(props) > maxProperties {
		return errTooManyProps.Because("an entity has at most 252 properties of its own, also after a merge")
	}
	size := 4 + 2*(request.UTF16Len(partition)+request.UTF16Len(key))
	for i := range props {
		p := &props[i]
		size += 8 + 2*request.UTF16Len(p.name)
		switch v := p.value; v.Type {
		case filter.String:
			size += 2*request.UTF16Len(v.Text) + 4
		case filter.Binary:
			size += len(v.Text) + 4
		case filter.Int32:
			size += 4
		case filter.Boolean:
			size++
		case filter.GUID:
			size += 16
		default:
			size += 8
		}
	}
	if size > maxEntity {
		return errEntityTooLarge.Because("an entity has at most 1 MiB, names included: this one has " + strconv.Itoa(size) + " bytes")
	}
	return nil
}

// level is how much metadata a reply contains.
type level uint8

const (
	minimalMetadata level = iota
	noMetadata
	fullMetadata
)

// form is how the rows of a reply are written.
type form struct {
	level       level
	names       []string // of the members, nil for all of them
	table, base string   // parts of the address of a row
}

// append appends the row as an object.
func (r *row) append(b []byte, f *form) []byte {
	at := appendTime(make([]byte, 0, len(timeLayout)), r.stamp)
	if f.names != nil {
		return r.appendSelected(b, f, at)
	}
	b = append(b, '{')
	b = r.appendHead(b, f, at)
	b = append(b, `"PartitionKey":`...)
	b = appendString(b, r.partition())
	b = append(b, `,"RowKey":`...)
	b = appendString(b, r.key())
	b = append(b, ',')
	b = appendStamp(b, f.level, at)
	b = r.props().append(b, f.level)
	return append(b, '}')
}

// appendHead appends the metadata of the row, which was changed at the time at.
func (r *row) appendHead(b []byte, f *form, at []byte) []byte {
	if f.level == noMetadata {
		return b
	}
	if f.level == fullMetadata {
		address := addressOf(f.table, r.partition(), r.key())
		b = append(b, `"odata.type":`...)
		b = appendString(b, accountOf(f.base)+"."+f.table)
		b = append(b, `,"odata.id":`...)
		b = appendString(b, f.base+"/"+address)
		b = append(b, `,"odata.editLink":`...)
		b = appendString(b, address)
		b = append(b, ',')
	}
	b = append(b, `"odata.etag":"W/\"datetime'`...)
	b = appendEscaped(b, at)
	return append(b, `'\"",`...)
}

func appendStamp(b []byte, l level, at []byte) []byte {
	if l == fullMetadata {
		b = append(b, `"Timestamp@odata.type":"Edm.DateTime",`...)
	}
	b = append(b, `"Timestamp":"`...)
	b = append(b, at...)
	return append(b, '"')
}

// appendSelected appends the row with only the named members. A member that the row does
// not have is null.
func (r *row) appendSelected(b []byte, f *form, at []byte) []byte {
	open := len(b)
	b = append(b, '{')
	b = r.appendHead(b, f, at)
	b = b[:len(b)-1] // a comma, or the brace
	for _, name := range f.names {
		switch name {
		case "PartitionKey":
			b = append(b, `,"PartitionKey":`...)
			b = appendString(b, r.partition())
		case "RowKey":
			b = append(b, `,"RowKey":`...)
			b = appendString(b, r.key())
		case "Timestamp":
			b = append(b, ',')
			b = appendStamp(b, f.level, at)
		default:
			if p, ok := r.props().find(name); ok {
				b = p.append(b, f.level)
				continue
			}
			b = append(b, ',')
			b = appendString(b, name)
			b = append(b, `:null`...)
		}
	}
	b[open] = '{' // instead of a comma, if the metadata does not begin with it
	return append(b, '}')
}
