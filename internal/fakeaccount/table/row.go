package table

import (
	"sync/atomic"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/reply"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/request"
)

// row is one stored entity. It is immutable: a write replaces it.
type row struct {
	partition, key string
	stamp          time.Time // unique in the account, and increasing
	etag           string
	props          []property

	// json caches the row as an object with minimal metadata.
	json atomic.Pointer[[]byte]
}

func newRow(partition, key string, stamp time.Time, props []property) *row {
	return &row{partition: partition, key: key, stamp: stamp, etag: etagOf(stamp), props: props}
}

func etagOf(stamp time.Time) string {
	b := make([]byte, 0, 48)
	b = append(b, `W/"datetime'`...)
	b = stamp.AppendFormat(b, "2006-01-02T15")
	b = append(b, "%3A"...) // an escaped colon; in a layout of package time the 3 would mean the hour
	b = stamp.AppendFormat(b, "04")
	b = append(b, "%3A"...)
	b = stamp.AppendFormat(b, "05.0000000Z")
	return string(append(b, `'"`...))
}

// Lookup returns a property for a filter.
func (r *row) Lookup(name string) (any, bool) {
	switch name {
	case "PartitionKey":
		return r.partition, true
	case "RowKey":
		return r.key, true
	case "Timestamp":
		return r.stamp, true
	}
	if p := find(r.props, name); p != nil {
		return p.value, true
	}
	return nil, false
}

func find(props []property, name string) *property {
	for i := range props {
		if props[i].name == name {
			return &props[i]
		}
	}
	return nil
}

// merged returns the properties of old, replaced or extended by those of change.
func merged(old, change []property) []property {
	props := make([]property, len(old), len(old)+len(change))
	copy(props, old)
	for _, c := range change {
		if p := find(props[:len(old)], c.name); p != nil {
			*p = c
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
		return errTooManyProps
	}
	size := 4 + 2*(request.UTF16Len(partition)+request.UTF16Len(key))
	for i := range props {
		p := &props[i]
		size += 8 + 2*request.UTF16Len(p.name)
		switch v := p.value.(type) {
		case string:
			size += 2*request.UTF16Len(v) + 4
		case []byte:
			size += len(v) + 4
		case int32:
			size += 4
		case bool:
			size++
		case [16]byte:
			size += 16
		default:
			size += 8
		}
	}
	if size > maxEntity {
		return errEntityTooLarge
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

// minimal returns the row as an object with minimal metadata.
func (r *row) minimal() []byte {
	if b := r.json.Load(); b != nil {
		return *b
	}
	b := append(make([]byte, 0, 256+32*len(r.props)), '{')
	b = r.appendMembers(b, minimalMetadata, "", "")
	b = append(b, '}')
	r.json.Store(&b)
	return b
}

// append appends the row as an object; table and base are parts of its address.
func (r *row) append(b []byte, l level, table, base string) []byte {
	if l == minimalMetadata {
		return append(b, r.minimal()...)
	}
	b = append(b, '{')
	b = r.appendMembers(b, l, table, base)
	return append(b, '}')
}

func (r *row) appendMembers(b []byte, l level, table, base string) []byte {
	b = r.appendHead(b, l, table, base)
	b = append(b, `"PartitionKey":`...)
	b = appendString(b, r.partition)
	b = append(b, `,"RowKey":`...)
	b = appendString(b, r.key)
	b = append(b, ',')
	b = r.appendStamp(b, l)
	for i := range r.props {
		b = append(b, ',')
		b = r.props[i].append(b, l)
	}
	return b
}

func (r *row) appendHead(b []byte, l level, table, base string) []byte {
	if l == noMetadata {
		return b
	}
	if l == fullMetadata {
		address := table + "(PartitionKey='" + escapeKey(r.partition) + "',RowKey='" + escapeKey(r.key) + "')"
		b = append(b, `"odata.type":`...)
		b = appendString(b, accountOf(base)+"."+table)
		b = append(b, `,"odata.id":`...)
		b = appendString(b, base+"/"+address)
		b = append(b, `,"odata.editLink":`...)
		b = appendString(b, address)
		b = append(b, ',')
	}
	b = append(b, `"odata.etag":`...)
	b = appendString(b, r.etag)
	return append(b, ',')
}

func (r *row) appendStamp(b []byte, l level) []byte {
	if l == fullMetadata {
		b = append(b, `"Timestamp@odata.type":"Edm.DateTime",`...)
	}
	b = append(b, `"Timestamp":"`...)
	b = r.stamp.AppendFormat(b, timeLayout)
	return append(b, '"')
}

func (p *property) append(b []byte, l level) []byte {
	if p.annotated(l) {
		b = append(b, '"')
		b = append(b, p.name...)
		b = append(b, `@odata.type":"`...)
		b = append(b, edmNames[p.typ]...)
		b = append(b, `",`...)
	}
	b = append(b, '"')
	b = append(b, p.name...)
	b = append(b, `":`...)
	return p.appendValue(b)
}

// appendSelected appends the row with only the named members. A member that the row does
// not have is null.
func (r *row) appendSelected(b []byte, l level, table, base string, names []string) []byte {
	b = append(b, '{')
	from := len(b)
	b = r.appendHead(b, l, table, base)
	if len(b) > from {
		b = b[:len(b)-1]
	}
	for _, name := range names {
		if len(b) > from {
			b = append(b, ',')
		}
		switch name {
		case "PartitionKey":
			b = append(b, `"PartitionKey":`...)
			b = appendString(b, r.partition)
		case "RowKey":
			b = append(b, `"RowKey":`...)
			b = appendString(b, r.key)
		case "Timestamp":
			b = r.appendStamp(b, l)
		default:
			if p := find(r.props, name); p != nil {
				b = p.append(b, l)
				continue
			}
			b = appendString(b, name)
			b = append(b, `:null`...)
		}
	}
	return append(b, '}')
}
