package edm

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

// The types of FuzzUntouched. Each can have a text property Name.
type (
	plainRow struct {
		Name string
		A, B any `table:",json"`
		S    string
		F    float64
		I    int
		T    time.Time
	}
	omittingRow struct {
		Name string
		S    string         `table:",omitempty"`
		I    int32          `table:",omitzero"`
		F    float32        `table:",omitempty"`
		T    time.Time      `table:",omitzero"`
		J    map[string]int `table:",json,omitempty"`
		B    *bool
		Big  *big.Int
	}
	annotatedRow struct {
		Name  string
		S     string
		SType string `json:"S@odata.type"`
		U     uint16
		G     aztables.EDMGUID
		T     aztables.EDMDateTime
		I     aztables.EDMInt64
		Bin   aztables.EDMBinary
	}
	Base struct {
		S string
		I *int64
	}
	embeddedRow struct {
		Name string
		*Base
		keptChild
		J struct {
			A    int
			Deep []struct{ X, Y float64 }
			Map  map[string]json.RawMessage
		} `table:",json"`
		More map[string]any `table:",bag"`
	}
)

var untouchedTypes = []any{keptFields{}, plainRow{}, omittingRow{}, annotatedRow{}, embeddedRow{}, everything{}, kinds{}, map[string]any(nil),
	aztables.EDMEntity{}, struct {
		Name string
		More map[string]any `table:",bag"`
	}{}}

// stored is a property as the service returns it.
type stored struct {
	edm  Type
	text string
}

// propertiesOf returns the properties of a row.
func propertiesOf(t *testing.T, body string) map[string]stored {
	t.Helper()
	var none struct{}
	var all Unknown
	assert.NoError(t, codecOf[struct{}](t).DecodeEntity([]byte(body), &none, nil, &all), body)
	found := map[string]stored{}
	all.each(func(p unknownProperty) {
		text := p.value
		if p.tok.escaped {
			text, _ = unescape(nil, text)
		}
		is := stored{p.tok.wireType(p.value), string(text)}
		if is.edm == Double && p.tok.integer {
			is.text += ".0" // as the service sends it; an Int64 field accepts the number without it
		}
		found[string(p.name)] = is
	})
	return found
}

// FuzzUntouched reads rows as several types and writes them back: without a change, and with
// another Name. All other properties must have their type and text. A property that the row lacks must
// not be added.
func FuzzUntouched(f *testing.F) {
	for i, members := range keptMembers {
		f.Add(`"Name":"old",`+members, byte(i))
		f.Add(members, byte(i+3))
	}
	f.Add(strings.Trim(fullRow[strings.Index(fullRow, `"Name"`):], "}"), byte(6))
	for kind := range untouchedTypes {
		f.Add(`"Name":"old","S":"","I":0,"F":3,"T":"2026-03-01T00:00:00+02:00","J":"{\"a\":1,\"b\" : 2}","B":false,"X":1.50`, byte(kind))
	}
	f.Fuzz(func(t *testing.T, members string, kind byte) {
		body := `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r",` + members + `}`
		typ := reflect.TypeOf(untouchedTypes[int(kind)%len(untouchedTypes)])
		c := assert.Must(CodecFor(typ))(t)
		v := reflect.New(typ)
		var m Meta
		var unknown Unknown
		if c.DecodeEntity([]byte(body), v.Interface(), &m, &unknown) != nil {
			return
		}
		if m.Stamp != "" || bytes.ContainsAny([]byte(members), "@") && strings.Contains(members, "Key@") {
			return
		}
		before := propertiesOf(t, body)
		for name, p := range before {
			if checkName(name) != "" || p.edm == edmUnknown || p.edm == Int64 && strings.HasPrefix(p.text, "-0") {
				return
			}
			if strings.Contains(p.text, "\\u") || IsReserved(name) {
				return
			}
		}
		check := func(changed string) {
			out, err := c.Append(nil, v.Interface(), Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown})
			if err != nil {
				assert.WantError(assert.Now(t), err, azerr.ErrTooLarge, body)
				return
			}
			after := propertiesOf(t, string(out))
			for name, p := range before {
				if f := c.plan.fieldOf(name); f != nil && f.declared && f.edm != p.edm {
					continue // the field requires its type
				}
				if name != changed && after[name] != p {
					t.Fatalf("%s as %v:\n%s was %v %q and is %v %q", body, typ, name, p.edm, p.text, after[name].edm, after[name].text)
				}
			}
			for name, p := range after {
				if _, ok := before[name]; !ok && name != changed {
					t.Fatalf("%s as %v: %s is added, %v %q", body, typ, name, p.edm, p.text)
				}
			}
		}
		check("")
		switch v.Elem().Kind() {
		case reflect.Map:
			v.Elem().SetMapIndex(reflect.ValueOf("Name"), reflect.ValueOf("changed"))
		default:
			name := v.Elem().FieldByName("Name")
			if !name.IsValid() {
				return
			}
			name.SetString("changed")
		}
		check("Name")
	})
}
