package edm

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/sealed"
	"pgregory.net/rapid"
)

// ring has one key for each id.
type ring []string

func ringKey(id string) []byte { return []byte((id + strings.Repeat("k", 32))[:32]) }

func (r ring) Current() (string, []byte) { return r[0], ringKey(r[0]) }

func (r ring) Key(id string) ([]byte, bool) {
	for _, known := range r {
		if known == id {
			return ringKey(id), true
		}
	}
	return nil, false
}

// allSealed returns a codec that encrypts every field of a type.
func allSealed(t testing.TB, typ reflect.Type, keys ring) *Codec {
	p, err := newPlan(typ, false)
	assert.NoError(assert.Now(t), err)
	p.members, p.encrypted = nil, "all"
	for i := range p.fields {
		f := &p.fields[i]
		f.encrypted = true
		f.sealed = f.sealedField()
	}
	p.addMembers()
	c := newCodec(p)
	c.box = sealed.New(keys, "people")
	return c
}

func TestAnEncryptedFieldOfEveryTypeReturnsWithItsValueAndShowsNothingOfIt(t *testing.T) {
	c := allSealed(t, reflect.TypeFor[everything](), ring{"k1"})
	open, err := CodecFor(reflect.TypeFor[everything]())
	assert.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		in := drawEverything(r)
		e := Envelope{PartitionKey: "p", RowKey: rapid.String().Draw(r, "rk")}
		body := assert.Must(c.Append(nil, &in, e))(r)
		var out, want everything
		var m Meta
		var unknown Unknown
		assert.NoError(r, c.DecodeAppended(body, &out, &m, &unknown))
		plain := assert.Must(open.Append(nil, &in, e))(r)
		assert.NoError(r, open.DecodeEntity(plain, &want, &m, nil))
		got := assert.Must(open.Append(nil, &out, e))(r)
		assert.Equal(r, string(got), string(plain))
		e.Unknown = &unknown
		assert.Equal(r, string(assert.Must(c.Append(nil, &out, e))(r)), string(body), "written back")
	})
}

// secretRow has an encrypted field of JSON, and one of text.
type secretRow struct {
	PartitionKey, RowKey string
	Name                 string
	Email                string `table:",encrypted"`
	Address              struct {
		City string
	} `table:",json,encrypted"`
}

func secretCodec(t testing.TB, table string, keys ...string) *Codec {
	return assert.Must(SealedCodecFor(reflect.TypeFor[secretRow](), sealed.New(ring(keys), table)))(t)
}

func TestATypeWithEncryptedFieldsHasNoCodecWithoutKeys(t *testing.T) {
	for _, codecFor := range []func(reflect.Type) (*Codec, error){
		CodecFor, func(typ reflect.Type) (*Codec, error) { return SplitCodecFor(typ, nil) }, func(typ reflect.Type) (*Codec, error) { return SealedCodecFor(typ, nil) },
	} {
		_, err := codecFor(reflect.TypeFor[secretRow]())
		assert.Failed(t, err)
	}
	for _, bad := range []any{
		struct {
			PartitionKey string `table:",encrypted"`
		}{},
		struct {
			X string `table:",blob,encrypted"`
		}{},
		struct {
			X map[string]any `table:",bag,encrypted"`
		}{},
		struct {
			X secretRow `table:",inline,encrypted"`
		}{},
	} {
		_, err := SealedCodecFor(reflect.TypeOf(bad), sealed.New(ring{"k"}, "t"))
		assert.Failed(t, err, fmt.Sprintf("%T", bad))
	}
}

