package edm

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
)

type kindA struct {
	Kind, Name string
	Rest       map[string]any `table:",bag"`
}

type kindB struct {
	Kind string
	N    int64
	At   time.Time
	Data []byte
}

// byKind chooses a type by the property Kind.
type byKind struct{ value any }

func (c *byKind) Discriminator() string { return "Kind" }

func (c *byKind) Choose(_, text []byte, isText bool) any {
	c.value = nil
	switch {
	case !isText:
	case string(text) == "a":
		c.value = new(kindA)
	case string(text) == "b":
		c.value = new(kindB)
	case string(text) == "m":
		c.value = new(map[string]any)
	}
	return c.value
}

func (c *byKind) CodecOf(t reflect.Type) (*Codec, error) { return CodecFor(t) }

// decodedRow is what a page has for one row.
type decodedRow struct {
	dst     any
	meta    Meta
	unknown Unknown
}

func (r *decodedRow) String() string {
	dst := r.dst
	if c, ok := dst.(*byKind); ok {
		dst = c.value
	}
	switch v := dst.(type) {
	case *kindA:
		dst = *v
	case *kindB:
		dst = *v
	case *map[string]any:
		dst = *v
	}
	var n notes
	if r.unknown.notes != nil {
		n = *r.unknown.notes
	}
	return fmt.Sprintf("%+v %+v %s %v %s", dst, r.meta, r.unknown.raw, n.types, n.kept)
}

// pageOf decodes a page. A row that does not fit its type is empty.
func pageOf(c *Codec, body []byte, dst func() any) (rows []*decodedRow, err error) {
	err = c.DecodeMixedPage(body, func() (any, *Meta, *Unknown) {
		r := &decodedRow{dst: dst()}
		rows = append(rows, r)
		return r.dst, &r.meta, &r.unknown
	}, func(error) error {
		*rows[len(rows)-1] = decodedRow{}
		return nil
	})
	return rows, err
}

// FuzzChooser compares a page that is decoded row by row as the types that a Chooser finds with
// the same page decoded as each type. Rows share no memory with the body, nor do changes of one
// row change another.
func FuzzChooser(f *testing.F) {
	row := func(rest string) string {
		return `{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r",` + rest + `}`
	}
	a, b := row(`"Kind":"a","Name":"\u0041nn","More":12,"Other":"text"`), row(`"Kind":"b","N@odata.type":"Edm.Int64","N":"5","X":1.5,"More":"y"`)
	m := row(`"N@odata.type":"Edm.Int64","N":"5","Kind":"\u006d","At@odata.type":"Edm.DateTime","At":"2026-01-01T00:00:00Z"`)
	f.Add([]byte(`{"odata.metadata":"m","value":[` + a + `,` + b + `,` + m + `,` + m + `,` + b + `,` + row(`"Kind":7`) + `,` + a + `]}`))
	f.Add([]byte(`{"value":[` + row(`"Kind":"b","N":"text","Data":"AAA="`) + `,` + m + `]}`))
	f.Add([]byte(`{"odata.metadata":"m","value":[` + fullRow + `,` + a + `]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		chosen, err := pageOf(codecOf[struct{}](t), bytes.Clone(body), func() any { return new(byKind) })
		for _, one := range []struct {
			kind  string
			codec *Codec
			dst   func() any
		}{
			{"*edm.kindA", codecOf[kindA](t), func() any { return new(kindA) }},
			{"*edm.kindB", codecOf[kindB](t), func() any { return new(kindB) }},
			{"*map[string]interface {}", codecOf[map[string]any](t), func() any { return new(map[string]any) }},
		} {
			buffer := bytes.Clone(body)
			rows, oneErr := pageOf(one.codec, buffer, one.dst)
			assert.Equal(assert.Now(t), err == nil, oneErr == nil, err, "as", one.kind, oneErr, body)
			for i := range chosen {
				c, ok := chosen[i].dst.(*byKind)
				if err != nil || !ok || fmt.Sprintf("%T", c.value) != one.kind {
					continue
				}
				assert.Equal(assert.Now(t), chosen[i].String(), rows[i].String(), "row", i, body)
			}
			var before []string
			for _, r := range rows {
				before = append(before, r.String())
			}
			for i := range buffer {
				buffer[i] = '#' // the next reply is read into the buffer
			}
			_, _ = pageOf(one.codec, bytes.Clone(body), one.dst)
			for _, r := range rows {
				_ = append(r.unknown.raw, "#########"...) // must not reach the next row
			}
			for i, r := range rows {
				assert.Equal(assert.Now(t), r.String(), before[i], "row", i, "was", "and is", r, body)
			}
		}
	})
}
