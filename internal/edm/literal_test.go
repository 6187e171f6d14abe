package edm

import (
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// literals are fields that encoding/json writes as numbers and booleans, and that can be text too.
type literals struct {
	PartitionKey, RowKey string
	Other                string
	N                    json.Number
	Big                  *big.Int
	Dec                  decimal
	Yes                  yes
	T                    *big.Int    `table:",string"`
	NT                   json.Number `table:",string"`
	NQ                   json.Number `json:",string"`
	O                    json.Number `table:",omitempty"`
}

// decimal is a decimal number of any length.
type decimal struct{ text string }

func (d decimal) MarshalJSON() ([]byte, error)     { return d.MarshalText() }
func (d *decimal) UnmarshalJSON(text []byte) error { return d.UnmarshalText(text) }
func (d decimal) MarshalText() ([]byte, error) {
	if d.text == "" {
		return []byte("0"), nil
	}
	return []byte(d.text), nil
}

func (d *decimal) UnmarshalText(text []byte) error {
	d.text = string(text)
	if !isNumber(text) {
		return errors.New("no number")
	}
	return nil
}

// yes is a boolean in JSON and a word in text.
type yes bool

func (y yes) MarshalJSON() ([]byte, error) { return json.Marshal(bool(y)) }
func (y *yes) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*bool)(y))
}

func (y yes) MarshalText() ([]byte, error) {
	if y {
		return []byte("yes"), nil
	}
	return []byte("no"), nil
}

func (y *yes) UnmarshalText(text []byte) error {
	*y = string(text) == "yes"
	return nil
}

func TestANumberThatCanBeTextIsWrittenAsEncodingJSONWritesIt(t *testing.T) {
	c := codecOf[literals](t)
	for _, test := range []struct {
		value literals
		name  string
		want  string
	}{
		{literals{N: "12"}, "N", `,"N":12`},
		{literals{}, "N", `,"N":0`},
		{literals{N: "-2147483648"}, "N", `,"N":-2147483648`},
		{literals{N: "2147483648"}, "N", `,"N@odata.type":"Edm.Int64","N":"2147483648"`},
		{literals{N: "9223372036854775808"}, "N", `,"N@odata.type":"Edm.Double","N":9223372036854776000.0`},
		{literals{N: "1.50"}, "N", `,"N@odata.type":"Edm.Double","N":1.5`},
		{literals{N: "1e3"}, "N", `,"N@odata.type":"Edm.Double","N":1000.0`},
		{literals{NT: "1.50"}, "NT", `,"NT":"1.50"`},
		{literals{NQ: "1.50"}, "NQ", `,"NQ":"1.50"`},
		{literals{}, "O", ""},
		{literals{O: "0"}, "O", `,"O":0`},
		{literals{Big: big.NewInt(12)}, "Big", `,"Big":12`},
		{literals{Big: big.NewInt(1 << 31)}, "Big", `,"Big":"2147483648"`},
		{literals{Big: bigInt("123456789012345678901234567890")}, "Big", `,"Big":"123456789012345678901234567890"`},
		{literals{T: big.NewInt(12)}, "T", `,"T":"12"`},
		{literals{Dec: decimal{"1.50"}}, "Dec", `,"Dec@odata.type":"Edm.Double","Dec":1.5`},
		{literals{Dec: decimal{"0.1234567890123456789"}}, "Dec", `,"Dec":"0.1234567890123456789"`},
		{literals{Dec: decimal{"1e-400"}}, "Dec", `,"Dec":"1e-400"`},
		{literals{Yes: true}, "Yes", `,"Yes":true`},
	} {
		row, err := c.Append(nil, &test.value, Envelope{PartitionKey: "p", RowKey: "r"})
		if got := memberOf(string(row), test.name); err != nil || got != test.want {
			t.Errorf("%+v is written as %s, %v, want %s", test.value, got, err, test.want)
		}
	}
	for _, invalid := range []json.Number{"abc", " 1", "1.", "0x1", "NaN", "1e999"} {
		_, err := c.Append(nil, &literals{N: invalid}, Envelope{PartitionKey: "p", RowKey: "r"})
		if e := new(types.PropertyError); !errors.As(err, &e) || e.Property != "N" {
			t.Errorf("%q: %v", invalid, err)
		}
	}
}