// Every move of a stored value is refused: to another row, partition, property, table or key, and every change of a byte.
func TestAMovedValueIsRefused(t *testing.T) {
	row := secretRow{PartitionKey: "p", RowKey: "r", Email: "ada@example.com"}
	row.Address.City = "ada@example.com"
	c := secretCodec(t, "people", "k1")
	body := string(assert.Must(c.Append(nil, &row, Envelope{PartitionKey: "p", RowKey: "r"}))(t))
	if strings.Contains(body, "ada") {
		t.Fatal(body)
	}
	read := func(c *Codec, body string) error {
		var out secretRow
		var m Meta
		return c.DecodeEntity([]byte(body), &out, &m, nil)
	}
	assert.NoError(t, read(c, body))
	swapped := strings.NewReplacer(`"Email`, `"Address`, `"Address`, `"Email`).Replace(body)
	cases := map[string]struct {
		c    *Codec
		body string
		want error
	}{
		"row":           {c, strings.Replace(body, `"RowKey":"r"`, `"RowKey":"s"`, 1), azerr.ErrSealed},
		"partition":     {c, strings.Replace(body, `"PartitionKey":"p"`, `"PartitionKey":"q"`, 1), azerr.ErrSealed},
		"key boundary":  {c, strings.Replace(body, `"PartitionKey":"p","RowKey":"r"`, `"PartitionKey":"pr","RowKey":""`, 1), azerr.ErrSealed},
		"no row key":    {c, strings.Replace(body, `,"RowKey":"r"`, ``, 1), azerr.ErrSealed},
		"property":      {c, swapped, azerr.ErrSealed},
		"table":         {secretCodec(t, "other", "k1"), body, azerr.ErrSealed},
		"unknown key":   {secretCodec(t, "people", "k2"), body, azerr.ErrNoKey},
		"plain text":    {c, `{"PartitionKey":"p","RowKey":"r","Email":"ada@example.com"}`, azerr.ErrSealed},
		"another value": {c, `{"PartitionKey":"p","RowKey":"r","Email":12}`, azerr.ErrSealed},
	}
	for name, tt := range cases {
		err := read(tt.c, tt.body)
		assert.WantError(t, err, tt.want, name)
		assert.WantHidden(t, err, "ada", "kkkk")
	}
	other := assert.Must(SealedCodecFor(reflect.TypeFor[secretRow](), sealed.New(otherKey{}, "people")))(t)
	assert.WantError(t, read(other, body), azerr.ErrSealed, "another key of the same id")
}

type otherKey struct{}

func (otherKey) Current() (string, []byte)    { return "k1", ringKey("other") }
func (otherKey) Key(id string) ([]byte, bool) { return ringKey("other"), true }

// What the type does not know stays in encrypted JSON, also after a write with another key, and does not go to a copy that
// replaced the value.
func TestEncryptedJSONKeepsTheMembersThatTheTypeLacks(t *testing.T) {
	type wide struct {
		Address struct{ City, Zip string } `table:",json,encrypted"`
	}
	var w wide
	w.Address.City, w.Address.Zip = "Bern", "3000"
	keys := sealed.New(ring{"k1"}, "people")
	e := Envelope{PartitionKey: "p", RowKey: "r"}
	wc := assert.Must(SealedCodecFor(reflect.TypeFor[wide](), keys))(t)
	body := assert.Must(wc.Append(nil, &w, e))(t)
	c := secretCodec(t, "people", "k2", "k1")
	var row secretRow
	var m Meta
	var unknown Unknown
	assert.NoError(t, c.DecodeAppended(body, &row, &m, &unknown))
	same := row
	row.Address.City = "Ulm"
	e.Unknown = &unknown
	changed := assert.Must(c.Append(nil, &row, e))(t)
	after, _ := c.After(&row, &unknown, changed, false)
	row.Address.City = "Köln"
	e.Unknown = &after
	again := assert.Must(c.Append(nil, &row, e))(t)
	with := c.InCopy(&unknown, &same, &same)
	replaced := c.InCopy(&unknown, &same, &row)
	at := Envelope{PartitionKey: "q", RowKey: "r"}
	for _, tt := range []struct {
		body      []byte
		unknown   *Unknown
		of        *secretRow
		city, zip string
	}{
		{changed, nil, nil, "Ulm", "3000"},
		{again, nil, nil, "Köln", "3000"},
		{nil, &with, &same, "Bern", "3000"},
		{nil, &replaced, &row, "Köln", ""},
	} {
		if tt.of != nil {
			at.Unknown = tt.unknown
			tt.body = assert.Must(c.Append(nil, tt.of, at))(t)
		}
		var got wide
		all := assert.Must(SealedCodecFor(reflect.TypeFor[wide](), sealed.New(ring{"k1", "k2"}, "people")))(t)
		assert.NoError(t, all.DecodeEntity(tt.body, &got, &m, nil))
		assert.Equal(t, got.Address.City, tt.city)
		assert.Equal(t, got.Address.Zip, tt.zip, tt.city)
	}
}

