package edm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/google/uuid"
)

// benchRow has 14 properties; a row of it takes 669 bytes in the service's reply.
type benchRow struct {
	FirstName  string
	LastName   string
	Email      string
	Department string
	City       string
	Title      string
	Level      int32
	Badge      int64
	Salary     float64
	Rating     float64
	Active     bool
	Hired      time.Time
	Device     uuid.UUID
	Photo      []byte
}

// benchPage returns the reply to a query for 1,000 rows, in the spacing of the service.
func benchPage(tb testing.TB) []byte {
	var b bytes.Buffer
	b.WriteString(`{"odata.metadata":"https://myaccount.table.core.windows.net/$metadata#Employees","value":[`)
	const rows = 1000
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		at := b.Len()
		fmt.Fprintf(&b, `{"odata.etag":"W/\"datetime'2026-03-05T10%%3A11%%3A12.%07dZ'\"","PartitionKey":"Sales","RowKey":"%08d","Timestamp":"2026-03-05T10:11:12.%07dZ",`, i, i, i)
		fmt.Fprintf(&b, `"FirstName":"Marguerite","LastName":"Fitzgerald-%03d","Email":"marguerite.fitzgerald-%03d@europe.contoso.com","Department":"Sales1","City":"Saint-Denis, Reunion",`, i, i)
		fmt.Fprintf(&b, `"Title":"Account manager, Western Europe","Level":%d,"Badge@odata.type":"Edm.Int64","Badge":"%d","Salary":%d.25,"Rating":4.5,"Active":true,`, i%10, 9007199254740000+int64(i), 50000+i)
		fmt.Fprintf(&b, `"Hired@odata.type":"Edm.DateTime","Hired":"2012-09-01T00:00:00Z","Device@odata.type":"Edm.Guid","Device":"c9da6455-213d-42c9-9a79-%012x",`, i)
		b.WriteString(`"Photo@odata.type":"Edm.Binary","Photo":"AAECAwQFBgcICQ=="}`)
		assert.Equal(assert.Now(tb), b.Len()-at, 669, "row", i, "has", "bytes, not 669")
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkDecodePage(b *testing.B) {
	page := benchPage(b)
	c := assert.Must(CodecFor(reflect.TypeFor[benchRow]()))(b)
	type item struct {
		value benchRow
		meta  Meta
	}
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
	}
	b.Run("rows-kept", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			items := make([]item, 0, 1000)
			err := c.DecodePage(page, func() (any, *Meta, *Unknown) {
				items = append(items, item{})
				it := &items[len(items)-1]
				return &it.value, &it.meta, nil
			})
			assert.NoError(b, err)
			assert.Equal(assert.Now(b), len(items), 1000)
		}
		perRow(b)
	})
	b.Run("one-by-one", func(b *testing.B) {
		b.ReportAllocs()
		var it item
		for b.Loop() {
			err := c.DecodePage(page, func() (any, *Meta, *Unknown) {
				it = item{}
				return &it.value, &it.meta, nil
			})
			assert.NoError(b, err)
		}
		perRow(b)
	})
	b.Run("narrow-type", func(b *testing.B) {
		c := codecOf[struct{ FirstName, Photo2 string }](b)
		b.ReportAllocs()
		var v struct{ FirstName, Photo2 string }
		var m Meta
		for b.Loop() {
			assert.NoError(b, c.DecodePage(page, func() (any, *Meta, *Unknown) { return &v, &m, nil }))
		}
		perRow(b)
	})
	b.Run("narrow-type-unknown-kept", func(b *testing.B) {
		c := codecOf[struct{ FirstName, Photo2 string }](b)
		b.ReportAllocs()
		var v struct{ FirstName, Photo2 string }
		var m Meta
		var unknown Unknown
		for b.Loop() {
			assert.NoError(b, c.DecodePage(page, func() (any, *Meta, *Unknown) { return &v, &m, &unknown }))
		}
		perRow(b)
	})
	b.Run("map", func(b *testing.B) {
		c := codecOf[map[string]any](b)
		b.ReportAllocs()
		var m Meta
		for b.Loop() {
			assert.NoError(b, c.DecodePage(page, func() (any, *Meta, *Unknown) { return new(map[string]any), &m, nil }))
		}
		perRow(b)
	})
	b.Run("validate-only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := scanner{data: page}
			var t token
			if !s.value(&t, 0) {
				b.Fatal(s.err)
			}
		}
		perRow(b)
	})
	b.Run("encoding-json-struct", func(b *testing.B) {
		type row struct {
			aztables.Entity
			ETag       string `json:"odata.etag"`
			FirstName  string
			LastName   string
			Email      string
			Department string
			City       string
			Title      string
			Level      int32
			Badge      int64 `json:",string"`
			Salary     float64
			Rating     float64
			Active     bool
			Hired      time.Time
			Device     uuid.UUID
			Photo      []byte
		}
		b.ReportAllocs()
		for b.Loop() {
			var out struct{ Value []row }
			assert.NoError(b, json.Unmarshal(page, &out))
			assert.Equal(assert.Now(b), len(out.Value), 1000)
		}
		perRow(b)
	})
}

func BenchmarkAppend(b *testing.B) {
	c, err := CodecFor(reflect.TypeFor[benchRow]())
	assert.NoError(b, err)
	row := benchRow{FirstName: "Marguerite", LastName: "Fitzgerald-007", Email: "marguerite.fitzgerald-007@europe.contoso.com", Department: "Sales",
		City: "Saint-Denis", Title: "Account manager, Western Europe", Level: 7, Badge: 9007199254740993, Salary: 50007.25, Rating: 4.5, Active: true,
		Hired: time.Date(2012, 9, 1, 0, 0, 0, 0, time.UTC), Device: uuid.MustParse("c9da6455-213d-42c9-9a79-000000000007"), Photo: []byte("0123456789")}
	e := Envelope{PartitionKey: "Sales", RowKey: "00000007"}
	b.Run("codec", func(b *testing.B) {
		b.ReportAllocs()
		var dst []byte
		for b.Loop() {
			if dst, err = c.Append(dst[:0], &row, e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			assert.NoError(b, assert.ErrorOf(json.Marshal(&row)))
		}
	})
}