func TestANumberThatCanBeTextIsReadFromWhatOtherProgramsStore(t *testing.T) {
	c := codecOf[literals](t)
	for _, test := range []struct{ name, member, changed string }{
		{"N", `,"N":12`, `,"N":77`},
		{"N", `,"N@odata.type":"Edm.Int64","N":"12"`, `,"N@odata.type":"Edm.Int64","N":"77"`},
		{"N", `,"N@odata.type":"Edm.Double","N":12.0`, `,"N@odata.type":"Edm.Double","N":77.0`},
		{"N", `,"N":"12"`, `,"N":"77"`},
		{"N", `,"N@odata.type":"Edm.Double","N":1.5E+3`, `,"N@odata.type":"Edm.Double","N":77.0`},
		{"N", `,"N@odata.type":"Edm.Double","N":-0.0`, `,"N@odata.type":"Edm.Double","N":77.0`},
		{"Big", `,"Big":12`, `,"Big":77`},
		{"Big", `,"Big@odata.type":"Edm.Int64","Big":"12"`, `,"Big@odata.type":"Edm.Int64","Big":"77"`},
		{"Big", `,"Big@odata.type":"Edm.Double","Big":12.0`, `,"Big@odata.type":"Edm.Double","Big":77.0`},
		{"Big", `,"Big":"12"`, `,"Big":"77"`},
		{"Big", `,"Big":"0012"`, `,"Big":"77"`},
		{"Dec", `,"Dec@odata.type":"Edm.Double","Dec":0.12345678901234568`, `,"Dec@odata.type":"Edm.Double","Dec":77.0`},
		{"Yes", `,"Yes":true`, `,"Yes":false`},
		{"Yes", `,"Yes":"yes"`, `,"Yes":"no"`},
		{"NQ", `,"NQ":"12"`, `,"NQ":"77"`},
		{"NQ", `,"NQ":12`, `,"NQ":77`},
	} {
		body := `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r"` + test.member + `}`
		var v literals
		var m Meta
		var u Unknown
		if err := c.DecodeEntity([]byte(body), &v, &m, &u); err != nil {
			t.Errorf("%s: %v", test.member, err)
			continue
		}
		e := Envelope{PartitionKey: "p", RowKey: "r", Unknown: &u}
		v.Other = "changed"
		row, err := c.Append(nil, &v, e)
		if got := memberOf(string(row), test.name); err != nil || got != test.member {
			t.Errorf("%s is written back as %s, %v", test.member, got, err)
		}
		v.N, v.NQ, v.Big, v.Dec, v.Yes = "77", "77", big.NewInt(77), decimal{"77"}, false
		row, err = c.Append(nil, &v, e)
		if got := memberOf(string(row), test.name); err != nil || got != test.changed {
			t.Errorf("%s is changed to %s, %v, want %s", test.member, got, err, test.changed)
		}
	}
	for _, member := range []string{`,"N":"abc"`, `,"N":" 1"`, `,"N":true`, `,"N@odata.type":"Edm.Double","N":"NaN"`,
		`,"N@odata.type":"Edm.Binary","N":"1234"`, `,"Big":1.5`, `,"Big":"x"`, `,"Big@odata.type":"Edm.Int64","Big":"x"`} {
		var v literals
		err := c.DecodeEntity([]byte(`{"odata.metadata":"x","PartitionKey":"p","RowKey":"r"`+member+`}`), &v, nil, nil)
		if e := new(types.PropertyError); !errors.As(err, &e) {
			t.Errorf("%s: %v", member, err)
		}
	}
}

func TestAnIntegerThatItsStoredTypeCannotRepresentIsAnError(t *testing.T) {
	c := codecOf[literals](t)
	for _, member := range []string{`,"Big":12`, `,"Big@odata.type":"Edm.Int64","Big":"12"`, `,"Big@odata.type":"Edm.Double","Big":12.0`} {
		var v literals
		var u Unknown
		assert.NoError(t, c.DecodeEntity([]byte(`{"odata.metadata":"x","PartitionKey":"p","RowKey":"r"`+member+`}`), &v, nil, &u))
		v.Big = bigInt("123456789012345678901234567890")
		_, err := c.Append(nil, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &u})
		if e := new(types.PropertyError); !errors.As(err, &e) || e.Property != "Big" {
			t.Errorf("%s: %v", member, err)
		}
	}
}

func TestANumberThatAStoredInt64CannotRepresentIsAnError(t *testing.T) {
	c := codecOf[literals](t)
	var v literals
	var u Unknown
	if err := c.DecodeEntity([]byte(`{"odata.metadata":"x","PartitionKey":"p","RowKey":"r","N@odata.type":"Edm.Int64","N":"12"}`), &v, nil, &u); err != nil {
		t.Fatal(err)
	}
	for _, n := range []json.Number{"1.5", "9223372036854775808", "1e300"} {
		v.N = n
		_, err := c.Append(nil, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &u})
		if e := new(types.PropertyError); !errors.As(err, &e) || e.Property != "N" {
			t.Errorf("%s: %v", n, err)
		}
	}
}