func FuzzStoredValue(f *testing.F) {
	c := secretCodec(f, "people", "k1")
	row := secretRow{Email: "ada@example.com"}
	at := sealed.Place{Partition: "p", Row: "r", Property: "Email"}
	f.Add(assert.Must(c.box.Seal(at, byte(String), []byte(row.Email)))(f))
	for _, kind := range []Type{0, Int32, Boolean, Double, Binary, Guid, edmUnknown} {
		f.Add(assert.Must(c.box.Seal(at, byte(kind), []byte("x")))(f))
	}
	f.Add([]byte{})
	f.Add([]byte{1, 255})
	f.Fuzz(func(t *testing.T, stored []byte) {
		body := assert.Must(AppendProperties(nil, Properties{"Email": stored}, Envelope{PartitionKey: "p", RowKey: "r"}))(t)
		var out secretRow
		var m Meta
		if err := c.DecodeEntity(body, &out, &m, &Unknown{}); err != nil {
			return
		}
		again := assert.Must(c.Append(nil, &secretRow{Email: out.Email}, Envelope{PartitionKey: "p", RowKey: "r", Only: []string{"Email"}}))(t)
		if !bytes.Equal(again, body) {
			t.Errorf("another value opens: %q", stored)
		}
	})
}

// A table with keys writes and reads rows of a type without encrypted fields with the allocations of a table without keys.
func TestEncryptionAllocatesNothingForOtherTypes(t *testing.T) {
	type open struct {
		PartitionKey, RowKey, Name string
		Age                        int64
	}
	row, e := open{"p", "r", "Ada", 36}, Envelope{PartitionKey: "p", RowKey: "r"}
	allocs := func(c *Codec) (written, read float64) {
		body := assert.Must(c.Append(nil, &row, e))(t)
		var out open
		var m Meta
		written = testing.AllocsPerRun(200, func() { _, _ = c.Append(body[:0], &row, e) })
		read = testing.AllocsPerRun(200, func() { _ = c.DecodeEntity(body, &out, &m, nil) })
		return written, read
	}
	plainW, plainR := allocs(assert.Must(CodecFor(reflect.TypeFor[open]()))(t))
	w, r := allocs(assert.Must(SealedCodecFor(reflect.TypeFor[open](), sealed.New(ring{"k1"}, "people")))(t))
	assert.Equal(t, w, plainW, "written")
	assert.Equal(t, r, plainR, "read")
	assert.Equal(t, plainW, 0)
}

func BenchmarkEncryptedProperty(b *testing.B) {
	c := secretCodec(b, "people", "key-2026")
	row := secretRow{Name: "Ada", Email: "ada.lovelace@example.com"}
	e := Envelope{PartitionKey: "customers", RowKey: "00001234", Only: []string{"Email"}}
	body := assert.Must(c.Append(nil, &row, e))(b)
	plain := assert.Must(c.Comparing().Append(nil, &row, e))(b)
	for _, bm := range []struct {
		name string
		c    *Codec
		body []byte
	}{{"encrypted", c, body}, {"plain", c.Comparing(), plain}} {
		b.Run("write/"+bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = bm.c.Append(nil, &row, e)
			}
		})
		b.Run("read/"+bm.name, func(b *testing.B) {
			b.ReportAllocs()
			var out secretRow
			var m Meta
			var u Unknown
			for b.Loop() {
				_ = bm.c.DecodeEntity(bm.body, &out, &m, &u)
			}
		})
	}
}

func TestComparingAValueOpensItInItsOwnPlaceOnly(t *testing.T) {
	c := secretCodec(t, "people", "k1")
	at := sealed.Place{Partition: "p", Row: "r", Property: "Email"}
	stored := assert.Must(c.box.Seal(at, byte(String), []byte("ada")))(t)
	assert.DeepEqual(t, c.Opened(at, stored), any("ada"))
	assert.DeepEqual(t, c.Opened(at, "ada"), any("ada"))
	at.Row = "s"
	assert.DeepEqual(t, c.Opened(at, stored), any(stored))
	assert.Equal(t, c.Same("Email", "ada", "ada"), true)
	assert.Equal(t, c.Same("Email", "ada", stored), false)
}
